"""The way of appends to Redis: in batches, each made when its turn comes.

One task collects what writers have to append by then, sends it as one pipeline, and hands out the answers: a round
trip, and an fsync, is paid by the batch. There is no future and no task switch per move.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from protocol.value import value
from server import metrics
from server.faults import report
from server.room.events import Event
from server.store import keys
from server.store.cluster import is_sharded
from server.store.entries import Logged, format_event, parse_entry
from server.store.line import Command, Line
from server.store.scripts import Script

MOST_IN_BATCH: Final = 100
"""Appends that share a round trip. What follows from them is done in one go, 10 to 15 ms: beats get in between."""


class Answer(StrEnum):
    """What became of an append."""

    APPENDED = "appended"
    CONFLICT = "conflict"
    """The log is not where the sender believed."""
    EARLY = "early"
    LATE = "late"
    """Redis' clock is outside the time span given with the append."""
    UNKNOWN = "unknown"
    """Redis did not answer, or there was a fault of ours: the events may stand in the log or not."""


_ANSWERS: Final = {answer.encode(): answer for answer in Answer}


@value
class Reply:
    """What became of an append, and Redis' clock: for `APPENDED` the events' time stamp, for `UNKNOWN` 0.

    With a `CONFLICT` comes what the log has instead, from the entry on that the sender believed to be the last.
    """

    answer: Answer
    now_ms: int = 0
    entries: Sequence[Logged] = ()


_UNKNOWN: Final = Reply(Answer.UNKNOWN)


@value
class Append:
    """Events for one room's log, on the condition that its last index and tag are the expected ones.

    Times are milliseconds on Redis' clock. `look_again_ms` is when the sweep has to look at the room: None leaves that
    as it is, 0 means never. `listing` is the room's new line in the lobby, empty to leave it.
    """

    room: str
    expected: int
    expected_tag: str
    tag: str
    events: Sequence[Event]
    not_before_ms: int = 0
    not_after_ms: int = 0
    look_again_ms: int | None = None
    expire_seconds: int = 0
    is_shared: bool = False
    listing: bytes | None = None


class Writer(Protocol):
    """Who has something to append to a room's log: asked for it when its turn comes, and told what became of it."""

    @property
    def code(self) -> str:
        """The room's."""

    def next_append(self) -> Append | None:
        """What there is to append by now, if anything. A fault in here is answered as `UNKNOWN`."""

    def replied(self, reply: Reply) -> None:
        """What became of it. Must not raise."""


class Lane:
    """The appends that wait for one part of Redis, and the task that sends them, batch by batch."""

    def __init__(self, redis: Redis, line: Line) -> None:
        self._redis = redis
        self._line = line
        self._script: Script | None = None
        self._waiting: deque[Writer] = deque()
        self._wanted: asyncio.Future[None] | None = None
        """Done as soon as somebody waits, or this is closed; None while nobody sleeps."""
        self._is_closing = False

    def enqueue(self, writer: Writer, *, is_first: bool) -> None:
        """Send what this writer has to append with the next batch that has a place, or with the very next one."""
        if is_first:
            self._waiting.appendleft(writer)
        else:
            self._waiting.append(writer)
        self._wake()

    def close(self) -> None:
        """Send what waits, and nothing more."""
        self._is_closing = True
        self._wake()

    async def run(self) -> None:
        """Send batches until closed."""
        while self._waiting or not self._is_closing:
            if not self._waiting:
                self._wanted = asyncio.get_running_loop().create_future()
                await self._wanted
            if batch := self._next_batch():
                since = time.perf_counter()
                replies = await self._deliver([append for _, append in batch])
                metrics.APPEND_SECONDS.add(time.perf_counter() - since)
                metrics.BATCHES.add(len(batch))
                for (writer, _), reply in zip(batch, replies, strict=True):
                    metrics.APPENDS.add(reply.answer)
                    _tell(writer, reply)
        await self._line.close()

    def _wake(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None and not wanted.done():
            wanted.set_result(None)

    def _next_batch(self) -> list[tuple[Writer, Append]]:
        """What those who have waited longest have to append by now."""
        turns = [self._waiting.popleft() for _ in range(min(MOST_IN_BATCH, len(self._waiting)))]
        return [(writer, append) for writer in turns if (append := _ask(writer)) is not None]

    async def _deliver(self, batch: Sequence[Append]) -> list[Reply]:
        """The replies to a batch. Whatever goes wrong, the sender goes on: without it no room of ours would move."""
        try:
            if self._script is None:
                word = "SPUBLISH" if await is_sharded(self._redis) else "PUBLISH"
                self._script = Script("append.lua", head=f"local publish = '{word}'\n")
            replies = await self._line.send([_command("EVALSHA", self._script.sha, append) for append in batch])
            if any(isinstance(reply, NoScriptError) for reply in replies):
                replies = await self._line.send([_command("EVAL", self._script.text, append) for append in batch])
            return [_parse(reply) for reply in replies]
        except (RedisError, OSError):
            return [_UNKNOWN] * len(batch)
        except Exception as fault:
            report("the log", fault)
            return [_UNKNOWN] * len(batch)


def _ask(writer: Writer) -> Append | None:
    """What this writer has to append by now. A fault of ours is its own, and nobody else's of its batch."""
    try:
        return writer.next_append()
    except Exception as fault:
        report("a room", fault, room=writer.code)
        _tell(writer, _UNKNOWN)
        return None


def _tell(writer: Writer, reply: Reply) -> None:
    try:
        writer.replied(reply)
    except Exception as fault:
        report("a room", fault, room=writer.code)


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
        *map(format_event, append.events),
    )
    if append.listing is None:
        return (word, script, 2, keys.log(room), keys.deadlines(number), *arguments)
    return (word, script, 3, keys.log(room), keys.deadlines(number), keys.lobby(number), *arguments)


def _parse(reply: Any) -> Reply:
    """An append's reply; an error in one script's run is no error of the others of its batch."""
    if not isinstance(reply, list):
        return _UNKNOWN
    word, now_ms, *found = reply
    answer = _ANSWERS[word]
    if not found:
        return Reply(answer, int(now_ms))
    try:
        entries = [parse_entry(entry_id, _pairs(fields)) for entry_id, fields in found[0]]
    except ValueError:
        # Whoever reads the log will say what is wrong with it.
        return _UNKNOWN
    return Reply(answer, int(now_ms), entries)


def _pairs(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    """Names and values, which a script's reply has one after the other."""
    return dict(zip(flat[::2], flat[1::2], strict=True))
