"""`fairest-server load`: load a deployment of one's own, and report how it bears that."""

import asyncio
import json
import random
import socket
import sys
from ipaddress import ip_address
from typing import Annotated, Final

import typer

from fairest_server.load.generator import Generator, Plan
from fairest_server.load.report import Report
from fairest_server.load.websocket_client import parse_target
from fairest_server.ops.file_limits import raise_open_file_limit
from fairest_server.ops.system import on_signals

MAX_SECONDS: Final = 3_600.0
MAX_CONNECTIONS: Final = 20_000


def add_to(operator: typer.Typer) -> None:
    """Add this command to those of the operator."""
    operator.command("load")(load)


def load(
    server: Annotated[
        str, typer.Option(envvar="FAIREST_SERVER", show_envvar=False, help="The server, as ws:// or wss://.")
    ] = "ws://127.0.0.1:8765",
    rooms: Annotated[int, typer.Option(min=1, help="Rooms, each with two players who race again and again.")] = 20,
    pace: Annotated[
        float, typer.Option(min=0.0, max=600.0, help="Longest pause between two moves of a player; 0 for none.")
    ] = 2.0,
    seconds: Annotated[float, typer.Option(min=1.0, max=MAX_SECONDS, help="Duration of the load.")] = 90.0,
    spectators: Annotated[int, typer.Option(min=0, help="Spectators of each room.")] = 0,
    i_run_this_server: Annotated[
        bool, typer.Option("--i-run-this-server", help="Confirm that a server on another machine is yours.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Let many players race on a server of your own, and report how fast it answers and which limit it reaches.

    Ctrl-C ends it early, with the report so far. The exit code is 1 if anything was refused or failed.
    """
    connections = rooms * (2 + spectators)
    try:
        target = parse_target(server)
    except ValueError as reason:
        raise typer.BadParameter(str(reason), param_hint="--server") from None
    if connections > MAX_CONNECTIONS:
        raise typer.BadParameter(
            f"{rooms} rooms with {spectators} spectators each need {connections} connections; "
            f"one load opens {MAX_CONNECTIONS} at most",
            param_hint="--rooms",
        )
    if not i_run_this_server and not _is_this_machine(target.host):
        raise typer.BadParameter(
            f"{target.host} is not this machine; load only a server of your own, and confirm that with "
            "--i-run-this-server",
            param_hint="--server",
        )
    allowed = raise_open_file_limit(connections)
    if allowed < connections:
        raise typer.BadParameter(
            f"{connections} connections need more open files than this system allows (ulimit -Hn): {allowed} are left",
            param_hint="--rooms",
        )
    report = asyncio.run(_run(Plan(server, target, rooms, pace, seconds, spectators)))
    if as_json:
        print(json.dumps(report.as_json()))
    else:
        print("\n".join(report.lines()))
    raise typer.Exit(0 if report.is_clean else 1)


async def _run(plan: Plan) -> Report:
    generator = Generator(plan, random.Random(), lambda line: print(line, file=sys.stderr, flush=True))
    on_signals(generator.stop, "SIGINT", "SIGTERM")
    return await generator.run()


def _is_this_machine(host: str) -> bool:
    """Return whether all addresses of a host are loopback addresses. An unknown host is not this machine."""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return all(ip_address(str(address).partition("%")[0]).is_loopback for address in found)
