"""One stay in a room, as a player or a spectator: the connection, and what came of it. Screens draw from it."""

import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.files import load_record, save_record
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.progress import Progress
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Left, MatchRecord, View
from fairest_protocol.value import replace

Show = Callable[[KnownRoom, Update], Awaitable[None]]
"""Told of each change: what we knew before, and what changed."""


def now_ms() -> int:
    """Our own clock."""
    return int(time.time() * 1000)


class RoomSession:
    """A way into a room and the room as it is shown to us.

    `finished` is what we knew at the end of the last round, until the next one starts; a new round may be open by then.
    `record` is that of the match, once it is over. `way_back` follows the invitation for a player who goes; without it,
    there is no way back.
    """

    def __init__(
        self, connection: Connection, *, way_back: str | None = None, clock: Callable[[], int] = now_ms
    ) -> None:
        self.way_back = way_back
        self.clock = clock
        self.finished: KnownRoom | None = None
        self.progress = Progress()
        self.record: Record | None = None
        self.record_path: Path | None = None
        self.problem = ""
        self._connection = connection
        self._has_asked_record = False

    @property
    def model(self) -> KnownRoom:
        """What we know now."""
        return self._connection.model

    @property
    def is_spectator(self) -> bool:
        """Whether we only watch."""
        return self.model.scene is not None and self.model.seat is None

    @property
    def is_racing(self) -> bool:
        """Whether our race is on, so that going away could cost something."""
        own = self.model.own
        return self.model.phase is Phase.RACING and own is not None and not own.has_stopped

    @property
    def may_play(self) -> bool:
        """Whether a key press may become a move: the race is on for us, and the server is there to hear of it."""
        return self.is_racing and self.model.status is ConnectionStatus.CONNECTED

    @property
    def receipt_path(self) -> Path | None:
        """Where our receipt of this room is kept, if one is."""
        return self._connection.receipt.path if self._connection.receipt else None

    async def run(self, show: Show) -> None:
        """Follow the room until there is no more of it for us. Raises `Rejected` and `Cheated`; safe to cancel."""
        before = self.model
        async with aclosing(self._connection.updates()) as updates:
            async for update in updates:
                await self._note(before, update)
                await show(before, update)
                before = update.model
                if isinstance(update.message, Left) or update.model.phase is Phase.CLOSED:
                    return

    async def play(self, move: Move) -> None:
        """Make a move; it stands in the model at once, as sent."""
        await self._connection.play(move)

    async def get_ready(self) -> None:
        """Say that we are ready."""
        await self._connection.get_ready()

    async def ask_rematch(self) -> None:
        """Ask for another match."""
        await self._connection.ask_rematch()

    async def leave(self) -> None:
        """Give our place up; in a race that is resigning."""
        await self._connection.leave()

    async def _note(self, before: KnownRoom, update: Update) -> None:
        model, message = update.model, update.message
        if model.status is ConnectionStatus.LOST:
            # What was said last may be lost with the connection; it is said again on the next one.
            self._has_asked_record = False
            return
        if isinstance(message, View):
            ended = at_the_end(before, model, message, self.clock())
            self.finished = ended or self.finished
            if any(isinstance(entry, entries.Started) for entry in message.entries) and ended is None:
                self.finished, self.record, self.record_path, self.problem = None, None, None, ""
        if model.phase is Phase.FINISHED and self.finished is None:
            self.finished = model
        self.progress = self.progress.after(self.finished or model, self.clock())
        if isinstance(message, MatchRecord):
            self._keep(message)
        is_over = model.phase is Phase.FINISHED and model.scene is not None and model.scene.match_is_over
        if is_over and not self._has_asked_record:
            self._has_asked_record = True
            await self._connection.ask_record()
        elif not is_over:
            self._has_asked_record = False

    def _keep(self, message: MatchRecord) -> None:
        try:
            self.record_path = save_record(message)
            self.record = load_record(self.record_path)
        except (BadRecord, OSError) as reason:
            self.problem = f"The record could not be kept: {clean(str(reason))}"
        receipt = self._connection.receipt
        if receipt is not None and receipt.problem:
            self.problem = receipt.problem


def at_the_end(before: KnownRoom, model: KnownRoom, view: View, at_ms: int) -> KnownRoom | None:
    """What was known when a round ended in this view. The next round may be opened in the same one."""
    kinds = [type(entry) for entry in view.entries]
    if entries.RoundFinished not in kinds:
        return None
    place = kinds.index(entries.RoundFinished)
    if entries.RoundOpened not in kinds[place:]:
        return model
    # The connection has compared the moves with what we sent; here they are only folded.
    folded = replace(before, seal_check=replace(before.seal_check, logs=None))
    return folded.after(view.model_copy(update={"entries": view.entries[: place + 1]}), at_ms)
