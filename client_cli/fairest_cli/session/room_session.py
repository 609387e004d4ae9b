"""A session in one room, as a player or a spectator, under the text client, the full screen and the bots.

The session follows the connection's updates, asks for the record once when a match is over, and saves it. A request
without an answer is forgotten when the connection is lost, since it may be lost too, and sent again on the next one.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.receipts import Receipt
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.progress import Progress
from fairest_cli.session.saving import try_save_record
from fairest_cli.session.websocket import Rejected
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.record import Record
from fairest_protocol.messages import entries
from fairest_protocol.messages.capabilities import ASK_FINISH
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, GetRecord, Leave, LeaveQueue, Queue, Rematch
from fairest_protocol.messages.from_server import Left, LeftQueue, MatchRecord, Snapshot, View
from fairest_protocol.value import replace

_LEFT_AT_NO_COST: Final = (Phase.WAITING, Phase.READY, Phase.FINISHED)
"""Phases in which leaving gives up no race."""

OnUpdate = Callable[[KnownRoom, Update], Awaitable[None]]
"""Called with each update, and with the model before it."""


class RoomSession:
    """A connection to a room, with the state that outlives single updates.

    `finished` is the model at the end of the last round until the next round starts; the room may have opened that one
    already. `match_record` is the record of the match that is over, as the server sent it; `record` is
    what it says, `record_path` its file once it was saved, and `problem` why the record or the receipt was not.
    `queueing` is the request that led into the room by the queue, None for any other way; `queues_again` says that we
    leave for the next opponent. `rejoin_option`, such as ` --name ann` or nothing, is appended to the invitation to
    make the command that comes back to the seat; None for a viewer that cannot come back.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        rejoin_option: str | None = None,
        clock: Callable[[], int] = now_ms,
        asks_record: bool = True,
        saves_record: bool = True,
        ends_with_record: bool = False,
    ) -> None:
        """`clock` returns milliseconds. With `ends_with_record`, `run` returns when the record has arrived."""
        self.rejoin_option = rejoin_option
        self.clock = clock
        self.finished: KnownRoom | None = None
        self.progress = Progress()
        self.match_record: MatchRecord | None = None
        self.record: Record | None = None
        self.record_path: Path | None = None
        self.problem = ""
        self.queueing = connection.entry_request if isinstance(connection.entry_request, Queue) else None
        self.queues_again = False
        self.closing_reason: str | None = None
        """The operator's reason for closing the room, if the operator did."""
        self._connection = connection
        self._asks_record = asks_record
        self._saves_record = saves_record
        self._ends_with_record = ends_with_record
        self._has_asked_record = False
        self._has_asked_leave = False
        self._asked_ready: bytes | None = None
        """The round for which we have reported that we are ready, on the present socket."""
        self._asked_finish: bytes | None = None
        """The round in which we have asked the other player to finish, on the present socket."""

    @property
    def model(self) -> KnownRoom:
        """The client's present knowledge of the room."""
        return self._connection.model

    @property
    def is_spectator(self) -> bool:
        """Whether we are in the room without a seat."""
        return self.model.scene is not None and self.model.seat is None

    @property
    def is_racing(self) -> bool:
        """Whether our race is on, so that leaving could lose it."""
        own = self.model.own
        return self.model.phase is Phase.RACING and own is not None and not own.has_stopped

    @property
    def accepts_moves(self) -> bool:
        """Whether a key press may become a move: our race is on, and the server is connected."""
        return self.is_racing and self.model.status is ConnectionStatus.CONNECTED

    @property
    def is_ready_wanted(self) -> bool:
        """Whether the room waits for us to get ready, and we have not reported it on this socket.

        False until the server has shown the room on this socket: a report that comes earlier would be refused.
        """
        scene, own = self.model.scene, self.model.own
        if self.model.status is not ConnectionStatus.CONNECTED:
            return False
        is_open = scene is not None and scene.phase is Phase.READY and scene.round != self._asked_ready
        return is_open and own is not None and own.entropy_hash is None

    @property
    def receipt(self) -> Receipt | None:
        """Our receipt of this room, None if none is kept."""
        return self._connection.receipt

    async def run(self, on_update: OnUpdate) -> None:
        """Follow the room until we have left it or it is closed, and call `on_update` with each update.

        Raises `Rejected` and `Cheated`. Safe to cancel: the seat waits for us.
        """
        before = self.model
        try:
            async with aclosing(self._connection.updates()) as updates:
                async for update in updates:
                    await self._take(before, update)
                    await on_update(before, update)
                    before = update.model
                    if isinstance(update.message, (Left, LeftQueue)) or update.model.phase is Phase.CLOSED:
                        return
                    if self._ends_with_record and isinstance(update.message, MatchRecord):
                        return
        except Rejected:
            if not self.queues_again:
                raise
            # Our seat was freed before the connection dropped. For any other reason the queue refuses us as well.

    async def play(self, move: Move) -> None:
        """Make a move. It is in the model at once, among the moves that are sent and not answered."""
        await self._connection.play(move)

    async def get_ready(self) -> None:
        """Report that we are ready."""
        if self.model.scene is not None and self.model.status is ConnectionStatus.CONNECTED:
            self._asked_ready = self.model.scene.round
        await self._connection.get_ready()

    async def ask_rematch(self) -> None:
        """Ask for another match."""
        await self._connection.request(Rematch())

    @property
    def may_ask_finish(self) -> bool:
        """Whether the other player may be asked to finish: our race has ended, and we have not asked in this round."""
        scene, own = self.model.scene, self.model.own
        if scene is None or own is None or self.model.status is not ConnectionStatus.CONNECTED:
            return False
        is_time = scene.phase is Phase.RACING and own.has_stopped and scene.round != self._asked_finish
        return is_time and ASK_FINISH in self._connection.capabilities

    async def ask_finish(self) -> None:
        """Ask the other player to finish; do nothing if that may not be asked now."""
        if self.may_ask_finish and self.model.scene is not None:
            self._asked_finish = self.model.scene.round
            await self._connection.request(AskFinish())

    async def leave(self, *, queues_again: bool = False) -> None:
        """Give up our seat; in a race, that is resigning. In the queue, wait no longer.

        With `queues_again`, a drop in between does not end the session before the seat is given up.
        """
        self.queues_again = queues_again
        self._has_asked_leave = self.model.status is ConnectionStatus.CONNECTED
        await self._connection.request(LeaveQueue() if self.model.queued else Leave())

    async def _take(self, before: KnownRoom, update: Update) -> None:
        """Bring the session's own state up to date, and ask for the record when a match is over."""
        model, message = update.model, update.message
        if model.status is ConnectionStatus.LOST:
            # The last requests may be lost with the connection; they are sent again on the next one.
            self._has_asked_record, self._has_asked_leave = False, False
            self._asked_ready, self._asked_finish = None, None
            return
        is_shown = isinstance(message, (Snapshot, View))
        if is_shown and self.queues_again and not self._has_asked_leave and model.phase in _LEFT_AT_NO_COST:
            # Sent again behind a drop, since the request may be lost.
            await self.leave(queues_again=True)
        if isinstance(message, View):
            closings = [entry.reason for entry in message.entries if isinstance(entry, entries.RoomClosed)]
            self.closing_reason = closings[-1] if closings else None
            ended = model_at_round_end(before, model, message, self.clock())
            self.finished = ended or self.finished
            if any(isinstance(entry, entries.Started) for entry in message.entries) and ended is None:
                self.finished, self.match_record = None, None
                self.record, self.record_path, self.problem = None, None, ""
        if model.phase is Phase.FINISHED and self.finished is None:
            self.finished = model
        self.progress = self.progress.after(self.finished or model, self.clock())
        if isinstance(message, MatchRecord):
            self.match_record = message
            if self._saves_record:
                self.record, self.record_path, problem = try_save_record(message)
                receipt_problem = self.receipt.problem if self.receipt is not None else ""
                self.problem = " ".join(filter(None, (problem, receipt_problem)))
        is_over = model.phase is Phase.FINISHED and model.scene is not None and model.scene.match_is_over
        if is_over and self._asks_record and not self._has_asked_record:
            self._has_asked_record = True
            await self._connection.request(GetRecord())
        elif not is_over:
            self._has_asked_record = False


def may_queue_again(session: RoomSession) -> bool:
    """Return whether a race from the queue is over, so that the next opponent may be looked for.

    The one of this race may have left.
    """
    scene, own = session.model.scene, session.model.own
    if scene is None or own is None or session.queueing is None or session.queues_again:
        return False
    return (scene.phase is Phase.WAITING and session.finished is not None) or (
        scene.phase is Phase.FINISHED and scene.match_is_over
    )


def is_asked_to_finish(update: Update) -> bool:
    """Return whether the other player, whose race has ended, asks us in this update to finish ours."""
    model, message = update.model, update.message
    return isinstance(message, View) and any(
        isinstance(entry, entries.FinishAsked) and entry.seat != model.seat for entry in message.entries
    )


def model_at_round_end(before: KnownRoom, model: KnownRoom, view: View, at_ms: int) -> KnownRoom | None:
    """Return the model at the end of the round that ends in `view`, or None if no round does.

    `before` and `model` are the models before and after the view, which may hold the opening of the next round too:
    then the entries up to the end are folded once more.
    """
    kinds = [type(entry) for entry in view.entries]
    if entries.RoundFinished not in kinds:
        return None
    place = kinds.index(entries.RoundFinished)
    if entries.RoundOpened not in kinds[place:]:
        return model
    # The connection has compared our moves with those that we sent; without the entries by seat, that is skipped here.
    unchecked = replace(before, seal_check=replace(before.seal_check, shown=None))
    ended = unchecked.after_part(view.part(0, place + 1), at_ms)
    return replace(ended, binding=model.binding)
