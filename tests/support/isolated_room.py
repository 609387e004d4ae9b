"""A live room without a process around it: services that only note what they were asked, and a log that is a list."""

from collections.abc import Callable, Sequence

from fairest_protocol.messages.codec import decode_from_server, encode
from fairest_protocol.messages.from_server import FromServer, Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_server.edge.room_messages import ROOM_REQUESTS
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.redis_clock import APPEND_DEADLINE_MS, DecisionWindow, RedisClock
from fairest_server.live.room_services import RoomServices
from fairest_server.live.subscribers import DropReason, Subscriber
from fairest_server.room.catchup import make_catchup
from fairest_server.room.commands import Command, CreateRoom, TakeSeat
from fairest_server.room.events import Event, RoundOpened
from fairest_server.room.steps import LogEntry, LogSlice, Step, fold
from fairest_server.room.view import ORIGIN
from fairest_server.store.append_queue import Writer
from fairest_server.store.appends import Answer, Append, Reply

NOW_MS = 1_000_000
ROUND = RoundOpened(round=bytes(16), secret=bytes(32), signature=bytes(64))


class SteadyClock(RedisClock):
    """A clock of Redis that stands still; `is_silent` as if no heartbeat had been answered lately."""

    def __init__(self) -> None:
        super().__init__()
        self.at_ms = NOW_MS
        self.is_silent = False
        self.beat(NOW_MS)

    @property
    def silent_seconds(self) -> float:
        return 60.0 if self.is_silent else 0.0

    def now_ms(self) -> int:
        return self.at_ms

    def decision_window(self) -> DecisionWindow | None:
        return None if self.is_silent else DecisionWindow(self.at_ms, self.at_ms + APPEND_DEADLINE_MS)

    def set(self, redis_ms: int) -> None:
        self.at_ms = redis_ms


class RecordingSubscriber:
    """A connection that keeps its frames, and notes what else it is told."""

    def __init__(self, connection_id: str, entry_kind: str = "join", player_id: str = "") -> None:
        self.connection_id, self.entry_kind, self.seen_upto = connection_id, entry_kind, ORIGIN
        self.player_id = player_id
        self.frames: list[bytes] = []
        self.notes: list[str] = []
        self.refusals: list[Refused] = []
        self.charged = 0
        self.has_asked: bool | None = None
        """Whether it had asked to leave, once it was unseated."""

    @property
    def messages(self) -> list[FromServer]:
        """The frames as messages."""
        return [decode_from_server(frame) for frame in self.frames]

    def show(self, data: bytes) -> None:
        self.frames.append(data)

    def admitted(self, seat: int | None, log_length: int, missed: bytes) -> None:
        self.charged += log_length
        self.notes.append(f"admitted {seat}")
        self.show(missed)

    def refused(self, answer: Refused) -> None:
        if answer.to in ROOM_REQUESTS:
            self.show(encode(answer))
        else:
            self.refusals.append(answer)

    def replaced(self) -> None:
        self.notes.append("replaced")

    def unseated(self, *, has_asked: bool) -> None:
        self.notes.append("unseated")
        self.has_asked = has_asked

    def sent_away(self, reason: DropReason) -> None:
        self.notes.append(reason.name.lower().replace("_", " "))


class IsolatedRoom:
    """A live room, its log as a list of entries, and what it asked of the process around it."""

    def __init__(self, *, is_shared: bool = False) -> None:
        self.log: list[LogEntry] = []
        self.queue: list[Writer] = []
        """Writers that were enqueued and are not polled yet."""
        self.reads: list[int] = []
        """The index behind which each read was asked for."""
        self.retries = 0
        self.shown: list[Step] = []
        """The steps outside of a race that the room has moved on by."""
        self.changes = 0
        self.given_up = 0
        self.timers: list[Callable[[], None]] = []
        self.clock = SteadyClock()
        self.services = RoomServices(
            clock=self.clock,
            enqueue=self._enqueue,
            draw_round=lambda *_: ROUND,
            later=lambda _, call: self.timers.append(call),
            read_log=lambda _, after: self.reads.append(after),
            retry_later=lambda _: self._count("retries"),
            welcome=self._welcome,
            on_steps=lambda _, steps: self.shown.extend(steps),
            on_change=lambda _: self._count("changes"),
            give_up=lambda _: self._count("given_up"),
            own_subscriptions=lambda _: 0,
            closed_room_seconds=60,
            is_shared=is_shared,
        )
        self.room = LiveRoom("quiet-amber-otter", self.services)

    def submit(self, command: Command, asker: Subscriber | None = None) -> None:
        """Request this of the room."""
        self.room.submit(Request(command, asker))

    def poll(self) -> Append | None:
        """Let the append queue poll the writer that waits first."""
        self.queue.pop(0)
        return self.room.build_append()

    def accept(self, append: Append | None) -> None:
        """Let Redis take an append, and say so."""
        assert append is not None, "there is something to append"
        self.append_elsewhere(append.events, append.tag)
        self.answer(Answer.APPENDED)

    def answer(self, answer: Answer, entries: Sequence[LogEntry] = ()) -> None:
        """Answer the append in flight."""
        self.room.on_append_result(Reply(answer, self.clock.at_ms, entries))

    def append_elsewhere(self, events: Sequence[Event], tag: str) -> LogSlice:
        """Let the log grow by these events of one append; returns them as a wake-up."""
        before = self.log[-1].tag if self.log else ""
        entries = [
            LogEntry(len(self.log) + 1 + place, tag, self.clock.at_ms, each) for place, each in enumerate(events)
        ]
        self.log += entries
        return LogSlice(before, entries)

    def finish_read(self) -> None:
        """Answer the newest read with what the log has."""
        self.room.on_log_read(self.log[self.reads[-1] :])

    def run(self, command: Command, asker: Subscriber | None = None) -> None:
        """Request this, and let Redis take what follows from it."""
        self.submit(command, asker)
        self.accept(self.poll())

    def seat_both(self) -> tuple[RecordingSubscriber, RecordingSubscriber]:
        """Seat two players, each over a connection of its own, and show them the room."""
        first, second = RecordingSubscriber("here-1", "create"), RecordingSubscriber("here-2")
        self.run(CreateRoom(RoomOptions(), "player-0", "ann", first.connection_id), first)
        self.run(TakeSeat("player-1", "bob", second.connection_id), second)
        return first, second

    def _enqueue(self, writer: Writer, *, is_first: bool = False) -> None:
        self.queue.insert(0 if is_first else len(self.queue), writer)

    def _welcome(self, room: LiveRoom, subscriber: Subscriber) -> None:
        if room.recent.steps is None:
            # As a read of the log would.
            room.recent.keep(fold(self.log[: room.cursor.index]))
        assert room.state is not None and room.recent.steps is not None
        seat = room.state.seat_of_connection(subscriber.connection_id)
        catchup = make_catchup(room.code, room.recent.steps, seat, subscriber.seen_upto, NOW_MS)
        room.subscribers.admit(seat, subscriber, catchup)

    def _count(self, name: str) -> None:
        setattr(self, name, getattr(self, name) + 1)
