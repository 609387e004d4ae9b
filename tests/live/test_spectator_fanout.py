"""The fan-out to spectators: frames are gathered and sent in order, a few at a time, so that players notice nothing."""

import heapq
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.messages.codec import decode_from_server, encode
from fairest_protocol.messages.entries import RematchWanted
from fairest_protocol.messages.from_server import Placed, View
from fairest_server.live.spectator_fanout import BURST_FRAMES, COLLECT_SECONDS, FRAMES_PER_SECOND, SpectatorFanout
from fairest_server.room.view import ViewCursor

ENTRY = encode(RematchWanted(seat=0))


class Clock:
    """A clock that a test sets forward."""

    def __init__(self) -> None:
        self.now = 0.0
        self._calls: list[tuple[float, int, Callable[[], None]]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._calls, (self.now + seconds, len(self._calls), call))

    def step(self) -> bool:
        """Go to the next call; return whether there was one."""
        if not self._calls:
            return False
        self.now, _, call = heapq.heappop(self._calls)
        call()
        return True

    def run(self) -> None:
        while self.step():
            pass


class Watcher:
    """A spectator that keeps what it was shown."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def show(self, data: bytes) -> None:
        self.frames.append(data)

    @property
    def positions(self) -> list[int]:
        """The position of every entry that it was shown."""
        views = [message for message in map(decode_from_server, self.frames) if isinstance(message, View)]
        return [view.first + place for view in views for place in range(len(view.entries))]


class Match:
    """Spectators, and the fan-out that collects entries for them one by one."""

    def __init__(self, watchers: int) -> None:
        self.clock = Clock()
        self.fanout: SpectatorFanout[Watcher] = SpectatorFanout(self.clock.later)
        self.watchers = [Watcher() for _ in range(watchers)]
        for watcher in self.watchers:
            self.fanout.add(watcher)
        self.position = 0

    def collect(self, count: int = 1) -> None:
        for _ in range(count):
            self.position += 1
            self.fanout.add_entries([ENTRY], ViewCursor(self.position, "00000000"))


def test_entries_of_one_moment_share_a_frame() -> None:
    match = Match(1)
    match.collect(5)
    match.clock.run()
    assert len(match.watchers[0].frames) == 1


def test_a_frame_waits_for_no_longer_than_a_moment() -> None:
    match = Match(1)
    match.collect()
    match.clock.run()
    assert match.clock.now == 0.05


def test_a_large_crowd_is_served_at_its_rate() -> None:
    match = Match(FRAMES_PER_SECOND)
    match.collect()
    match.clock.run()
    assert COLLECT_SECONDS < match.clock.now <= COLLECT_SECONDS + 1.0


def test_two_thousand_frames_a_second_are_sent_ten_at_a_time() -> None:
    match = Match(2_000)
    match.collect()
    match.clock.run()
    assert match.clock.now == pytest.approx(0.05 + 1.0)


def test_what_happens_while_a_crowd_is_served_is_one_frame() -> None:
    match = Match(3 * BURST_FRAMES)
    match.collect()
    match.clock.step()
    match.collect(7)
    match.clock.run()
    assert {len(watcher.frames) for watcher in match.watchers} == {2}


def test_a_crowd_is_served_in_slices() -> None:
    match = Match(3 * BURST_FRAMES)
    match.collect()
    match.clock.step()
    assert sum(len(watcher.frames) for watcher in match.watchers) == BURST_FRAMES


def test_what_happens_while_a_crowd_is_served_comes_to_everybody_after_it() -> None:
    match = Match(3 * BURST_FRAMES)
    match.collect()
    match.clock.step()
    match.collect()
    match.clock.run()
    assert all(watcher.positions == [1, 2] for watcher in match.watchers)


def test_who_comes_is_shown_nothing_of_what_was_gathered_before() -> None:
    match = Match(1)
    match.collect()
    late = Watcher()
    match.fanout.add(late)
    match.collect()
    match.clock.run()
    assert late.positions == [2]


def test_who_has_left_is_shown_nothing_more() -> None:
    match = Match(1)
    match.collect()
    match.fanout.discard(match.watchers[0])
    match.clock.run()
    assert match.watchers[0].frames == []


def test_a_message_to_everybody_stands_behind_what_happened_before_it() -> None:
    match = Match(1)
    match.collect()
    match.fanout.add_message(encode(Placed(placed=(1, 2))))
    match.clock.run()
    assert [type(decode_from_server(frame)) for frame in match.watchers[0].frames] == [View, Placed]


def test_a_message_to_everybody_is_sent_without_waiting_for_entries() -> None:
    seconds: list[float] = []
    fanout: SpectatorFanout[Watcher] = SpectatorFanout(lambda after, _: seconds.append(after))
    fanout.add_message(encode(Placed(placed=(1, 2))))
    assert seconds == [0]


def test_a_spectator_who_comes_back_is_shown_nothing_that_waited_for_it_before() -> None:
    match = Match(3 * BURST_FRAMES)
    match.collect()
    match.clock.step()
    last = match.watchers[-1]
    match.fanout.discard(last)
    match.fanout.add(last)
    match.clock.run()
    assert last.positions == []


@given(st.lists(st.sampled_from(["collect", "come", "go", "return", "tick", "time"]), max_size=80))
def test_each_stay_of_a_spectator_begins_after_the_position_at_which_it_came(doings: list[str]) -> None:
    match, watcher = Match(BURST_FRAMES), Watcher()
    came: list[int] = []
    shown: list[list[int]] = []
    for doing in doings:
        if doing == "collect":
            match.collect()
        elif doing == "come":
            match.fanout.add(Watcher())
        elif doing == "go" and watcher in match.fanout:
            match.fanout.discard(watcher)
            shown.append(watcher.positions)
        elif doing == "return" and watcher not in match.fanout:
            watcher.frames.clear()
            came.append(match.position)
            match.fanout.add(watcher)
        elif doing == "tick":
            match.fanout.add_message(encode(Placed(placed=(match.position, 0))))
        elif doing == "time":
            match.clock.step()
    match.clock.run()
    stays = [*shown, watcher.positions][: len(came)]
    assert stays == [
        list(range(position + 1, position + 1 + len(stay))) for position, stay in zip(came, stays, strict=True)
    ]


@given(st.lists(st.sampled_from(["collect", "come", "go", "tick", "time"]), max_size=80))
def test_everybody_is_shown_each_entry_once_and_in_order_from_its_coming_on(doings: list[str]) -> None:
    match = Match(0)
    came: dict[Watcher, int] = {}
    gone: set[Watcher] = set()
    for doing in doings:
        if doing == "collect":
            match.collect()
        elif doing == "come":
            watcher = Watcher()
            came[watcher] = match.position
            match.fanout.add(watcher)
        elif doing == "go" and len(came) > len(gone):
            leaver = next(watcher for watcher in came if watcher not in gone)
            gone.add(leaver)
            match.fanout.discard(leaver)
        elif doing == "tick":
            match.fanout.add_message(encode(Placed(placed=(match.position, 0))))
        elif doing == "time":
            match.clock.step()
    match.clock.run()
    for watcher, position in came.items():
        expected = list(range(position + 1, match.position + 1))
        shown = watcher.positions
        assert shown == (expected[: len(shown)] if watcher in gone else expected)
