"""The history checker: compares the messages that players and spectators received with the log that is left.

Whatever faults there were, acknowledged moves stand in the log, the log is a legal game with one result for each round,
and each viewer received a part of its own view of that log, in order and without gaps.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fairest_protocol.calculation.match_rules import check_record
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.from_server import Accepted, FromServer, Snapshot, View
from fairest_server.room import view as seen
from fairest_server.room.match_record import record_last_match
from fairest_server.room.projection import project
from fairest_server.room.state import RoomState
from fairest_server.room.steps import LogEntry, Step, fold, from_checkpoint
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client


@dataclass
class ViewerTranscript:
    """The messages that one viewer of a room received, over all its connections. `seat` is None for a spectator."""

    seat: int | None
    received: list[FromServer] = field(default_factory=list)


async def read_steps(redis: BatchingRedis | str, room: str) -> list[Step]:
    """Return the log of a room as it stands in Redis."""
    client = make_client(redis) if isinstance(redis, str) else redis
    try:
        return fold(from_checkpoint(await Log(client).read(room)))
    finally:
        if isinstance(redis, str):
            await client.aclose()


async def read_room(redis: BatchingRedis | str, room: str) -> RoomState:
    """Return the state of a room after the last step of its log."""
    return (await read_steps(redis, room))[-1].after


def check_history(room: str, logged: Sequence[LogEntry], transcripts: Iterable[ViewerTranscript]) -> list[str]:
    """Return the problems of a history, each a sentence; none if it is consistent."""
    try:
        steps = fold(logged)
    except (AssertionError, ValueError) as reason:
        return [f"the log is not a legal game: {reason!r}"]
    problems = [*_check_log(logged), *_check_results(room, steps)]
    for transcript in transcripts:
        problems.extend(_check_transcript(transcript, steps))
    return problems


def _check_log(logged: Sequence[LogEntry]) -> Iterator[str]:
    for place, entry in enumerate(logged, 1):
        if entry.index != place:
            yield f"entry {place} of the log has the index {entry.index}"
    for before, after in itertools.pairwise(logged):
        if after.at_ms < before.at_ms:
            yield f"entry {after.index} of the log is older than the one before"


def _check_results(room: str, steps: Sequence[Step]) -> Iterator[str]:
    """Each round has one result, and its moves lead to that result."""
    finished = [entry for step in steps for entry in _told(step) if isinstance(entry, entries.RoundFinished)]
    opened = [entry for step in steps for entry in _told(step) if isinstance(entry, entries.RoundOpened)]
    if len(finished) > len(opened):
        yield f"{len(finished)} results for {len(opened)} rounds"
    record = record_last_match(room, steps)
    if record is not None:
        try:
            check_record(record)
        except BadRecord as reason:
            yield str(reason)


def _told(step: Step) -> list[Entry]:
    return [decode_entry(entry.text) for entry in project(step).entries]


def _check_transcript(transcript: ViewerTranscript, steps: Sequence[Step]) -> Iterator[str]:
    view = seen.views_of(steps[0].after)[transcript.seat]
    shown: list[Entry] = []
    marks = {view.cursor}
    moves = 0
    most_moves = 0
    for step in steps:
        shown.extend(map(decode_entry, view.reveal(project(step))))
        marks.add(view.cursor)
        if step.after.race is not None and transcript.seat is not None:
            moves = step.after.race.racers[transcript.seat].moves
            most_moves = max(moves, most_moves)
    position = 0
    for message in transcript.received:
        match message:
            case Snapshot(position=position):
                if (position, message.tag) not in marks:
                    yield f"a snapshot at {position} under the tag {message.tag}, of which the log knows nothing"
                elif message.scene != seen.scene(steps[0].after, shown[:position]):
                    yield f"a snapshot at {position} that is not what this viewer may see there"
            case View(position=last, entries=told, first=first):
                if first > position + 1:
                    yield f"a gap: {first} follows {position}"
                if (last, message.tag) not in marks:
                    yield f"entries up to {last} under the tag {message.tag}, of which the log knows nothing"
                elif tuple(shown[first - 1 : last]) != told:
                    yield f"entries {first} to {last} are not those of this viewer's view"
                position = max(position, last)
            case Accepted(number=number) if number > most_moves:
                yield f"move {number} was acknowledged, and the log has {most_moves}"
