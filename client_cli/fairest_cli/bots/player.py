"""A bot as an ordinary client: it sees what its seat may see, and its moves go over the wire like a person's."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from fairest_cli.bots.levels import PROFILES, Level
from fairest_cli.bots.pace import human_seconds
from fairest_cli.bots.thinking import SHARED
from fairest_cli.model.dead_cards import dead_cards
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.progress import count_of
from fairest_cli.session.room_session import RoomSession, is_asked_to_finish
from fairest_protocol.calculation.moves import STOP
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import MatchRecord

SPEED_ALONE: Final = 10
"""A bot plays this many times faster once the other player has stopped: nobody wants to wait for it."""

AWAITED_TURN = tuple[bytes | None, int]
"""A round, and the number of moves that the bot has made in it: the move that it thinks about is the next one."""


async def play_match(
    connection: Connection,
    level: Level,
    chance: random.Random,
    pace_seconds: float | None = None,
    *,
    rematches: bool = False,
    on_update: Callable[[KnownRoom, Update], None] | None = None,
) -> MatchRecord | None:
    """Play until the match is over and return its record; with `rematches`, ask for another match, without end.

    `pace_seconds` is the mean time that the bot takes for a move, None for the pace of its level; at 0 it plays as fast
    as it has thought. `on_update` is called with the model before each update, and with the update. Returns None if the
    room was closed. Raises `Rejected`, `Cheated` and `ThinkingFailed`. Safe to cancel: the seat waits.
    """
    session = RoomSession(connection, asks_record=not rematches, saves_record=False, ends_with_record=True)
    player = BotPlayer(session, level, chance, PROFILES[level].pace_seconds if pace_seconds is None else pace_seconds)

    async def react(before: KnownRoom, update: Update) -> None:
        if on_update is not None:
            on_update(before, update)
        player.follow(update)
        if update.message is None:
            return
        if session.is_ready_wanted:
            await session.get_ready()
        elif rematches and may_ask_rematch(update.model):
            await session.ask_rematch()

    try:
        await session.run(react)
    finally:
        player.close()
    return session.match_record


class BotPlayer:
    """The moves of a bot in one room: at most one is thought about at a time, in a task beside the session.

    Asked to finish, it plays the rest of the round as fast as it has thought, and stops once it cannot win any more.
    """

    def __init__(self, session: RoomSession, level: Level, chance: random.Random, pace_seconds: float) -> None:
        self._is_asked = asyncio.Event()
        """Set while the other player, whose race has ended, wants this round to be finished."""
        self._session = session
        self._level = level
        self._chance = chance
        self._pace_seconds = pace_seconds
        self._turn: AWAITED_TURN | None = None
        self._task: asyncio.Task[None] | None = None
        if PROFILES[level].budget:
            # The worker starts while the players get ready.
            SHARED.prepare()

    def follow(self, update: Update) -> None:
        """Begin to think where a move is wanted, and give up what the room has overtaken.

        Raises `ThinkingFailed` if the last thinking ended so.
        """
        model = update.model
        if model.phase is not Phase.RACING:
            self._is_asked.clear()
        elif is_asked_to_finish(update):
            self._is_asked.set()
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()
        scene, own, board = model.scene, model.own, model.board
        turn = None
        if scene is not None and own is not None and board is not None and model.may_send_next_move:
            turn = (scene.round, own.moves) if any(board.legal_moves()) else None
        if turn != self._turn:
            self.close()
            self._turn = turn
            if turn is not None:
                self._task = asyncio.create_task(self._move(model))

    def close(self) -> None:
        """Give up the move that is thought about. Safe to call again."""
        self._turn = None
        if self._task is not None:
            self._task.cancel()

    async def _move(self, model: KnownRoom) -> None:
        """Think as long as a person would, and play. The level's own thinking is part of that time."""
        assert model.scene is not None and model.board is not None, "a move is wanted"
        clock = asyncio.get_running_loop().time
        began = clock()
        if self._is_asked.is_set() and cannot_win(model):
            await self._session.play(STOP)
            return
        rules = model.scene.options.chosen_rules()
        decision = await SHARED.decide(self._level, model.board, rules, self._chance.getrandbits(63))
        if self._pace_seconds:
            seconds = human_seconds(_pace(model, self._pace_seconds), decision.lead, self._chance)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_asked.wait(), max(0.0, seconds - (clock() - began)))
        await self._session.play(decision.move)


def may_ask_rematch(model: KnownRoom) -> bool:
    """Return whether the match is over, and we have not asked for another one."""
    scene, own = model.scene, model.own
    is_over = scene is not None and scene.phase is Phase.FINISHED and scene.match_is_over
    return is_over and own is not None and not own.wants_rematch


def cannot_win(model: KnownRoom) -> bool:
    """Return whether the other player has placed more cards than we can still have at the end, whatever comes."""
    if model.board is None or model.seat is None:
        return False
    return count_of(model, 1 - model.seat) > model.board.goal - len(dead_cards(model.board))


def _pace(model: KnownRoom, pace_seconds: float) -> float:
    is_alone = model.scene is not None and model.seat is not None and model.scene.seats[1 - model.seat].has_stopped
    return pace_seconds / SPEED_ALONE if is_alone else pace_seconds
