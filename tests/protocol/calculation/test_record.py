"""A record replays its match, and is refused with the place where it contradicts itself."""

import json

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.match_record import record_last_match
from tests.support.races import KEY, Table, raced


def recorded(table: Table) -> Record:
    record = record_last_match("quiet-amber-otter", table.steps)
    assert record is not None
    return KEY.sign(record)


@pytest.fixture
def lines() -> list[str]:
    return list(recorded(raced(3)).lines())


def test_a_record_read_back_is_the_same(lines: list[str]) -> None:
    assert list(read_record(lines).lines()) == lines


def test_every_line_is_the_shortest_json_of_what_it_says(lines: list[str]) -> None:
    """Moves are not written by the encoder."""
    assert [json.dumps(json.loads(line), separators=(",", ":")) for line in lines] == lines


def test_replaying_a_record_leads_to_the_boards_of_the_race() -> None:
    table = raced(5, RoomOptions(rules="redeal"), stops=0.02)
    record = recorded(table)
    *_, (_, race) = record.steps(0)
    assert race == table.state.race


def test_a_move_against_the_rules_is_found_even_where_the_record_was_sealed_again() -> None:
    record = recorded(raced(3))
    (played,) = record.rounds
    first = played.events[0]
    assert isinstance(first, RecordedMove)
    forged = replace(record, rounds=(replace(played, events=(replace(first, move=MOVES["h8"]), *played.events[1:])),))
    with pytest.raises(BadRecord, match=r"round 1, event 1: h8 of seat [12] is against the rules"):
        read_record(list(forged.lines()))


def test_a_result_that_the_moves_do_not_lead_to_is_found() -> None:
    record = recorded(raced(3))
    (played,) = record.rounds
    assert played.outcome is not None
    outcome = replace(played.outcome, winner=1 - (played.outcome.winner or 0))
    with pytest.raises(BadRecord, match="do not lead to the result"):
        read_record(list(replace(record, rounds=(replace(played, outcome=outcome),)).lines()))


def test_a_changed_line_is_named(lines: list[str]) -> None:
    lines[7] = lines[7].replace('"seat":', '"seat": ')
    with pytest.raises(BadRecord, match="line 8 is not as it was written"):
        read_record(lines)


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"type":"move"}', '{"type":"match","format":99}', "\x00"])
def test_what_is_no_record_is_refused_with_its_line(broken: str) -> None:
    with pytest.raises(BadRecord, match="line 1"):
        read_record([broken, '{"type":"seal","signature":""}'])


def test_an_empty_file_is_no_record() -> None:
    with pytest.raises(BadRecord, match="empty"):
        read_record([])


def test_a_cut_record_is_found(lines: list[str]) -> None:
    with pytest.raises(BadRecord):
        read_record(lines[:-5])
