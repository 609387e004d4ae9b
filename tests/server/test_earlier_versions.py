"""Files and logs that were written once and stay as they are, so that a change of a format is noticed.

`tests/data/format_3` holds two matches: the record and the receipt of each as its client kept them, and the log as its
server left it in Redis, an entry a line behind a line with the room's code. `tests/data/written_by_9a3feff` holds two
logs of version 0.1.0, at that commit; the records of that version have a format that is no longer read.
"""

import json
from pathlib import Path

import pytest

from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import verify_record
from fairest_cli.text.replay import all_steps
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.value import replace
from fairest_server.room.match_record import record_last_match
from fairest_server.room.steps import fold
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.log_entries import format_event
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.isolated_room import RecordingSubscriber
from tests.support.room_server import serving_room_server

DATA = Path(__file__).parents[1] / "data"
FOLDER = DATA / "format_3"
FOLDERS = (FOLDER, DATA / "written_by_9a3feff")
MATCHES = ("classic", "senior")


def lines_of(match: str, kind: str) -> list[str]:
    return (FOLDER / f"{match}.{kind}.jsonl").read_text().splitlines()


def record_of(match: str) -> Record:
    return read_record(lines_of(match, "record"))


def log_of(match: str, folder: Path = FOLDER) -> tuple[str, list[list[str]]]:
    """The room's code, and of each entry its id, then its fields and their values in turns."""
    first, *rows = map(json.loads, (folder / f"{match}.log.jsonl").read_text().splitlines())
    return first["room"], rows


async def store_log(redis: BatchingRedis, match: str, folder: Path = FOLDER) -> tuple[str, list[list[str]]]:
    """Write the log into Redis as it was found there; return the room's code and the entries."""
    code, rows = log_of(match, folder)
    for entry_id, *fields in rows:
        await redis.xadd(keys.log(code), dict(zip(fields[::2], fields[1::2], strict=True)), id=entry_id)
    return code, rows


@pytest.mark.parametrize("match", MATCHES)
def test_a_record_is_proved(match: str) -> None:
    _, checks = verify_record((FOLDER / f"{match}.record.jsonl").read_text())
    assert list(checks)


@pytest.mark.parametrize("match", MATCHES)
def test_a_record_is_written_as_it_was(match: str) -> None:
    assert list(record_of(match).lines()) == lines_of(match, "record")


@pytest.mark.parametrize("match", MATCHES)
def test_a_record_is_replayed_to_its_result(match: str) -> None:
    record = record_of(match)
    *_, last = record.steps(len(record.rounds) - 1)
    assert last[1].outcome() == record.rounds[-1].outcome
    assert all_steps(record)


@pytest.mark.parametrize("match", MATCHES)
def test_a_receipt_agrees_with_its_record(match: str) -> None:
    assert list(compare_receipt(record_of(match), lines_of(match, "receipt")))


@pytest.mark.parametrize("match", MATCHES)
async def test_a_log_leads_to_the_record_that_was_made_of_it(match: str, redis: BatchingRedis) -> None:
    code, _ = await store_log(redis, match)
    made, kept = record_last_match(code, fold(await Log(redis).read(code))), record_of(match)
    assert made is not None
    assert replace(made, key=kept.key, signature=kept.signature) == kept


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("match", MATCHES)
async def test_the_events_of_a_log_are_written_as_they_were(match: str, folder: Path, redis: BatchingRedis) -> None:
    code, rows = await store_log(redis, match, folder)
    written = [format_event(entry.event).decode() for entry in await Log(redis).read(code)]
    assert written == [row[-1] for row in rows]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("match", MATCHES)
async def test_a_room_is_opened_from_its_log(match: str, folder: Path, redis: BatchingRedis, redis_url: str) -> None:
    code, rows = await store_log(redis, match, folder)
    async with serving_room_server(redis, redis_url) as rooms:
        spectator = RecordingSubscriber("abcd1234-1", "watch")
        room = await rooms.entrance.watch(code, spectator)
        assert room is not None
        assert room.cursor.index == len(rows)
        assert spectator.notes == ["admitted None"]
