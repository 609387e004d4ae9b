"""A record replays its match, and is refused with the place where it contradicts itself."""

import json

import pytest

from protocol.calculation.record import BadRecord, read_record
from protocol.messages.options import RoomOptions
from server.room.recording import record_last_match
from tests.races import raced


@pytest.fixture
def lines() -> list[str]:
    table = raced(3)
    record = record_last_match("quiet-amber-otter", table.steps)
    assert record is not None
    return list(record.lines())


def test_a_record_read_back_is_the_same(lines: list[str]) -> None:
    assert list(read_record(lines).lines()) == lines


def test_replaying_a_record_leads_to_the_boards_of_the_race() -> None:
    table = raced(5, RoomOptions(rules="redeal"), stops=0.02)
    record = record_last_match("quiet-amber-otter", table.steps)
    assert record is not None
    *_, (_, race) = record.steps(0)
    assert race == table.state.race


def test_a_changed_move_is_found(lines: list[str]) -> None:
    place = next(place for place, line in enumerate(lines) if '"move"' in line)
    fields = json.loads(lines[place])
    lines[place] = json.dumps({**fields, "move": "h8"})
    with pytest.raises(BadRecord, match=r"round 1, event 1: h8 of seat [12] is against the rules"):
        read_record(lines)


def test_a_changed_result_is_found(lines: list[str]) -> None:
    fields = json.loads(lines[-1])
    fields["scores"][0]["placed"] += 1
    with pytest.raises(BadRecord, match="do not lead to the result"):
        read_record([*lines[:-1], json.dumps(fields)])


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"type":"move"}', '{"type":"match","format":99}', "\x00"])
def test_what_is_no_record_is_refused_with_its_line(broken: str) -> None:
    with pytest.raises(BadRecord, match="line 1"):
        read_record([broken])


def test_an_empty_file_is_no_record() -> None:
    with pytest.raises(BadRecord, match="empty"):
        read_record([])


def test_a_cut_record_is_found(lines: list[str]) -> None:
    with pytest.raises(BadRecord):
        read_record(lines[:-5])
