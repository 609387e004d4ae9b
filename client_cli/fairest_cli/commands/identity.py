"""The commands `fairest identity export` and `fairest identity import`: a player on its way to another machine."""

from pathlib import Path
from typing import Annotated

import typer

from fairest_cli.commands.options import Name, Server, fail
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.session.identity import IdentityInUse
from fairest_cli.session.identity_transfer import NotMoved, export_player, import_player
from fairest_cli.untrusted_text import clean

app = typer.Typer()
identity = typer.Typer(help="Take your player to another machine.", no_args_is_help=True)
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
        moved = import_player(file, replaces=replaces)
    except (NotMoved, IdentityInUse) as reason:
        fail(str(reason))
    except (OSError, ValueError) as reason:
        fail(f"cannot import the player: {reason}")
    option = f" --name {moved.name}" if moved.name else ""
    print(f"Your player at {moved.server} is on this machine now: fairest --server {moved.server}{option}")
