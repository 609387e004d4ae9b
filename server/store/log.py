"""The logs of rooms on Redis: appended in batches, read from any index.

An append is a value with a callback, made when its turn comes. One task collects what rooms have to append by then,
sends it as one pipeline, and hands out the answers: a round trip, and an fsync, is paid by the batch. There is no
future and no task switch per move.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

from pydantic import ConfigDict, TypeAdapter
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from protocol.calculation.moves import MOVES
from protocol.messages.codec import encode
from server import metrics
from server.faults import contained, report
from server.room.events import Event, Played, Told
from server.room.evolve import evolve
from server.room.news import Step
from server.room.state import RoomState
from server.store import keys
from server.store.client import Command, Line, lines
from server.store.cluster import is_sharded
from server.store.scripts import Script

MOST_IN_BATCH: Final = 100
"""Appends that share a round trip. What follows from them is done in one go, about 10 ms: beats get in between."""
_TOLD: Final = TypeAdapter[Told](Told, config=ConfigDict(hide_input_in_errors=True))
"""What cannot be read is logged: without what stood there, which may be a secret."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One event as it stands in a log: its index from 1, its append's tag, Redis' time stamp."""

    index: int
    tag: str
    at_ms: int
    event: Event


@dataclass(frozen=True, slots=True)
class Tail:
    """Entries that stand together in a log, and the tag of the entry before them: empty at the beginning."""

    after_tag: str
    entries: Sequence[Logged]


class Answer(StrEnum):
    """What became of an append."""

    APPENDED = "appended"
    CONFLICT = "conflict"
    """The log is not where the sender believed: read it and decide again."""
    EARLY = "early"
    LATE = "late"
    """Redis' clock is outside the time span given with the append."""
    UNKNOWN = "unknown"
    """Redis did not answer: the events may stand in the log or not."""


_ANSWERS: Final = {answer.encode(): answer for answer in Answer}


class Append(NamedTuple):
    """Events for one room's log, on the condition that its last index and tag are the expected ones.

    Times are milliseconds on Redis' clock. `look_again_ms` is when the sweep has to look at the room: None leaves that
    as it is, 0 means never. `listing` is the room's new line in the lobby, empty to leave it.
    `done` is called with the answer and Redis' clock (for `APPENDED` the events' time stamp);
    it must not raise.
    """

    room: str
    expected: int
    expected_tag: str
    tag: str
    events: Sequence[Event]
    done: Callable[[Answer, int], None]
    not_before_ms: int = 0
    not_after_ms: int = 0
    look_again_ms: int | None = None
    expire_seconds: int = 0
    is_shared: bool = False
    listing: bytes | None = None


class Log:
    """All rooms' logs on one Redis. Appends are sent within `sending`.

    Each part of Redis that may be away on its own has a lane of its own: a single Redis is one, a Cluster has one for
    each bucket.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lanes = [_Lane(redis, line) for line in lines(redis)]

    def append(self, room: str, make: Callable[[], Append | None]) -> None:
        """Send what `make` gives, if anything, with the next batch that has a place; it is called just before that.

        At most one append per room waits at any time, so rooms are the limit.
        """
        lane = 0 if len(self._lanes) == 1 else keys.bucket(room)
        self._lanes[lane].append(room, make)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Send batches for as long as the context lasts; what still waits at its end is sent before it ends.

        The tasks that send are told to stop and never cancelled: a write that is cut off half-way leaves its sender
        in doubt, and its connection unusable.
        """
        senders = [asyncio.create_task(lane.run()) for lane in self._lanes]
        try:
            yield
        finally:
            for lane in self._lanes:
                lane.close()
            await asyncio.gather(*senders)

    async def read(self, room: str, after: int = 0) -> list[Logged]:
        """The entries of a room's log behind this index; empty for a room that does not exist.

        Raises RedisError, and ValueError for a log that is none. Safe to cancel.
        """
        found = await self._redis.xrange(keys.log(room), min=f"({after}-0")
        return [_parse(entry_id, fields) for entry_id, fields in cast("list[tuple[bytes, dict[bytes, bytes]]]", found)]

    async def last_marks(self, rooms: Sequence[str]) -> list[tuple[int, str] | None]:
        """Index and tag of the last entry of each of these rooms' logs, 0 where there is none. Raises RedisError.

        None for a room on a node of a Cluster that is away.
        """
        pipeline = self._redis.pipeline(transaction=False)
        for room in rooms:
            pipeline.xrevrange(keys.log(room), count=1)
        return [_mark(found) for found in await pipeline.execute(raise_on_error=False)]

    async def due_rooms(self, overdue_ms: int) -> list[str]:
        """Rooms that somebody should have looked at this long ago. Raises RedisError.

        Those on a node of a Cluster that is away are left out.
        """
        latest = await self.now_ms() - overdue_ms
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(keys.BUCKETS):
            pipeline.zrangebyscore(keys.deadlines(number), "-inf", latest, start=0, num=100)
        found = cast("list[list[bytes] | Exception]", await pipeline.execute(raise_on_error=False))
        return [room.decode() for bucket in found if isinstance(bucket, list) for room in bucket]

    async def put_off(self, room: str, seconds: int) -> None:
        """Let nobody look at this room for so long. Raises RedisError."""
        look_again_ms = await self.now_ms() + seconds * 1000
        await self._redis.zadd(keys.deadlines(keys.bucket(room)), {room: look_again_ms}, xx=True)

    async def forget(self, room: str) -> None:
        """Drop a room without a log from the deadlines and the lobby. Raises RedisError."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zrem(keys.deadlines(keys.bucket(room)), room)
        pipeline.hdel(keys.lobby(keys.bucket(room)), room)
        await pipeline.execute()

    async def now_ms(self) -> int:
        """Redis' clock. Raises RedisError."""
        seconds, microseconds = await self._redis.time()
        return seconds * 1000 + microseconds // 1000


class _Lane:
    """The appends that wait for one part of Redis, and the task that sends them, batch by batch."""

    def __init__(self, redis: Redis, line: Line) -> None:
        self._redis = redis
        self._line = line
        self._script: Script | None = None
        self._waiting: list[tuple[str, Callable[[], Append | None]]] = []
        self._wanted = asyncio.Event()
        self._is_closing = False

    def append(self, room: str, make: Callable[[], Append | None]) -> None:
        """Send what `make` gives with the next batch that has a place."""
        self._waiting.append((room, make))
        self._wanted.set()

    def close(self) -> None:
        """Send what waits, and nothing more."""
        self._is_closing = True
        self._wanted.set()

    async def run(self) -> None:
        """Send batches until closed."""
        while self._waiting or not self._is_closing:
            await self._wanted.wait()
            self._wanted.clear()
            if batch := self._next_batch():
                since = time.perf_counter()
                answers = await self._deliver(batch)
                metrics.APPEND_SECONDS.observe(time.perf_counter() - since)
                metrics.BATCHES.observe(len(batch))
                self._hand_out(batch, answers)
        await self._line.close()

    def _next_batch(self) -> list[Append]:
        """What those who have waited longest have to append by now."""
        turns, self._waiting = self._waiting[:MOST_IN_BATCH], self._waiting[MOST_IN_BATCH:]
        batch: list[Append] = []
        for room, make in turns:
            try:
                append = make()
            except Exception as fault:
                report("a room", fault, room=room)
            else:
                if append is not None:
                    batch.append(append)
        if self._waiting:
            self._wanted.set()
        return batch

    def _hand_out(self, batch: Sequence[Append], answers: Sequence[tuple[Answer, int]]) -> None:
        counts: dict[Answer, int] = {}
        for append, (answer, now_ms) in zip(batch, answers, strict=True):
            counts[answer] = counts.get(answer, 0) + 1
            try:
                append.done(answer, now_ms)
            except Exception as fault:
                report("a room", fault, room=append.room)
        for answer, count in counts.items():
            metrics.APPENDS_ANSWERED(answer).inc(count)

    async def _deliver(self, batch: Sequence[Append]) -> list[tuple[Answer, int]]:
        """The answers to a batch. Whatever goes wrong, the sender goes on: without it no room of ours would move."""
        with contained("the log"):
            return await self._send(batch)
        return [(Answer.UNKNOWN, 0)] * len(batch)

    async def _send(self, batch: Sequence[Append]) -> list[tuple[Answer, int]]:
        try:
            if self._script is None:
                word = "SPUBLISH" if await is_sharded(self._redis) else "PUBLISH"
                self._script = Script("append.lua", head=f"local publish = '{word}'\n")
            replies = await self._line.send([_command("EVALSHA", self._script.sha, append) for append in batch])
            if any(isinstance(reply, NoScriptError) for reply in replies):
                replies = await self._line.send([_command("EVAL", self._script.text, append) for append in batch])
        except (RedisError, OSError):
            return [(Answer.UNKNOWN, 0)] * len(batch)
        return [_answer(reply) for reply in replies]


def _command(word: str, script: str, append: Append) -> Command:
    """The script's run that makes this append."""
    room = append.room
    number = keys.bucket(room)
    arguments = (
        room,
        append.expected,
        append.expected_tag,
        append.tag,
        append.not_before_ms,
        append.not_after_ms,
        "" if append.look_again_ms is None else append.look_again_ms,
        append.expire_seconds,
        keys.wake(room) if append.is_shared else "",
        append.listing or "",
        *map(_format, append.events),
    )
    if append.listing is None:
        return (word, script, 2, keys.log(room), keys.deadlines(number), *arguments)
    return (word, script, 3, keys.log(room), keys.deadlines(number), keys.lobby(number), *arguments)


def fold(entries: Sequence[Logged]) -> list[Step]:
    """A whole log, from its first entry on, as steps."""
    steps: list[Step] = []
    before: RoomState | None = None
    for logged in entries:
        after = evolve(before, logged.event, logged.at_ms)
        steps.append(Step(before, logged.event, logged.at_ms, after, logged.tag))
        before = after
    return steps


def _answer(reply: Any) -> tuple[Answer, int]:
    """An append's reply; an error in one script's run is no error of the others of its batch."""
    if not isinstance(reply, list):
        return Answer.UNKNOWN, 0
    word, now_ms = reply
    return _ANSWERS[word], int(now_ms)


def _format(event: Event) -> bytes:
    """Events as JSON, but for moves, which are nearly all there is: the seat's digit and the move's text."""
    return f"{event.seat}{event.move.text}".encode() if isinstance(event, Played) else encode(event)


def _parse_event(text: bytes) -> Event:
    if text.startswith(b"{"):
        return _TOLD.validate_json(text)
    move = MOVES.get(text[1:].decode())
    if move is None:
        raise ValueError("an event that is no JSON is a move")
    return Played(seat=1 if text[:1] == b"1" else 0, move=move)


def _mark(found: list[tuple[bytes, dict[bytes, bytes]]] | Exception) -> tuple[int, str] | None:
    if isinstance(found, Exception):
        return None
    return (_index(found[0][0]), found[0][1][b"g"].decode()) if found else (0, "")


def _index(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])


def _parse(entry_id: bytes, fields: dict[bytes, bytes]) -> Logged:
    try:
        tag, at_ms, event = fields[b"g"], fields[b"t"], fields[b"e"]
    except KeyError:
        raise ValueError("an entry has a tag, a time and an event") from None
    return Logged(_index(entry_id), tag.decode(), int(at_ms), _parse_event(event))


def parse_wake(payload: bytes) -> Tail:
    """What a wake-up carries: `append.lua` packed it."""
    first, after_tag, tag, at_ms, events = json.loads(payload)
    entries = [
        Logged(int(first) + offset, tag, int(at_ms), _parse_event(text.encode())) for offset, text in enumerate(events)
    ]
    return Tail(after_tag, entries)
