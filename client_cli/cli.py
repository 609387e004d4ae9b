"""The command `fairest`."""

import asyncio
import re
import secrets
import shlex
import sys
from collections.abc import Coroutine, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn
from urllib.parse import urlsplit

import typer
from pydantic import ValidationError

from client_cli import reference
from client_cli import replay as replaying
from client_cli.bots import POLICIES
from client_cli.connection import Rejected
from client_cli.house import NoServer
from client_cli.identity import IdentityInUse
from client_cli.practice import HELP, answer, draw_practice, start_practice
from client_cli.receipts import receipts_folder
from client_cli.records import load_record
from client_cli.sessions import let_bot_play, race, race_at_home, watch_room
from client_cli.witness import Cheated
from protocol.calculation.record import BadRecord, Record
from protocol.calculation.rules import VARIANTS, BadRules, Rules, choose_rules, find_variant
from protocol.messages.from_client import Create, Join, Watch
from protocol.messages.options import RoomOptions, Spectators

DEFAULT_SERVER: Final = "ws://127.0.0.1:8765"
BROKEN_SEAL: Final = 3
"""Exit code when a server, or a record, is caught cheating."""
QUIT: Final = ("quit", "q", "leave")


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
VariantName = Annotated[str, typer.Argument(help=f"The variant: {', '.join(VARIANTS)}.")]
Seed = Annotated[str | None, typer.Option(help="A seed: 64 hexadecimal digits, or any text.")]
LevelOption = Annotated[Level, typer.Option(help="How strong the bot is.")]


@app.command()
def play(
    level: LevelOption = Level.GREEDY,
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
) -> None:
    """Race a house bot on this machine, on a server of our own. Without a terminal, two bots race."""
    is_person = sys.stdin.isatty() and sys.stdout.isatty()
    countdown = None if is_person else 0
    options = _room_options(rules=rules, piles=piles, redeals=redeals, countdown_seconds=countdown)
    _run(race_at_home(POLICIES[level], options, is_person=is_person))


@app.command()
def practice(
    variant: VariantName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
    seed: Seed = None,
    open_stock: Annotated[bool, typer.Option("--open-stock", help="Show the cards still to come.")] = False,
) -> None:
    """Play alone, offline: moves can be taken back, the stock looked into, a deal played again."""
    game = start_practice(_chosen_rules(variant, piles, redeals), seed or _draw_seed(), shows_stock=open_stock)
    print(HELP)
    print("\n".join(draw_practice(game)))
    for line in _typed_lines():
        if line.strip().lower() in QUIT:
            break
        game, lines = answer(game, line, _draw_seed)
        print("\n".join(lines))
    chosen = f"{game.rules.name} --piles {game.rules.piles} --redeals {game.rules.redeals}"
    print(f"This deal again: fairest practice {chosen} --seed {shlex.quote(game.seed)}")


@app.command()
def create(
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    as_json: Json = False,
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
    best_of: Annotated[int | None, typer.Option(help="Rounds of the match: 1, 3, 5, 7 or 9.")] = None,
    limit: Annotated[int | None, typer.Option(help="Seconds for a round.")] = None,
    chase: Annotated[int | None, typer.Option(help="Seconds that are left once the other has stopped.")] = None,
    grace: Annotated[int | None, typer.Option(help="Seconds that a seat waits for a lost player.")] = None,
    ready: Annotated[int | None, typer.Option(help="Seconds to get ready.")] = None,
    countdown: Annotated[int | None, typer.Option(help="Seconds from the deal to the start.")] = None,
    direct_breaks_ties: Annotated[
        bool, typer.Option("--direct-breaks-ties", help="Equal counts go to more cards played straight from the stock.")
    ] = False,
    spectators: Annotated[
        Spectators, typer.Option(help="horizon: they see what both have passed; open: everything; closed: nobody.")
    ] = Spectators.HORIZON,
) -> None:
    """Open a room, take a seat, and wait for the other player."""
    options = _room_options(
        rules=rules,
        piles=piles,
        redeals=redeals,
        best_of=best_of,
        limit_seconds=limit,
        chase_seconds=chase,
        grace_seconds=grace,
        ready_seconds=ready,
        countdown_seconds=countdown,
        direct_breaks_ties=direct_breaks_ties,
        spectators=spectators,
    )
    _run(race(server, name, Create(options=options), as_json))


@app.command()
def join(code: Code, server: Server = DEFAULT_SERVER, name: Name = None, as_json: Json = False) -> None:
    """Take the free seat of a room, or come back to your seat in it."""
    _run(race(server, name, _errand(Join, code), as_json))


@app.command()
def watch(code: Code, server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """Watch a room as a spectator."""
    _run(watch_room(server, _errand(Watch, code), as_json))


@app.command()
def bot(
    code: Code,
    level: LevelOption = Level.GREEDY,
    server: Server = DEFAULT_SERVER,
    pace: Annotated[float, typer.Option(min=0, help="Seconds that it thinks about a move, on average.")] = 0.0,
) -> None:
    """Let a bot take the free seat of a room."""
    _run(let_bot_play(server, _errand(Join, code), POLICIES[level], pace))


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
    seed: Seed = None,
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


def _room_options(**given: object) -> RoomOptions:
    """Options for a room; None is left to its default. What is wrong is said in the words of the command line."""
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        options = RoomOptions.model_validate(chosen)
        options.chosen_rules()
    except ValidationError as reason:
        wrong = reason.errors()[0]
        flag = str(wrong["loc"][0]).removesuffix("_seconds").replace("_", "-")
        raise typer.BadParameter(f"--{flag} {wrong['msg'].removeprefix('Input ')}, not {wrong['input']}") from reason
    except BadRules as reason:
        raise typer.BadParameter(str(reason)) from reason
    return options


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


def _typed_lines() -> Iterator[str]:
    """What is typed, line by line, until it ends; only a terminal is asked for more."""
    prompt = "> " if sys.stdin.isatty() and sys.stdout.isatty() else ""
    while True:
        try:
            yield input(prompt)
        except EOFError:
            return


def _draw_seed() -> str:
    return secrets.token_hex(4)


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
    except Cheated as reason:
        _raise_alarm(reason)
    except KeyboardInterrupt:
        # Ctrl-C leaves the terminal, not the seat.
        raise SystemExit(130) from None


def _raise_alarm(reason: Cheated) -> NoReturn:
    print(f"fairest: THE SEAL IS BROKEN. {reason}", file=sys.stderr)
    print("Stop playing on this server, and keep your receipt: it shows what the server said.", file=sys.stderr)
    print(f"Receipts are in {receipts_folder()}", file=sys.stderr)
    raise SystemExit(BROKEN_SEAL)


def _fail(sentence: str) -> NoReturn:
    print(f"fairest: {sentence}", file=sys.stderr)
    raise SystemExit(1)
