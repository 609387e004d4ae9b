"""The commands `fairest identity export`, `import` and `renew`: a player moves, and gets rid of a stolen token."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from fairest_cli.commands.options import Name, Server, fail
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.identity_transfer import NotMoved, export_player, import_player
from fairest_cli.session.recognition import recognise
from fairest_cli.session.renewal import NotRenewed, renew_token
from fairest_cli.untrusted_text import clean

app = typer.Typer()
identity = typer.Typer(help="Take your player to another machine, or renew its token.", no_args_is_help=True)
app.add_typer(identity, name="identity")

PlayerFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the player.")]


@identity.command("export")
def export_identity(file: PlayerFile, server: Server = DEFAULT_SERVER, name: Name = None) -> None:
    """Write your player at a server to a file. Everybody who has the file plays as you: give it to nobody."""
    try:
        export_player(server, name, file)
    except (NotMoved, IdentityInUse) as reason:
        fail(str(reason))
    except (OSError, ValueError) as reason:
        fail(f"cannot export your player: {reason}")
    print(f"{clean(str(file))} is your player at {server}. On the other machine: fairest identity import FILE")
    print("Whoever has this file plays as you: carry it over a safe way, and delete it afterwards.")


@identity.command("import")
def import_identity(
    file: PlayerFile,
    replaces: Annotated[
        bool, typer.Option("--replace", help="Take the place of the player that is there; it is lost.")
    ] = False,
) -> None:
    """Let the player of a file be yours on this machine, with its seats, its ratings and its name."""
    try:
        moved = import_player(file, lambda server, player: asyncio.run(recognise(server, player)), replaces=replaces)
    except (NotMoved, IdentityInUse) as reason:
        fail(str(reason))
    except (OSError, ValueError) as reason:
        fail(f"cannot import the player: {reason}")
    option = f" --name {moved.name}" if moved.name else ""
    print(f"Your player at {moved.server} is on this machine now: fairest --server {moved.server}{option}")
    known = moved.recognised
    if known.name is None:
        print(f"It is not verified that the server knows this player: {clean(known.problem)}")
        return
    print(f"The server knows this player as {clean(known.name)}.")
    if known.problem:
        print(clean(known.problem))


@identity.command("renew")
def renew_identity(server: Server = DEFAULT_SERVER, name: Name = None) -> None:
    """Take a new token, and make the old one worthless, if somebody else may know it."""
    try:
        with open_identity(server, name) as player:
            own_name = asyncio.run(renew_token(server, player))
    except (NotRenewed, IdentityInUse) as reason:
        fail(f"cannot renew the token: {reason}")
    except (OSError, ValueError) as reason:
        fail(f"cannot read your player: {reason}")
    print(f"{clean(own_name)} has a new token at {server}. The old one opens nothing any more, and within some seconds")
    print("everybody who plays with it is cut off. Files that were exported before hold the old token: export again.")
