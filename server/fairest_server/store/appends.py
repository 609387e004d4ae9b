"""An append, in the words of append.lua, and the reply to it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from redis.exceptions import RedisError

from fairest_protocol.value import Value
from fairest_server.ops import metrics
from fairest_server.ops.faults import report
from fairest_server.ops.metrics import Part
from fairest_server.room.events import Event
from fairest_server.room.steps import LogEntry
from fairest_server.store.keys import RoomKeys
from fairest_server.store.log_entries import format_event, parse_entries
from fairest_server.store.redis.batch_connection import CommandWords
from fairest_server.store.redis.scripts import Script

MAX_TOGETHER: Final = 25
"""Appends of one script, which Redis runs for some 0.4 ms without serving anybody else. A hundred together would cost
2 % less each.
"""


class Answer(StrEnum):
    """The result of an append."""

    APPENDED = "appended"
    CONFLICT = "conflict"
    """The last entry of the log is not the expected one."""
    EARLY = "early"
    """Redis' clock is before `not_before_ms`."""
    LATE = "late"
    """Redis' clock is after `not_after_ms`."""
    FAILED = "failed"
    """Redis answered with an error, or nothing was sent: the events follow no later, and are hardly in the log."""
    UNKNOWN = "unknown"
    """Redis did not answer: the events may be in the log, or follow later, or not."""


metrics.APPENDS.declare(Answer)
_ANSWERS: Final = {answer.encode(): answer for answer in Answer}


class Reply(Value):
    """The result of an append, and Redis' clock in ms: the stamp of what was appended, 0 for `FAILED` and `UNKNOWN`.

    `entries` are given with a `CONFLICT`: all entries of the log from the one that holds the expected last event.
    """

    answer: Answer
    now_ms: int = 0
    entries: Sequence[LogEntry] = ()


FAILED: Final = Reply(Answer.FAILED)
UNKNOWN: Final = Reply(Answer.UNKNOWN)


class Append(Value):
    """Events for one room's log, on the condition that the log's last index and tag are the expected ones.

    Times are milliseconds on Redis' clock; a `not_after_ms` of 0 is any time. `next_check_ms` is when the sweep must
    check the room: None leaves it as it is, 0 means never. `expire_seconds` is how long the log is kept from now on, 0
    for ever. `own_subscriptions` are those of the sender to the room's channel: with more, the entry is published; None
    never publishes it. `listing` is the room's new entry in the lobby: empty to remove it, None to leave it as it is.
    `rounds` are entries for the chain of rounds.
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
    own_subscriptions: int | None = None
    listing: bytes | None = None
    rounds: Sequence[str] = ()


class Words(Value):
    """An append in the words of append.lua.

    All appends of a script have the same `own_subscriptions`. `more_keys` and `more_words` are those that a move does
    not need; only the last append of a script can have them.
    """

    log: str
    words: tuple[str, bytes, int]
    own_subscriptions: int | None
    more_keys: Sequence[str] = ()
    more_words: Sequence[Any] = ()


def words_of(keys: RoomKeys, append: Append) -> Words:
    """Return the words of append.lua for this append. A move needs few of them."""
    index, events, listing, rounds = append.expected, append.events, append.listing, append.rounds
    written = f"{index + len(events)} {append.tag}\n".encode() + b"\n".join(map(format_event, events))
    words = (f"{index} {append.expected_tag}\n", written, append.not_after_ms)
    not_before_ms, next_check_ms, expire_seconds = append.not_before_ms, append.next_check_ms, append.expire_seconds
    if not not_before_ms and next_check_ms is None and not expire_seconds and listing is None and not rounds:
        return Words(keys.log, words, append.own_subscriptions)
    check = "" if next_check_ms is None else next_check_ms
    changed = (() if listing is None else (keys.lobby,)) + ((keys.round_outbox,) if rounds else ())
    more = (append.room, not_before_ms, check, expire_seconds, listing or "", len(rounds), *rounds)
    return Words(keys.log, words, append.own_subscriptions, (keys.deadlines, *changed), more)


def commands_of(script: Script, appends: Sequence[Words], most: int) -> list[CommandWords]:
    """Return EVALSHA for these appends in their order, up to `most` by each command."""
    commands: list[CommandWords] = []
    logs: list[str] = []
    words: list[Any] = []
    for append, following in zip(appends, (*appends[1:], None), strict=True):
        logs.append(append.log)
        words += append.words
        own = append.own_subscriptions
        if append.more_words or len(logs) == most or following is None or following.own_subscriptions != own:
            logs += append.more_keys
            count = len(logs) - len(append.more_keys)
            head = ("EVALSHA", script.sha, len(logs), *logs, count, "" if own is None else own)
            commands.append((*head, *words, *append.more_words))
            logs, words = [], []
    return commands


def results_of(reply: Any) -> Sequence[Any]:
    """Return the results of the appends of one script; none for an error."""
    if isinstance(reply, bytes):
        return reply.split()
    return reply if isinstance(reply, list) else ()


def parse_alone(reply: Any) -> Reply:
    """Return the reply to an append that has a script of its own; an error in its place is `FAILED`."""
    if isinstance(reply, RedisError):
        return FAILED
    results = results_of(reply)
    return parse_result(results[0]) if len(results) == 1 else UNKNOWN


def parse_result(result: Any) -> Reply:
    """Return the reply to an append from its result in that of the script."""
    try:
        if isinstance(result, bytes):
            return Reply(Answer.APPENDED, int(result))
        word, now_ms, *found = result
        entries = parse_entries(found[0]) if found else ()
        return Reply(_ANSWERS[word], int(now_ms), entries)
    except ValueError:
        # An entry of the log cannot be read. The room reads its log next, and reports the error.
        return UNKNOWN
    except Exception as fault:
        report(Part.LOG, fault)
        return UNKNOWN
