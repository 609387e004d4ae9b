"""A bot as an ordinary client: it sees what its seat may see, and its moves go over the wire like a person's."""

import asyncio
import random
from collections.abc import Callable
from typing import Final

from fairest_cli.bots.policies import Policy
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.room_session import RoomSession
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import MatchRecord

SPEED_ALONE: Final = 10
"""A bot plays this many times faster once the other player has stopped: nobody wants to wait for it."""


async def play_match(
    connection: Connection,
    policy: Policy,
    chance: random.Random,
    pace_seconds: float,
    *,
    rematches: bool = False,
    on_update: Callable[[KnownRoom, Update], None] | None = None,
) -> MatchRecord | None:
    """Play until the match is over and return its record; with `rematches`, ask for another match, without end.

    `pace_seconds` is the mean time that the bot thinks about a move; at 0 it plays as fast as the server answers.
    `on_update` is called with the model before each update, and with the update. Returns None if the room was closed.
    Raises `Rejected` and `Cheated`. Safe to cancel: the seat waits.
    """
    session = RoomSession(connection, asks_record=not rematches, saves_record=False, ends_with_record=True)

    async def react(before: KnownRoom, update: Update) -> None:
        if on_update is not None:
            on_update(before, update)
        board = update.model.board
        if update.message is None:
            return
        if update.model.may_send_next_move and board is not None and any(board.legal_moves()):
            await asyncio.sleep(_pace(update.model, pace_seconds) * chance.uniform(0.5, 1.5))
            await session.play(policy(board, chance))
        elif session.is_ready_wanted:
            await session.get_ready()
        elif rematches and _may_ask_rematch(update.model):
            await session.ask_rematch()

    await session.run(react)
    return session.match_record


def _pace(model: KnownRoom, pace_seconds: float) -> float:
    is_alone = model.scene is not None and model.seat is not None and model.scene.seats[1 - model.seat].has_stopped
    return pace_seconds / SPEED_ALONE if is_alone else pace_seconds


def _may_ask_rematch(model: KnownRoom) -> bool:
    scene, own = model.scene, model.own
    is_over = scene is not None and scene.phase is Phase.FINISHED and scene.match_is_over
    return is_over and own is not None and not own.wants_rematch
