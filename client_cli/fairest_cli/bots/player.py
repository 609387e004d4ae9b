"""A bot as an ordinary client: it sees what its seat may see, and its moves go the way of everybody's."""

import asyncio
import random
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from fairest_cli.bots.policies import Policy
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Connection, Update
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import MatchRecord

ALONE: Final = 10
"""So many times as fast does a bot think once the other player has stopped."""

Show = Callable[[KnownRoom, Update], None]
"""Told of each change: what we knew before, and what changed."""


async def play_match(
    connection: Connection,
    policy: Policy,
    chance: random.Random,
    pace_seconds: float,
    *,
    rematches: bool = False,
    show: Show | None = None,
) -> MatchRecord | None:
    """Play until the match is over and return its record; with `rematches`, on until cancelled.

    `pace_seconds` is the mean time that the bot thinks about a move; 0 is as fast as the server answers.
    Raises `Rejected`.
    """
    before = connection.model
    async with aclosing(connection.updates()) as updates:
        async for update in updates:
            if show is not None:
                show(before, update)
            before = update.model
            if isinstance(update.message, MatchRecord):
                return update.message
            board = update.model.board
            if update.message is None:
                continue
            if update.model.may_move and board is not None and any(board.legal_moves()):
                await asyncio.sleep(_pace(update.model, pace_seconds) * chance.uniform(0.5, 1.5))
                await connection.play(policy(board, chance))
            else:
                await _attend(connection, update.model, rematches)
    return None


def _pace(model: KnownRoom, pace_seconds: float) -> float:
    """Nobody wants to wait for a bot that has nobody left to race against."""
    is_alone = model.scene is not None and model.seat is not None and model.scene.seats[1 - model.seat].has_stopped
    return pace_seconds / ALONE if is_alone else pace_seconds


async def _attend(connection: Connection, model: KnownRoom, rematches: bool) -> None:
    """What a player does between races."""
    scene, own = model.scene, model.own
    if scene is None or own is None:
        return
    if scene.phase is Phase.READY and own.entropy_hash is None:
        await connection.get_ready()
    elif scene.phase is Phase.FINISHED and scene.match_is_over:
        if not rematches:
            await connection.ask_record()
        elif not own.wants_rematch:
            await connection.ask_rematch()
