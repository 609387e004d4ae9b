"""The commands `fairest leaderboard` and `fairest player`: the ratings of a server."""

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

import typer

from fairest_cli.commands.options import Json, RulesName, Server, chosen_rules, fail
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.session.addresses import name_problem
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.ratings import (
    describe_leaderboard,
    describe_player,
    fetch_leaderboard,
    fetch_player,
)
from fairest_cli.untrusted_text import as_json_line
from fairest_protocol.messages.fields import Message

app = typer.Typer()
M = TypeVar("M", bound=Message)


def _checked_name(name: str | None) -> str | None:
    """Return the name of a player. Raises `typer.BadParameter` for a text that is not one."""
    problem = name_problem(name) if name is not None else None
    if problem:
        raise typer.BadParameter(problem)
    return name


PlayerName = Annotated[str, typer.Argument(metavar="NAME", help="The player's name.", callback=_checked_name)]
Against = Annotated[
    str | None, typer.Option(metavar="NAME", help="Another player: the score of the two.", callback=_checked_name)
]


@app.command()
def leaderboard(
    variant: RulesName = "classic",
    server: Server = DEFAULT_SERVER,
    page: Annotated[int, typer.Option(min=0, max=999_999, help="The page, counted from 0.")] = 0,
    as_json: Json = False,
) -> None:
    """List the players of a server by their rating in a variant."""
    rules = chosen_rules(variant, None, None).name
    _print(lambda: fetch_leaderboard(server, rules, page), describe_leaderboard, as_json=as_json)


@app.command()
def player(name: PlayerName, against: Against = None, server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """Show what a player of a server has reached: its rating in each variant, streaks, best times, near misses."""
    _print(lambda: fetch_player(server, name, against), describe_player, as_json=as_json)


def _print(fetch: Callable[[], M], describe: Callable[[M], Iterable[str]], *, as_json: bool) -> None:
    try:
        found = fetch()
    except PageUnreadable as reason:
        fail(str(reason))
    for line in [as_json_line(found)] if as_json else describe(found):
        print(line)
