"""The surroundings of a live room: the clock, the append queue, reads of the log, timers. One object for all rooms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from fairest_server.live.redis_clock import CLOCK_SKEW_MS, RedisClock
from fairest_server.live.spectator_fanout import Later
from fairest_server.live.subscribers import Subscriber
from fairest_server.room.commands import Pause
from fairest_server.room.events import RoundOpened
from fairest_server.room.state import RoomState
from fairest_server.room.steps import Step
from fairest_server.store.append_queue import Writer

Room = TypeVar("Room")
"""The class of the rooms, `LiveRoom`, which imports this module."""


DrawRoundIn = Callable[[str, bytes | None, int, str], RoundOpened]
"""`DrawRound` of the room with this code: an id of a round says in which bucket its room is."""


class Enqueue(Protocol):
    """The way into the append queue."""

    def __call__(self, writer: Writer, *, is_first: bool = False) -> None:
        """Poll `writer` for the next batch that has a place for it; with `is_first`, before all others that wait."""


@dataclass(slots=True)
class RoomServices(Generic[Room]):
    """The surroundings of every live room of a process."""

    clock: RedisClock
    """Redis' clock. If Redis was not heard lately, it gives no decision window, and nothing is decided."""
    enqueue: Enqueue
    """Puts the room into the append queue, which will call its `build_append`, then `on_append_result`."""
    draw_round: DrawRoundIn
    """Draws the id and the secret of a new round of a room."""
    later: Later
    read_log: Callable[[Room, int], None]
    """Reads the room's log after an index, in a task, and hands the entries to `LiveRoom.on_log_read`."""
    retry_later: Callable[[Room], None]
    """Calls the room's `catch_up` in a while, since Redis does not answer."""
    welcome: Callable[[Room, Subscriber], None]
    """Shows the room to a player whom the log has given a seat, in a task if the log has to be read for it."""
    on_steps: Callable[[str, Sequence[Step]], None]
    """Called with a room's code and the steps on which it moved on, outside of a race."""
    on_change: Callable[[Room], None]
    """Called when deadlines, a match without a record, or the need for the room may have changed."""
    give_up: Callable[[Room], None]
    """Drops the room: the log is not the one that its subscribers were shown."""
    own_subscriptions: Callable[[str], int]
    """Returns how many of the subscriptions to a room's wake-ups that Redis counts are ours."""
    closed_room_seconds: int
    """How long the log of a closed room stays."""
    is_shared: bool = False
    """Whether other processes serve this deployment, so that a log may move on without us."""
    pauses: tuple[Pause, ...] = ()
    """The times in which no process served; rooms take them out of their clocks."""

    def has_pause_for(self, state: RoomState | None) -> bool:
        """Return whether the last pause has not been taken out of the clocks of a room in this state yet.

        Not a pause that ends in the future: Redis' clock was set back since it was recorded.
        """
        if not self.pauses or state is None:
            return False
        end_ms = self.pauses[-1].end_ms
        return state.lacks_pause(end_ms) and end_ms - CLOCK_SKEW_MS <= self.clock.now_ms()
