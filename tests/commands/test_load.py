"""`fairest-server load`: its options, its exit codes, and its ends by a signal or with the server."""

import asyncio
import json
import os
import re
import signal
import urllib.request
from asyncio.subprocess import PIPE

import pytest
from typer.testing import CliRunner

from fairest_server.commands.main import operator
from tests.support.ports import free_port
from tests.support.processes import SERVER_COMMAND, Fleet, end_process
from tests.support.waiting import until

WIDE = {"COLUMNS": "200", "TERMINAL_WIDTH": "200", "NO_COLOR": "1", "TERM": "dumb"}


async def start_load(*options: str) -> asyncio.subprocess.Process:
    command = (*SERVER_COMMAND, "load", *options)
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE, env={**os.environ, **WIDE})


def count_metric(port: int, name: str) -> float:
    """Return a metric of the server with this admin port; 0 if it does not exist yet."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        found = re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found[1]) if found else 0.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--server", "http://127.0.0.1:8765"), "ws://127.0.0.1:8765"),
        (("--server", "ws://192.0.2.1:8765"), "--i-run-this-server"),
        (("--server", "ws://no-such-host.invalid"), "--i-run-this-server"),
        (("--rooms", "0"), "--rooms"),
        (("--rooms", "9000", "--spectators", "1"), "27000 connections"),
        (("--seconds", "3601"), "--seconds"),
        (("--seconds", "nan"), "--seconds"),
        (("--pace", "-1"), "--pace"),
        (("--pace", "nan"), "--pace"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_opened(options: tuple[str, ...], sentence: str) -> None:
    result = CliRunner().invoke(operator, ["load", *options], env=WIDE)
    assert result.exit_code == 2 and sentence in result.output.replace("\n", " "), result.output


def test_a_load_with_trouble_ends_with_exit_code_1() -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    result = CliRunner().invoke(operator, ["load", "--server", url, "--rooms", "1", "--seconds", "1"], env=WIDE)
    assert result.exit_code == 1 and "Connection refused" in result.output


@pytest.mark.long
async def test_a_load_on_workers_without_trouble_ends_with_exit_code_0(fleet: Fleet) -> None:
    url = await fleet.start("--workers", "2")
    process = await start_load("--server", url, "--rooms", "2", "--pace", "0.1", "--seconds", "2")
    written, errors = await process.communicate()
    assert process.returncode == 0, (written + errors).decode()


@pytest.mark.long
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
async def test_a_load_ended_by_a_signal_reports_what_it_has_so_far(fleet: Fleet, signal_number: signal.Signals) -> None:
    admin = free_port()
    url = await fleet.start("--admin-port", str(admin))
    process = await start_load("--server", url, "--rooms", "1", "--pace", "0.1", "--seconds", "600", "--json")

    async def has_moved() -> bool:
        return count_metric(admin, 'fairest_messages_total{type="play"}') > 0

    try:
        await until(has_moved, "a player has moved")
        process.send_signal(signal_number)
        written, _ = await process.communicate()
        assert json.loads(written)["moves"]["answered"] > 0
    finally:
        await end_process(process)


@pytest.mark.long
async def test_clients_come_back_and_race_on_when_a_killed_server_is_started_again(fleet: Fleet) -> None:
    admin = free_port()
    url = await fleet.start("--admin-port", str(admin))
    process = await start_load("--server", url, "--rooms", "2", "--pace", "0.1", "--seconds", "600", "--json")

    async def have_moved() -> bool:
        return count_metric(admin, 'fairest_messages_total{type="play"}') > 4

    async def are_back() -> bool:
        return count_metric(admin, 'fairest_messages_total{type="resume"}') == 4 and await have_moved()

    try:
        await until(have_moved, "players have moved")
        await fleet.kill(url)
        await fleet.start("--admin-port", str(admin), port=int(url.rpartition(":")[2]))
        await until(are_back, "all players are back and move")
        process.send_signal(signal.SIGINT)
        report = json.loads((await process.communicate())[0])
    finally:
        await end_process(process)
    assert (report["disconnects"], report["reconnects"], report["moves"]["unanswered"]) == ({"1006": 4}, 4, 0)
