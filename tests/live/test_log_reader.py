"""The reads of open rooms when their log is broken, lost or away."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from fairest_server.live.live_room import LiveRoom
from fairest_server.live.log_reader import LogReader
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.slices import Slices
from fairest_server.room.commands import Disconnect
from fairest_server.room.events import Detached
from fairest_server.room.steps import LogEntry
from fairest_server.store.appends import Answer
from tests.support.isolated_room import IsolatedRoom

Read = Callable[[int], Sequence[LogEntry]]


class PaperLog:
    """A log that answers reads as the test says."""

    def __init__(self, isolated: IsolatedRoom) -> None:
        self.read_behind: Read = lambda after: isolated.log[after:]
        self.reads: list[int] = []
        self.was_read = asyncio.Event()

    async def read(self, _: str, after: int = 0) -> Sequence[LogEntry]:
        self.reads.append(after)
        self.was_read.set()
        await asyncio.sleep(0)
        return self.read_behind(after)


class OneOpenRoom:
    """A registry in which the room is open until it is given up."""

    def __init__(self) -> None:
        self.given_up = 0

    def is_open(self, _: LiveRoom) -> bool:
        return not self.given_up

    def give_up(self, _: LiveRoom) -> None:
        self.given_up += 1


def is_broken(_: int) -> Sequence[LogEntry]:
    raise ValueError("an entry is a time, a tag and an event")


def is_away(_: int) -> Sequence[LogEntry]:
    raise RedisConnectionError("nobody there")


@pytest.fixture
def isolated() -> IsolatedRoom:
    isolated = IsolatedRoom()
    isolated.seat_both()
    return isolated


@pytest.fixture
def log(isolated: IsolatedRoom) -> PaperLog:
    return PaperLog(isolated)


@pytest.fixture
def rooms() -> OneOpenRoom:
    return OneOpenRoom()


@pytest.fixture
def reader(log: PaperLog, rooms: OneOpenRoom) -> LogReader:
    return LogReader(log, rooms, Slices())  # type: ignore[arg-type]  # of a log, the reader only reads


@asynccontextmanager
async def catching_up(isolated: IsolatedRoom, log: PaperLog, rooms: OneOpenRoom) -> AsyncIterator[None]:
    """A read that the room asked for; it is finished when the context ends."""
    tasks = RoomTasks()
    async with tasks.running():
        isolated.room.catch_up()
        reader = LogReader(log, rooms, Slices())  # type: ignore[arg-type]
        tasks.start(reader.catch_up(isolated.room, isolated.reads[-1]), isolated.room.code)
        yield


async def test_a_room_takes_what_it_missed(isolated: IsolatedRoom, log: PaperLog, rooms: OneOpenRoom) -> None:
    isolated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    async with catching_up(isolated, log, rooms):
        pass
    assert isolated.room.cursor.end == (len(isolated.log), "other")


async def test_a_room_whose_log_cannot_be_read_is_given_up(
    isolated: IsolatedRoom, log: PaperLog, rooms: OneOpenRoom
) -> None:
    log.read_behind = is_broken
    async with catching_up(isolated, log, rooms):
        pass
    assert rooms.given_up == 1


async def test_a_room_whose_redis_is_away_decides_nothing_until_it_has_read(
    isolated: IsolatedRoom, log: PaperLog, rooms: OneOpenRoom
) -> None:
    log.read_behind = is_away
    async with catching_up(isolated, log, rooms):
        pass
    assert (isolated.room.cursor.is_uncertain, rooms.given_up) == (True, 0)


async def test_a_room_catches_up_to_the_end_that_its_log_had(isolated: IsolatedRoom, reader: LogReader) -> None:
    isolated.append_elsewhere([Detached(seat=0, link="here-1")], "one")
    isolated.append_elsewhere([Detached(seat=1, link="here-2")], "two")
    await reader.catch_up_to_end(isolated.room)
    assert isolated.room.cursor.end == (len(isolated.log), "two")


async def test_a_room_that_took_all_that_it_read_reads_no_more(
    isolated: IsolatedRoom, log: PaperLog, reader: LogReader
) -> None:
    isolated.append_elsewhere([Detached(seat=0, link="here-1")], "one")
    await reader.catch_up_to_end(isolated.room)
    assert len(log.reads) == 1


async def test_a_room_that_is_at_the_end_reads_once(isolated: IsolatedRoom, log: PaperLog, reader: LogReader) -> None:
    await reader.catch_up_to_end(isolated.room)
    assert len(log.reads) == 1


async def test_catching_up_waits_for_an_append_in_flight(
    isolated: IsolatedRoom, log: PaperLog, reader: LogReader
) -> None:
    """Entries that are read meanwhile are kept until the answer is there."""
    isolated.submit(Disconnect("here-1"))
    append = isolated.poll()
    assert append is not None
    isolated.append_elsewhere(append.events, append.tag)
    catching_up = asyncio.create_task(reader.catch_up_to_end(isolated.room))
    await log.was_read.wait()
    isolated.answer(Answer.APPENDED)
    await catching_up
    assert isolated.room.cursor.end == (len(isolated.log), append.tag)


async def test_catching_up_reads_again_while_an_append_is_in_flight(
    isolated: IsolatedRoom, log: PaperLog, reader: LogReader
) -> None:
    isolated.submit(Disconnect("here-1"))
    append = isolated.poll()
    assert append is not None
    isolated.append_elsewhere(append.events, append.tag)

    def read(after: int) -> Sequence[LogEntry]:
        if len(log.reads) == 2:
            isolated.answer(Answer.APPENDED)
        return isolated.log[after:]

    log.read_behind = read
    await reader.catch_up_to_end(isolated.room)
    assert isolated.room.cursor.end == (len(isolated.log), append.tag)


async def test_a_history_goes_up_to_what_the_room_has_shown(isolated: IsolatedRoom, reader: LogReader) -> None:
    isolated.room.recent.drop()
    await reader.load_history(isolated.room)
    assert isolated.room.recent.steps is not None
    assert len(isolated.room.recent.steps.steps) == isolated.room.cursor.index


async def test_a_room_takes_what_a_read_of_its_history_finds_behind_its_end(
    isolated: IsolatedRoom, reader: LogReader
) -> None:
    isolated.append_elsewhere([Detached(seat=1, link="here-2")], "other")
    await reader.load_history(isolated.room)
    assert isolated.room.cursor.end == (len(isolated.log), "other")


async def test_a_history_is_read_on_if_the_room_went_on_meanwhile(
    isolated: IsolatedRoom, log: PaperLog, reader: LogReader
) -> None:
    known = len(isolated.log)
    isolated.room.on_log_slice(isolated.append_elsewhere([Detached(seat=1, link="here-2")], "other"))
    log.read_behind = lambda after: isolated.log[after:known] if not after else isolated.log[after:]
    await reader.load_history(isolated.room)
    assert log.reads == [0, known]
    assert isolated.room.recent.steps is not None


async def test_a_history_that_differs_from_what_was_shown_gives_the_room_up(
    isolated: IsolatedRoom, log: PaperLog, reader: LogReader, rooms: OneOpenRoom
) -> None:
    last = isolated.log[-1]
    other = LogEntry(last.index, "another", last.at_ms, last.event)
    log.read_behind = lambda after: [*isolated.log[:-1], other][after:]
    await reader.load_history(isolated.room)
    assert rooms.given_up == 1


async def test_a_history_of_a_log_that_is_gone_gives_the_room_up(
    isolated: IsolatedRoom, log: PaperLog, reader: LogReader, rooms: OneOpenRoom
) -> None:
    log.read_behind = lambda _: []
    await reader.load_history(isolated.room)
    assert rooms.given_up == 1


def test_two_who_read_the_same_log_wait_for_each_other(reader: LogReader) -> None:
    first = reader.lock("quiet-amber-otter")
    assert isinstance(first, asyncio.Lock)
    assert reader.lock("quiet-amber-otter") is first


def test_a_lock_that_nobody_holds_is_forgotten(reader: LogReader) -> None:
    lock = reader.lock("quiet-amber-otter")
    del lock
    assert "quiet-amber-otter" not in reader._locks
