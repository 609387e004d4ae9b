"""The command `fairest-server`: options alone start a server; a word first is a command of the operator."""

import os
import sys

import typer

from fairest_protocol.version import describe_version
from fairest_server.app import serve
from fairest_server.commands import drain, key, load, players, rooms
from fairest_server.commands.archive import archive
from fairest_server.commands.backup import backup, restore
from fairest_server.commands.environment import UnknownVariable, refuse_unknown_variables
from fairest_server.commands.recompute import recompute
from fairest_server.ops.logs import drop_unwritable_output
from fairest_server.ops.private_files import set_private_umask

operator = typer.Typer(pretty_exceptions_enable=False, no_args_is_help=True)


@operator.callback()
def describe() -> None:
    """Look after the servers of a deployment, over their Redis. Without a command, `fairest-server` serves."""


rooms.add_to(operator)
operator.command()(archive)
operator.command()(backup)
operator.command()(restore)
operator.command()(recompute)
key.add_to(operator)
drain.add_to(operator)
load.add_to(operator)
players.add_to(operator)


def main() -> None:
    """Run the console script `fairest-server`."""
    if sys.argv[1:2] == ["--version"]:
        print(describe_version())
        return
    set_private_umask()
    try:
        refuse_unknown_variables(os.environ, operator)
    except UnknownVariable as reason:
        print(f"fairest-server: {reason}", file=sys.stderr)
        raise SystemExit(2) from None
    try:
        if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
            operator(prog_name="fairest-server")
        else:
            serve()
    finally:
        drop_unwritable_output()
