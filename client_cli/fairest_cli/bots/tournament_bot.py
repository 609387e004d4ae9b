"""A bot in a tournament: it gets ready for each round, and races as fast as its level does."""

import asyncio
import random
from typing import Final

from fairest_cli.bots.levels import PROFILES, Level
from fairest_cli.bots.pace import human_seconds
from fairest_cli.bots.thinking import SHARED
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.messages.tournaments import Tournament, TournamentPhase

LOOK_SECONDS: Final = 1.0
"""Time between two looks at the tournament."""


async def play_tournament(
    connection: TournamentConnection,
    code: str,
    level: Level,
    chance: random.Random,
    pace_seconds: float | None = None,
) -> Tournament:
    """Enter a tournament and play it to its end, which is returned; or until the bot has left it.

    `pace_seconds` is the mean time for a move, None for the pace of the level. Raises `Rejected`, `Cheated` and
    `ThinkingFailed`. Safe to cancel: the next round goes on without the bot.
    """
    shown = await connection.join(code)
    pace = PROFILES[level].pace_seconds if pace_seconds is None else pace_seconds
    while shown.phase not in (TournamentPhase.OVER, TournamentPhase.CANCELLED):
        if connection.known is not None and connection.known.is_ready_wanted:
            await connection.get_ready()
        if connection.is_race_due:
            await _race(connection, level, chance, pace)
        if connection.known is not None and connection.known.has_left:
            break
        await asyncio.sleep(LOOK_SECONDS)
        shown = await connection.watch()
    return shown


async def _race(connection: TournamentConnection, level: Level, chance: random.Random, pace_seconds: float) -> None:
    """Play our race to its end."""
    game = await connection.race()
    while game.result is None:
        decision = await SHARED.decide(level, game.board, game.rules, chance.getrandbits(63))
        if pace_seconds:
            await asyncio.sleep(human_seconds(pace_seconds, decision.lead, chance))
        game = await connection.play(decision.move)
