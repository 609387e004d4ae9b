"""The commands of `fairest` that look at a server from outside: lobby and doctor."""

import asyncio
from typing import Annotated

import typer

from fairest_cli.commands.options import Json, Plain, Server, fail, is_full_screen
from fairest_cli.exit_codes import FAULT
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.doctor import describe_finding, examine
from fairest_cli.text.lobby import describe_lobby, fetch_lobby
from fairest_cli.untrusted_text import as_json_line

app = typer.Typer()


@app.command()
def lobby(
    server: Server = DEFAULT_SERVER,
    page: Annotated[int, typer.Option(min=0, help="The page, counted from 0.")] = 0,
    as_json: Json = False,
    plain: Plain = False,
) -> None:
    """List the rooms of a server that anybody may join or watch."""
    if is_full_screen(plain=plain, as_json=as_json):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import InLobby

        run_full_screen(InLobby(server))
        return
    try:
        found = fetch_lobby(server, page)
    except PageUnreadable as reason:
        fail(str(reason))
    option = "" if server == DEFAULT_SERVER else f" --server {server}"
    for line in [as_json_line(found)] if as_json else describe_lobby(found, option):
        print(line)


@app.command()
def doctor(server: Server = DEFAULT_SERVER) -> None:
    """Check the terminal, the folders, a server of your own, and a server of others. The exit code is 1 for a fault."""
    if not asyncio.run(_examine(server)):
        raise SystemExit(FAULT)


async def _examine(server: str) -> bool:
    """Print each finding as it is made; return whether none is a fault."""
    is_sound = True
    async for finding in examine(server):
        print(describe_finding(finding), flush=True)
        is_sound = is_sound and not finding.is_fault
    return is_sound
