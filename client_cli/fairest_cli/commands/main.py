"""The command `fairest`: without a command, the home screen; else the commands of `online` and of `offline`."""

import sys
from io import TextIOWrapper

import typer

from fairest_cli.commands import (
    daily,
    identity,
    learning,
    offline,
    online,
    ratings,
    server_audit,
    server_state,
    tournament,
)
from fairest_cli.commands.options import Name, Plain, Server, Version, is_full_screen
from fairest_cli.exit_codes import USAGE
from fairest_cli.model.known_room import DEFAULT_SERVER

app = typer.Typer(pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def home(
    context: typer.Context,
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    plain: Plain = False,
    version: Version = False,  # noqa: ARG001 (its callback has printed it)
) -> None:
    """Race the solitaire Calculation: two players, the same sealed deal.

    Without a command, the home screen opens on a terminal; --server and --name hold for all of its rooms.
    """
    if context.invoked_subcommand is not None:
        return
    if not is_full_screen(plain=plain):
        print(context.get_help())
        raise SystemExit(0 if plain else USAGE)
    from fairest_cli.tui.app import run_full_screen
    from fairest_cli.tui.launch import AtHome

    run_full_screen(AtHome(server, name))


app.add_typer(online.app)
app.add_typer(daily.app)
app.add_typer(tournament.app)
app.add_typer(server_state.app)
app.add_typer(ratings.app)
app.add_typer(identity.app)
app.add_typer(server_audit.app)
app.add_typer(offline.app)
app.add_typer(learning.app)


def main() -> None:
    """Run the console script `fairest`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            # A letter that the terminal lacks must not end the program.
            stream.reconfigure(errors="replace")
    app()
