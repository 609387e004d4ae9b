"""The command `fairest`."""

import asyncio
import random
import re
import sys
from collections.abc import Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn
from urllib.parse import urlsplit

import typer

from client_cli import reference
from client_cli import replay as replaying
from client_cli.bot_player import play_match
from client_cli.bots import POLICIES
from client_cli.connection import Connection, Errand, Rejected, Update
from client_cli.drawing import draw_result
from client_cli.house import NoServer, own_server
from client_cli.identity import Identity, IdentityInUse, open_identity
from client_cli.model import Model
from client_cli.plain import draw, tell, tell_json, tell_news
from client_cli.player import Player
from client_cli.records import load_record, save_record
from protocol.calculation.record import BadRecord, Record, read_record
from protocol.calculation.rules import VARIANTS, BadRules, Rules, choose_rules, find_variant
from protocol.messages.from_client import Create, Join, Watch
from protocol.messages.options import RoomOptions

DEFAULT_SERVER: Final = "ws://127.0.0.1:8765"
ATTEMPTS: Final = 3
"""How often a server that never answered is tried."""
HOUSE_PACE_SECONDS: Final = 2.0
"""A house bot thinks about as long as a person does."""


class Level(StrEnum):
    """The house bots, by strength; each is a policy of `bots.POLICIES`."""

    RANDOM = "random"
    GREEDY = "greedy"


app = typer.Typer(
    help="Race the solitaire Calculation: two players, the same sealed deal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _check_server(url: str) -> str:
    address = urlsplit(url)
    if address.scheme not in ("ws", "wss") or not address.hostname:
        raise typer.BadParameter(f"a server's address looks like {DEFAULT_SERVER}, not {url!r}")
    return url


def _check_name(name: str | None) -> str | None:
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]{2,20}", name):
        raise typer.BadParameter("a name has 2 to 20 letters, digits, - or _")
    return name


Server = Annotated[str, typer.Option(envvar="FAIREST_SERVER", help="Address of the server.", callback=_check_server)]
Name = Annotated[
    str | None,
    typer.Option(
        help="Your name: 2 to 20 letters, digits, - or _. It also says which of your players on this machine plays.",
        callback=_check_name,
    ),
]
RulesName = Annotated[str, typer.Option(help=f"The variant: {', '.join(VARIANTS)}.")]
Piles = Annotated[int | None, typer.Option(help="Waste piles, 1 to 8, where the variant leaves a choice.")]
Redeals = Annotated[int | None, typer.Option(help="Redeals, 0 to 2, where the variant leaves a choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print each of the server's messages as one line.")]
Code = Annotated[str, typer.Argument(help="The room's code, as its creator sees it.")]
LevelOption = Annotated[Level, typer.Option(help="How strong the bot is.")]


@app.command()
def play(level: LevelOption = Level.GREEDY) -> None:
    """Race a house bot on this machine, on a server of our own. Without a terminal, two bots race."""
    _run(_play(level, sys.stdin.isatty() and sys.stdout.isatty()))


@app.command()
def create(
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    as_json: Json = False,
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
    best_of: Annotated[int, typer.Option(help="Rounds of the match: 1, 3, 5, 7 or 9.")] = 1,
) -> None:
    """Open a room, take a seat, and wait for the other player."""
    try:
        options = RoomOptions.model_validate({"rules": rules, "piles": piles, "redeals": redeals, "best_of": best_of})
        options.chosen_rules()
    except BadRules as reason:
        raise typer.BadParameter(str(reason)) from reason
    except ValueError as reason:
        raise typer.BadParameter("--best-of is 1, 3, 5, 7 or 9") from reason
    _run(_race(server, name, Create(options=options), as_json))


@app.command()
def join(code: Code, server: Server = DEFAULT_SERVER, name: Name = None, as_json: Json = False) -> None:
    """Take the free seat of a room, or come back to your seat in it."""
    _run(_race(server, name, _errand(Join, code), as_json))


@app.command()
def watch(code: Code, server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """Watch a room as a spectator."""
    _run(_watch(server, _errand(Watch, code), as_json))


@app.command()
def bot(
    code: Code,
    level: LevelOption = Level.GREEDY,
    server: Server = DEFAULT_SERVER,
    pace: Annotated[float, typer.Option(min=0, help="Seconds that it thinks about a move, on average.")] = 0.0,
) -> None:
    """Let a bot take the free seat of a room."""
    _run(_bot(server, _errand(Join, code), level, pace))


@app.command()
def replay(file: Annotated[Path, typer.Argument(help="The record of a match.")]) -> None:
    """Step through the record of a match; without a terminal, print every step."""
    try:
        record = load_record(file)
        steps = replaying.all_steps(record)
    except OSError as reason:
        _fail(f"cannot read {file}: {reason.strerror}")
    except BadRecord as reason:
        _fail(f"{file} is no sound record: {reason}")
    print("\n".join(replaying.draw_heading(record)))
    if sys.stdin.isatty() and sys.stdout.isatty():
        _step_through(record, steps)
    else:
        for number in range(len(steps)):
            print("\n".join(replaying.draw_step(record, steps, number)))


@app.command()
def rules(
    variant: Annotated[str | None, typer.Argument(help="The variant; without one, all are listed.")] = None,
    piles: Piles = None,
    redeals: Redeals = None,
    seed: Annotated[str | None, typer.Option(help="A seed, for sequences that only the deal decides.")] = None,
) -> None:
    """List the variants, or print one with its sequences."""
    if variant is None:
        print("\n".join(reference.list_variants()))
        return
    chosen = _chosen_rules(variant, piles, redeals)
    given = None if seed is None else reference.read_seed(seed)
    print("\n".join(reference.describe_variant(find_variant(variant), chosen, given)))


@app.command()
def deal(
    seed: Annotated[str, typer.Argument(help="64 hexadecimal digits, or any text.")],
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
) -> None:
    """Print the starters and the stock of a seed, to check a deal or to lay it out with real cards."""
    print("\n".join(reference.describe_deal(_chosen_rules(rules, piles, redeals), reference.read_seed(seed))))


def _chosen_rules(name: str, piles: int | None, redeals: int | None) -> Rules:
    try:
        return choose_rules(name, piles, redeals)
    except BadRules as reason:
        raise typer.BadParameter(str(reason)) from reason


def _step_through(record: Record, steps: list[replaying.Step]) -> None:
    print(replaying.HELP)
    place: int | None = 0
    while place is not None and steps:
        print("\n".join(replaying.draw_step(record, steps, place)))
        try:
            place = replaying.next_place(input("> "), place, len(steps) - 1)
        except ValueError:
            print(replaying.HELP)
        except EOFError:
            return


def main() -> None:
    """The console script `fairest`."""
    app()


def _errand(kind: type[Join] | type[Watch], code: str) -> Join | Watch:
    try:
        return kind(room=code.strip().lower())
    except ValueError as reason:
        raise typer.BadParameter(f"{code!r} is no room code; it looks like quiet-amber-otter") from reason


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.run(work)
    except (Rejected, NoServer, IdentityInUse) as reason:
        _fail(str(reason))
    except KeyboardInterrupt:
        # Ctrl-C leaves the terminal, not the seat.
        raise SystemExit(130) from None


def _fail(sentence: str) -> NoReturn:
    print(f"fairest: {sentence}", file=sys.stderr)
    raise SystemExit(1)


async def _race(server: str, name: str | None, errand: Errand, as_json: bool) -> None:
    with open_identity(server, name) as identity:
        await _sit(Connection(server, identity, errand, name=name, gives_up_after=ATTEMPTS), as_json)


async def _watch(server: str, errand: Errand, as_json: bool) -> None:
    await _sit(Connection(server, Identity(), errand, gives_up_after=ATTEMPTS), as_json)


async def _sit(connection: Connection, as_json: bool) -> None:
    notes = sys.stderr if as_json else sys.stdout
    player = Player(
        connection,
        tell=tell_json if as_json else tell,
        write=lambda line: print(line, flush=True),
        note=lambda line: print(line, file=notes, flush=True),
        is_person=sys.stdin.isatty(),
    )
    await player.run()


async def _bot(server: str, errand: Errand, level: Level, pace_seconds: float) -> None:
    connection = Connection(server, Identity(), errand, gives_up_after=ATTEMPTS)
    record = await play_match(connection, POLICIES[level], random.Random(), pace_seconds)
    if record is not None:
        played = read_record(record.lines)
        for number, finished in enumerate(played.rounds, 1):
            if finished.outcome is not None:
                print(f"Round {number}:")
                print("\n".join(draw_result(finished.outcome, played.names)))


async def _play(level: Level, is_person: bool) -> None:
    """The house bot opens the room; then a person, or another bot, comes in."""
    async with own_server() as url:
        options = RoomOptions(countdown_seconds=3 if is_person else 0)
        house = Connection(url, Identity(), Create(options=options), name="house", gives_up_after=ATTEMPTS)
        pace_seconds = HOUSE_PACE_SECONDS if is_person else 0
        hosting = asyncio.create_task(
            play_match(house, POLICIES[level], random.Random(), pace_seconds, rematches=is_person)
        )
        try:
            guest_errand = Join(room=await house.entered())
            name = "you" if is_person else "guest"
            guest = Connection(url, Identity(), guest_errand, name=name, gives_up_after=ATTEMPTS)
            if is_person:
                await _sit(guest, as_json=False)
            else:
                await _race_bots(guest, level)
        finally:
            hosting.cancel()
            await asyncio.gather(hosting, return_exceptions=True)


async def _race_bots(guest: Connection, level: Level) -> None:
    def show(before: Model, update: Update) -> None:
        for line in tell_news(before, update):
            print(line)

    record = await play_match(guest, POLICIES[level], random.Random(), 0, show=show)
    print("\n".join(draw(guest.model)))
    if record is not None:
        print(f"The record is at {save_record(record)}")
