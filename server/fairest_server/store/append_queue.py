"""The way of appends to Redis: in batches, each made when its turn comes.

A lane collects what writers have to append by then, sends it in one go, and hands out the answers where they arrive: a
round trip, and an fsync, is paid by the batch. As long as Redis answers there is no task, no coroutine and no future on
that way, neither for a move nor for a batch. Whatever goes wrong on it is done again on a slower one, which knows how.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from fairest_protocol.value import Value
from fairest_server.ops import metrics
from fairest_server.ops.faults import report
from fairest_server.room.events import Event
from fairest_server.room.steps import LogEntry
from fairest_server.store.keys import RoomKeys
from fairest_server.store.log_entries import format_event, parse_entry
from fairest_server.store.redis.batch_connection import BatchConnection, Command
from fairest_server.store.redis.cluster import is_sharded
from fairest_server.store.redis.scripts import Script

MAX_BATCH: Final = 100
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


class Reply(Value):
    """What became of an append, and Redis' clock: for `APPENDED` the events' time stamp, for `UNKNOWN` 0.

    With a `CONFLICT` comes what the log has instead, from the entry on that the sender believed to be the last.
    """

    answer: Answer
    now_ms: int = 0
    entries: Sequence[LogEntry] = ()


_UNKNOWN: Final = Reply(Answer.UNKNOWN)


class Append(Value):
    """Events for one room's log, on the condition that its last index and tag are the expected ones.

    Times are milliseconds on Redis' clock. `next_check_ms` is when the sweep has to look at the room: None leaves that
    as it is, 0 means never. `listing` is the room's new line in the lobby, empty to leave it.
    """

    room: str
    expected: int
    expected_tag: str
    tag: str
    events: Sequence[Event]
    not_before_ms: int = 0
    not_after_ms: int = 0
    next_check_ms: int | None = None
    expire_seconds: int = 0
    is_shared: bool = False
    listing: bytes | None = None


class Writer(Protocol):
    """Who has something to append to a room's log: asked for it when its turn comes, and told what became of it."""

    @property
    def code(self) -> str:
        """The room's."""

    @property
    def keys(self) -> RoomKeys:
        """The room's, made once."""

    def build_append(self) -> Append | None:
        """What there is to append by now, if anything. A fault in here is answered as `UNKNOWN`."""

    def on_append_result(self, reply: Reply) -> None:
        """What became of it. Must not raise."""


Batch = list[tuple[Writer, Command]]
"""Writers, each with its append as keys and arguments of the script that makes it."""


class AppendQueue:
    """The appends that wait for one part of Redis. One batch of them is under way at a time."""

    def __init__(self, redis: Redis, line: BatchConnection) -> None:
        self._redis = redis
        self._connection = line
        self._script: Script | None = None
        self._waiting: deque[Writer] = deque()
        self._batch: Batch = []
        self._since = 0.0
        self._is_busy = False
        """Whether a batch is under way or about to be made."""
        self._retrying: asyncio.Task[None] | None = None
        self._rested: asyncio.Future[None] | None = None
        """Who closes this waits for it: nothing is left to send."""

    def enqueue(self, writer: Writer, *, is_first: bool) -> None:
        """Send what this writer has to append with the next batch that has a place, or with the very next one."""
        if is_first:
            self._waiting.appendleft(writer)
        else:
            self._waiting.append(writer)
        if not self._is_busy:
            self._is_busy = True
            # What is said at the same moment goes with it.
            asyncio.get_running_loop().call_soon(self._send_next)

    async def close(self) -> None:
        """Send what waits, and nothing more. Not to be cancelled: what was sent would be in doubt."""
        if self._is_busy:
            self._rested = asyncio.get_running_loop().create_future()
            await self._rested
        # For ever: who comes now is not sent for any more.
        self._is_busy = True
        await self._connection.close()

    def _send_next(self) -> None:
        """Send the next batch. Without one, rest."""
        if self._waiting and self._send_waiting():
            return
        self._is_busy = False
        if self._rested is not None and not self._rested.done():
            self._rested.set_result(None)

    def _send_waiting(self) -> bool:
        """Send a batch of those who wait; whether there was one."""
        batch: Batch = []
        turns = 0
        while self._waiting and (turns < MAX_BATCH or not batch):
            writer = self._waiting.popleft()
            append = _ask(writer)
            turns += 1
            if append is not None:
                batch.append((writer, append))
        self._batch = batch
        if not batch:
            return False
        self._since = time.perf_counter()
        if not self._try_send():
            self._retry()
        return True

    def _try_send(self) -> bool:
        """Send the batch if there is a connection, which there is nearly always."""
        if self._script is None:
            return False
        sha = self._script.sha
        try:
            return self._connection.try_send([("EVALSHA", sha, *append) for _, append in self._batch], self._answered)
        except Exception as fault:
            report("the log", fault)
            return False

    def _answered(self, replies: Sequence[Any] | RedisError) -> None:
        """What Redis says of the batch. Scripts that did what they should do so once, however often they are run."""
        if isinstance(replies, RedisError):
            self._retry(failures=1)
            return
        parsed: list[Reply] = []
        for reply in replies:
            if isinstance(reply, RedisError):
                self._retry()
                return
            parsed.append(_parse(reply))
        self._dispatch(parsed)

    def _retry(self, failures: int = 0) -> None:
        self._retrying = asyncio.create_task(self._deliver(failures))

    async def _deliver(self, failures: int) -> None:
        """Whatever goes wrong, this lane goes on: without it no room of ours would move."""
        try:
            replies = await self._find_out(failures)
        except (RedisError, OSError):
            replies = [_UNKNOWN] * len(self._batch)
        except Exception as fault:
            report("the log", fault)
            replies = [_UNKNOWN] * len(self._batch)
        self._dispatch(replies)

    async def _find_out(self, failures: int) -> list[Reply]:
        """Send the batch, which failed so often already, over whatever connection there may be.

        Raises RedisError, and OSError.
        """
        if self._script is None:
            word = "SPUBLISH" if await is_sharded(self._redis) else "PUBLISH"
            self._script = Script("append.lua", head=f"local publish = '{word}'\n")
        sha, text = self._script.sha, self._script.text
        replies = await self._connection.send([("EVALSHA", sha, *append) for _, append in self._batch], failures)
        if any(isinstance(reply, NoScriptError) for reply in replies):
            replies = await self._connection.send([("EVAL", text, *append) for _, append in self._batch])
        return [_parse(reply) for reply in replies]

    def _dispatch(self, replies: Sequence[Reply]) -> None:
        """Tell everybody of the batch. The next one is sent before, if somebody waits: Redis need not wait for us."""
        metrics.APPEND_SECONDS.add(time.perf_counter() - self._since)
        metrics.BATCHES.add(len(self._batch))
        batch, self._batch = self._batch, []
        is_sent = bool(self._waiting) and self._send_waiting()
        for (writer, _), reply in zip(batch, replies, strict=True):
            metrics.APPENDS.add(reply.answer)
            _tell(writer, reply)
        if not is_sent:
            self._send_next()


def _ask(writer: Writer) -> Command | None:
    """What this writer has to append by now. A fault of ours is its own, and nobody else's of its batch."""
    try:
        append = writer.build_append()
        return None if append is None else _keys_and_arguments(writer.keys, append)
    except Exception as fault:
        report("a room", fault, room=writer.code)
        _tell(writer, _UNKNOWN)
        return None


def _tell(writer: Writer, reply: Reply) -> None:
    try:
        writer.on_append_result(reply)
    except Exception as fault:
        report("a room", fault, room=writer.code)


def _keys_and_arguments(keys: RoomKeys, append: Append) -> Command:
    """Of the script that makes this append."""
    arguments = (
        append.room,
        append.expected,
        append.expected_tag,
        append.tag,
        append.not_before_ms,
        append.not_after_ms,
        "" if append.next_check_ms is None else append.next_check_ms,
        append.expire_seconds,
        keys.wakeup_channel if append.is_shared else "",
        append.listing or "",
        *map(format_event, append.events),
    )
    if append.listing is None:
        return (2, keys.log, keys.deadlines, *arguments)
    return (3, keys.log, keys.deadlines, keys.lobby, *arguments)


def _parse(reply: Any) -> Reply:
    """An append's reply; an error in one script's run is no error of the others of its batch."""
    if not isinstance(reply, list):
        return _UNKNOWN
    try:
        word, now_ms, *found = reply
        entries = [parse_entry(entry_id, fields) for entry_id, fields in found[0]] if found else ()
        return Reply(_ANSWERS[word], int(now_ms), entries)
    except ValueError:
        # Whoever reads the log will say what is wrong with it.
        return _UNKNOWN
    except Exception as fault:
        report("the log", fault)
        return _UNKNOWN
