"""Players of tournaments: careless ones, who lay a few cards and stop."""

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from fairest_cli.session.identity import Identity
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.messages.tournaments import CreateTournament, Tournament, TournamentFormat, TournamentPhase

ENDED = (TournamentPhase.OVER, TournamentPhase.CANCELLED)


def entrant(url: str, name: str, receipts: Path | None = None) -> TournamentConnection:
    """Return a new player's connection, whose identity is kept in memory."""
    return TournamentConnection(url, Identity(), name, receipts)


def careless_move(connection: TournamentConnection, most: int, chance: random.Random) -> Move:
    """Return a move of a player that stops after `most` moves."""
    assert connection.game is not None
    legal = [move for move in connection.game.board.legal_moves() if move is not STOP and move.text != "resign"]
    return STOP if connection.game.own.moves >= most or not legal else chance.choice(legal)


async def play_careless(
    connection: TournamentConnection,
    most: int,
    seed: int,
    until: Callable[[Tournament], bool] = lambda shown: shown.phase in ENDED,
    look_seconds: float = 0.1,
) -> Tournament:
    """Play the rounds of a tournament that was entered, `most` moves each, until it is over or `until` says so."""
    chance, shown = random.Random(seed), await connection.watch()
    while not until(shown):
        if connection.known is not None and connection.known.is_ready_wanted:
            await connection.get_ready()
        if connection.is_race_due:
            game = await connection.race()
            while game.result is None:
                game = await connection.play(careless_move(connection, most, chance))
        await asyncio.sleep(look_seconds)
        shown = await connection.watch()
    return shown


async def play_a_cup(
    url: str,
    stack: AsyncExitStack,
    moves: int = 3,
    kind: TournamentFormat = TournamentFormat.SWISS,
    receipts: Path | None = None,
) -> str:
    """Let two players play a tournament of one round, and return its code."""
    players = [entrant(url, f"player-{number}", receipts) for number in (1, 2)]
    for each in players:
        stack.push_async_callback(each.close)
    code = (await players[0].enter(CreateTournament(format=kind))).code
    await players[1].join(code)
    await players[0].start()
    await asyncio.gather(*(play_careless(each, moves * number, number) for number, each in enumerate(players, 1)))
    return code
