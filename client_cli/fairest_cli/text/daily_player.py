"""An attempt at a daily deal in lines: typed moves go to the server, and its board is printed after each answer."""

import asyncio
from collections.abc import AsyncIterator, Callable

from fairest_cli.model.daily_game import DailyGame, refusal_of
from fairest_cli.model.drand_beacon import describe_drand
from fairest_cli.records.daily_notes import keep_note
from fairest_cli.session.daily_chain import look_up_daily
from fairest_cli.session.daily_connection import DailyConnection
from fairest_cli.session.own_clock import now_ms
from fairest_cli.text.daily import HELP, describe_attempt
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES

QUIT = ("quit", "exit", "q")


async def race_daily(
    connection: DailyConnection, server: str, lines: AsyncIterator[str], print_line: Callable[[str], None]
) -> DailyGame:
    """Race the daily deal by typed lines, until the attempt is over or the player leaves; return it as it stands.

    Raises `Rejected` and `Cheated`. Safe to cancel: the attempt stays on the server.
    """
    game = await connection.begin()
    looking = asyncio.create_task(asyncio.to_thread(look_up_daily, server, game.rules, game.day, game.seal))
    try:
        return await _race(connection, server, lines, print_line, game, looking)
    finally:
        looking.cancel()


async def _race(
    connection: DailyConnection,
    server: str,
    lines: AsyncIterator[str],
    print_line: Callable[[str], None],
    game: DailyGame,
    looking: asyncio.Task[str],
) -> DailyGame:
    for note in filter(None, (clean(connection.problem), _note(server, connection, game))):
        print_line(note)
    if game.seal.drand is not None:
        print_line(describe_drand(game.seal.beacon_number))
    print_line(HELP)
    _show(game, print_line)
    if game.result is not None:
        print_line(await looking)
        return game
    is_told = False
    async for line in lines:
        if looking.done() and not is_told:
            is_told = True
            print_line(looking.result())
        word = line.lower().replace(" ", "")
        if word in QUIT:
            break
        if word in MOVES:
            refused = refusal_of(game, MOVES[word])
            if refused:
                print_line(refused)
                continue
            game = await connection.play(MOVES[word])
            _show(game, print_line)
        elif word in ("", "board"):
            game = await connection.begin()
            _show(game, print_line)
        else:
            print_line(HELP if word in ("help", "?") else f"{clean(line)[:40]!r} is not a move; type help.")
        if game.result is not None:
            problem = _note(server, connection, game)
            if problem:
                print_line(problem)
            break
    if not is_told:
        print_line(await looking)
    return game


def _show(game: DailyGame, print_line: Callable[[str], None]) -> None:
    for line in describe_attempt(game, game.seconds_left(now_ms())):
        print_line(line)


def _note(server: str, connection: DailyConnection, game: DailyGame) -> str:
    """Keep a note of the attempt; return why that was impossible, or nothing."""
    try:
        keep_note(server, connection.name, game)
    except OSError as reason:
        return f"Your attempt could not be noted on this machine: {reason.strerror or reason}."
    return ""
