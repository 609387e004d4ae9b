"""The commands of `fairest` that connect to a server: play, create, quick, join, watch, tv, bot and house."""

import asyncio
import sys
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from fairest_cli.bots.house import House, keep_house
from fairest_cli.bots.levels import DEFAULT_LEVEL, PROFILES, Level
from fairest_cli.bots.offering import RIVAL_AFTER_SECONDS, offer_at_home
from fairest_cli.bots.thinking import ThinkingFailed
from fairest_cli.commands.offline import replay_record
from fairest_cli.commands.options import (
    Code,
    Json,
    Name,
    Piles,
    Plain,
    Redeals,
    RulesName,
    Server,
    fail,
    is_full_screen,
)
from fairest_cli.exit_codes import BROKEN_SEAL, INTERRUPTED
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.files import records_folder
from fairest_cli.records.receipts import receipts_folder
from fairest_cli.session.identity import IdentityInUse
from fairest_cli.session.local_server import ServerNotStarted
from fairest_cli.session.record_source import is_match_id
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.websocket import EntryRequest, Rejected
from fairest_cli.text.narration import as_json_lines, describe_broken_seal, describe_update
from fairest_cli.text.run import let_bot_play, race, race_house_bot, watch_room
from fairest_cli.text.tv import watch_tv
from fairest_protocol.calculation.certified import PROCEDURE
from fairest_protocol.calculation.distance import PROCEDURE as CREDIT_PROCEDURE
from fairest_protocol.calculation.rules import BadRules
from fairest_protocol.messages.from_client import Create, Join, Queue, Watch
from fairest_protocol.messages.options import RoomOptions, Spectators

if TYPE_CHECKING:
    from fairest_cli.tui.launch import Start


app = typer.Typer()

LEVEL_HELP = "; ".join(f"{level} {profile.character}" for level, profile in PROFILES.items())
LevelOption = Annotated[Level, typer.Option(help=f"How well the bot plays: {LEVEL_HELP}.")]


@app.command()
def play(
    level: Annotated[
        Level | None, typer.Option(help="How well the bot plays; without it, by your last results against bots.")
    ] = None,
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
    plain: Plain = False,
) -> None:
    """Race a bot on this machine; no other server is needed. Without a terminal, two bots race."""
    is_person = sys.stdin.isatty() and sys.stdout.isatty()
    countdown = None if is_person else 0
    options = _room_options(rules=rules, piles=piles, redeals=redeals, countdown_seconds=countdown)
    level = level or _offered_level(is_person=is_person, is_in_lines=not is_full_screen(plain=plain))
    if is_full_screen(plain=plain):
        from fairest_cli.tui.launch import AgainstBot

        _run_full_screen(AgainstBot(level, options))
        return
    _run(race_house_bot(level, options, is_person=is_person))


@app.command()
def create(
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    as_json: Json = False,
    plain: Plain = False,
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
    best_of: Annotated[int | None, typer.Option(help="Rounds of the match: 1, 3, 5, 7 or 9.")] = None,
    limit: Annotated[int | None, typer.Option(help="Seconds for a round.")] = None,
    chase: Annotated[int | None, typer.Option(help="Seconds left once the other player has stopped.")] = None,
    grace: Annotated[int | None, typer.Option(help="Seconds that a seat waits for a disconnected player.")] = None,
    ready: Annotated[int | None, typer.Option(help="Seconds to get ready.")] = None,
    countdown: Annotated[int | None, typer.Option(help="Seconds from the deal to the start.")] = None,
    direct_breaks_ties: Annotated[
        bool,
        typer.Option("--direct-breaks-ties", help="Break a tie by the cards played straight from the stock."),
    ] = False,
    certified: Annotated[
        bool, typer.Option("--certified", help="Deal only what is proved winnable; docs/fairness.md says how.")
    ] = False,
    credit: Annotated[
        bool,
        typer.Option(
            "--credit/--no-credit", help="Give each player the time back that distance to the server costs, or do not."
        ),
    ] = True,
    listed: Annotated[bool, typer.Option("--listed", help="List the room in the lobby, for anybody to join.")] = False,
    rival: Annotated[
        int | None,
        typer.Option(min=0, max=600, help="List the room, and let a program take the seat after these seconds alone."),
    ] = None,
    rival_level: Annotated[
        Level | None, typer.Option(help="The level of that program; without it, by your last results against bots.")
    ] = None,
    spectators: Annotated[
        Spectators,
        typer.Option(help="horizon: they see what both players have seen; open: everything; closed: nobody."),
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
        listed=listed or rival is not None,
        certified=PROCEDURE if certified else None,
        credit=CREDIT_PROCEDURE if credit else None,
    )
    if rival is not None and rival_level is None:
        is_in_lines = not as_json and not is_full_screen(plain=plain, as_json=as_json)
        rival_level = _offered_level(is_person=True, is_in_lines=is_in_lines)
    wish = Create(options=options, rival_after_seconds=rival, rival_level=rival_level)
    _enter(wish, server, name, as_json=as_json, plain=plain)


@app.command()
def quick(
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    as_json: Json = False,
    plain: Plain = False,
    rules: RulesName = "classic",
    rival: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=600,
            help=f"Race a program if nobody has come after these seconds; {RIVAL_AFTER_SECONDS} without this option.",
        ),
    ] = None,
    rival_level: Annotated[Level | None, typer.Option(help="The level of that program.")] = None,
    no_rival: Annotated[
        bool, typer.Option("--no-rival", help="Race no program: wait for a person, however long.")
    ] = False,
) -> None:
    """Race anybody who wants to race as well: wait in the queue until the server has found an opponent."""
    _room_options(rules=rules)
    if no_rival and (rival is not None or rival_level is not None):
        raise typer.BadParameter("--no-rival means that no program is raced; leave out --rival and --rival-level")
    seconds = None if no_rival else RIVAL_AFTER_SECONDS if rival is None else rival
    request = Queue(rules=rules, rival_after_seconds=seconds, rival_level=rival_level)
    _enter(request, server, name, as_json=as_json, plain=plain)


@app.command()
def join(
    code: Code, server: Server = DEFAULT_SERVER, name: Name = None, as_json: Json = False, plain: Plain = False
) -> None:
    """Take the free seat of a room, or come back to your seat in it."""
    _enter(_with_code(Join, code), server, name, as_json=as_json, plain=plain)


@app.command()
def watch(code: Code, server: Server = DEFAULT_SERVER, as_json: Json = False, plain: Plain = False) -> None:
    """Watch a room as a spectator; with the id of a match that is over, its record."""
    if is_match_id(code):
        replay_record(code, server, plain=plain)
        return
    _enter(_with_code(Watch, code), server, None, as_json=as_json, plain=plain)


@app.command()
def tv(server: Server = DEFAULT_SERVER, as_json: Json = False, plain: Plain = False) -> None:
    """Watch the best match of a server, then the next one. Ctrl-C ends it."""
    if is_full_screen(plain=plain, as_json=as_json):
        from fairest_cli.tui.launch import OnTv

        _run_full_screen(OnTv(server))
        return
    print_note = partial(print, file=sys.stderr if as_json else sys.stdout, flush=True)
    print_line = partial(print, flush=True)
    try:
        _run(watch_tv(server, as_json_lines if as_json else describe_update, print_line, print_note))
    except PageUnreadable as reason:
        fail(str(reason))


@app.command()
def bot(
    code: Code,
    level: LevelOption = DEFAULT_LEVEL,
    server: Server = DEFAULT_SERVER,
    pace: Annotated[
        float | None,
        typer.Option(
            min=0, help="Mean number of seconds that the bot takes for a move; without it, that of its level."
        ),
    ] = None,
) -> None:
    """Let a bot take the free seat of a room."""
    _run(let_bot_play(server, _with_code(Join, code), level, pace))


@app.command()
def house(
    server: Server = DEFAULT_SERVER,
    levels: Annotated[str, typer.Option(help="The levels to offer, joined by commas.")] = "learner,club,strong",
    wait_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds that every room waits for a person at least, whatever it asks for.")
    ] = 0.0,
    most_rooms: Annotated[int, typer.Option("--rooms", min=1, max=64, help="Rooms raced in at the same time.")] = 8,
) -> None:
    """Keep rivals ready for players whose listed rooms ask for one. Ctrl-C ends it."""
    try:
        offered = tuple(Level(level.strip()) for level in levels.split(","))
    except ValueError as reason:
        raise typer.BadParameter(f"--levels: {reason}; choose from {', '.join(Level)}") from reason
    _run(keep_house(server, House(offered, wait_seconds, most_rooms), print_line=lambda line: print(line, flush=True)))


def _offered_level(*, is_person: bool, is_in_lines: bool) -> Level:
    """Return the level that the player's last results suggest; say so on standard error to a person in lines."""
    offer = offer_at_home(records_folder())
    if is_person and is_in_lines:
        print(f"The bot's level is {offer.level}, {offer.reason}.", file=sys.stderr)
    return offer.level


def _room_options(**given: object) -> RoomOptions:
    """Return the options of a room, where None stands for the default.

    Raises `typer.BadParameter` that names the flag of the command line.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        options = RoomOptions.model_validate(chosen)
        options.resolved()
    except ValidationError as reason:
        wrong = reason.errors()[0]
        flag = str(wrong["loc"][0]).removesuffix("_seconds").replace("_", "-")
        limits = RoomOptions.model_fields[str(wrong["loc"][0])].metadata
        allowed = f"is {limits[0].ge} to {limits[1].le}" if limits else wrong["msg"].removeprefix("Input ")
        raise typer.BadParameter(f"--{flag} {allowed}, not {wrong['input']}") from reason
    except BadRules as reason:
        raise typer.BadParameter(str(reason)) from reason
    return options


def _enter(entry_request: EntryRequest, server: str, name: str | None, *, as_json: bool, plain: bool) -> None:
    """Enter a room, on the full screen where there is one, else in lines."""
    if is_full_screen(plain=plain, as_json=as_json):
        from fairest_cli.tui.launch import InRoom

        _run_full_screen(InRoom(entry_request, server, name))
    elif isinstance(entry_request, Watch):
        _run(watch_room(server, entry_request, as_json))
    else:
        _run(race(server, name, entry_request, as_json))


def _run_full_screen(start: "Start") -> None:
    from fairest_cli.tui.app import run_full_screen

    run_full_screen(start)


def _with_code(kind: type[Join] | type[Watch], code: str) -> Join | Watch:
    try:
        return kind(room=code.strip().lower())
    except ValueError as reason:
        raise typer.BadParameter(f"{code!r} is not a room code; one looks like quiet-amber-otter") from reason


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.run(work)
    except (Rejected, ServerNotStarted, IdentityInUse, ThinkingFailed) as reason:
        fail(str(reason))
    except Cheated as reason:
        print("\n".join(describe_broken_seal(reason, receipts_folder())), file=sys.stderr)
        raise SystemExit(BROKEN_SEAL) from None
    except KeyboardInterrupt:
        # Ctrl-C ends the client; the seat waits for the player.
        raise SystemExit(INTERRUPTED) from None
