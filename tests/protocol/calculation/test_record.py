"""A record replays its match; a record that contradicts itself is refused with the place where it does."""

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.match_rules import check_round
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove, RecordedStop
from fairest_protocol.calculation.record_parser import parse_record, read_record
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from tests.support.forging import lines_of, write
from tests.support.races import raced
from tests.support.records import signed_record


def with_event(event: RecordedMove | RecordedStop) -> Record:
    """A record of one round with this event alone."""
    record = signed_record(raced(3))
    return replace(record, rounds=(replace(record.rounds[0], events=(event,)),))


@pytest.fixture
def lines() -> list[str]:
    return list(signed_record(raced(3)).lines())


def test_a_record_read_back_is_the_same(lines: list[str]) -> None:
    assert list(read_record(lines).lines()) == lines


def test_every_line_is_the_shortest_json_of_its_fields(lines: list[str]) -> None:
    assert [json.dumps(json.loads(line), separators=(",", ":")) for line in lines] == lines


def test_replaying_a_record_leads_to_the_boards_of_the_race() -> None:
    table = raced(5, RoomOptions(rules="redeal"), stops=0.02)
    record = signed_record(table)
    *_, (_, race) = record.steps(0)
    assert race == table.state.race


def test_a_move_against_the_rules_is_found_even_if_the_record_was_signed_again() -> None:
    record = signed_record(raced(3))
    (played,) = record.rounds
    first = played.events[0]
    assert isinstance(first, RecordedMove)
    forged = replace(record, rounds=(replace(played, events=(replace(first, move=MOVES["h8"]), *played.events[1:])),))
    with pytest.raises(BadRecord, match=r"round 1, event 1: h8 of seat [12] is against the rules"):
        read_record(list(forged.lines()))


@pytest.mark.parametrize("ending", ["won", "stuck", "stopped", "not_revealed"])
def test_a_stop_with_an_ending_that_nothing_but_moves_or_silence_leads_to_is_refused(ending: str) -> None:
    forged = with_event(RecordedStop(0, (0,), Ending(ending)))
    with pytest.raises(
        BadRecord, match="line 3 is not a line of a record: no server writes a line of type 'stop' like this"
    ):
        parse_record(list(forged.lines()))


@pytest.mark.parametrize("ending", ["out_of_time", "away", "resigned", "round_over"])
def test_a_stop_by_the_clock_by_absence_or_by_leaving_is_parsed(ending: str) -> None:
    record = with_event(RecordedStop(7, (0, 1), Ending(ending)))
    assert parse_record(list(record.lines()))[0] == record


def test_a_stop_of_no_seat_is_refused() -> None:
    forged = with_event(RecordedStop(0, (), Ending.AWAY))
    with pytest.raises(
        BadRecord, match="line 3 is not a line of a record: no server writes a line of type 'stop' like this"
    ):
        parse_record(list(forged.lines()))


@given(st.integers(0, 2**53 - 1), st.sampled_from([0, 1]), st.sampled_from(sorted(MOVES)))
def test_the_line_of_a_move_is_the_json_of_its_fields(at_ms: int, seat: int, move: str) -> None:
    _, _, line, *_ = with_event(RecordedMove(at_ms, seat, MOVES[move])).lines()
    written, _ = line.split(',"chain":')
    fields = {"type": "move", "at_ms": at_ms, "seat": seat, "move": move}
    assert written + "}" == json.dumps(fields, separators=(",", ":"))


def test_a_result_that_the_moves_do_not_lead_to_is_found() -> None:
    record = signed_record(raced(3))
    (played,) = record.rounds
    assert played.outcome is not None
    outcome = replace(played.outcome, winner=1 - (played.outcome.winner or 0))
    with pytest.raises(BadRecord, match="do not lead to the result"):
        read_record(list(replace(record, rounds=(replace(played, outcome=outcome),)).lines()))


def test_a_changed_line_is_named(lines: list[str]) -> None:
    lines[7] = re.sub('"seat":.', '"seat":' + ("1" if '"seat":0' in lines[7] else "0"), lines[7])
    with pytest.raises(BadRecord, match="line 8 is not as it was written"):
        read_record(lines)


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"type":"move"}', '{"type":"match","format":99}', "\x00"])
def test_a_file_that_is_not_a_record_is_refused_with_its_line(broken: str) -> None:
    with pytest.raises(BadRecord, match="line 1"):
        read_record([broken, '{"type":"seal","signature":""}'])


def test_the_format_of_a_certified_match_is_refused_for_another_one(lines: list[str]) -> None:
    with pytest.raises(BadRecord, match="no server writes a line of type 'match' like this"):
        parse_record([lines[0].replace('"format":3', '"format":4'), *lines[1:]])


@pytest.mark.parametrize("number", [2, 6, 99])
def test_a_first_line_of_another_format_is_refused(lines: list[str], number: int) -> None:
    first = lines[0].replace('"format":3', f'"format":{number}')
    with pytest.raises(BadRecord, match="a record starts with a match line of format 3"):
        parse_record([first, *lines[1:]])


@pytest.mark.parametrize("spelling", ['"seat": ', '"seat":0', '"seat":-', '"sea\\u0074":'])
def test_a_line_that_is_spelled_in_another_way_is_refused(lines: list[str], spelling: str) -> None:
    lines[2] = lines[2].replace('"seat":', spelling)
    with pytest.raises(BadRecord, match="line 3 is not a line of a record: no server writes a line of type 'move'"):
        parse_record(lines)


def test_a_time_that_not_every_calendar_can_show_is_refused() -> None:
    forged = with_event(RecordedMove(253370764800001, 0, MOVES["sa"]))
    with pytest.raises(BadRecord, match="line 3 is not a line of a record: the time 253370764800001 is after"):
        parse_record(list(forged.lines()))


def test_a_first_line_of_another_type_is_refused(lines: list[str]) -> None:
    with pytest.raises(BadRecord, match=r"line 1 .* a record starts with a match line"):
        parse_record(lines[1:])


def test_a_match_of_an_even_number_of_rounds_is_refused() -> None:
    record = signed_record(raced(3))
    forged = replace(record.terms, text=record.terms.text.replace("best_of=1", "best_of=2"))
    with pytest.raises(BadRecord, match="best_of cannot be 2"):
        parse_record(list(replace(record, terms=forged).lines()))


@pytest.mark.parametrize("best_of", get_args(RoomOptions.model_fields["best_of"].annotation))
def test_a_match_of_each_length_that_a_room_offers_is_parsed(best_of: int) -> None:
    record = replace(
        signed_record(raced(3)), terms=parse_terms(RoomOptions.model_validate({"best_of": best_of}).resolved().terms())
    )
    assert parse_record(list(record.lines()))[0] == record


def test_an_empty_file_is_not_a_record() -> None:
    with pytest.raises(BadRecord, match="empty"):
        read_record([])


def test_a_cut_record_is_found(lines: list[str]) -> None:
    with pytest.raises(BadRecord):
        read_record(lines[:-5])


@pytest.mark.parametrize("seat", [-1, 2])
def test_a_move_of_a_seat_that_the_race_does_not_have_is_found(seat: int) -> None:
    forged = with_event(RecordedMove(0, seat, MOVES["sa"]))
    with pytest.raises(BadRecord, match=rf"round 1, event 1: seat {seat + 1} is not racing"):
        list(forged.steps(0))


def test_a_move_after_the_end_of_its_race_is_found() -> None:
    record = with_event(RecordedStop(0, (0,), Ending.AWAY))
    (played,) = record.rounds
    events = (*played.events, RecordedMove(0, 0, MOVES["sa"]))
    with pytest.raises(BadRecord, match=r"round 1, event 2: seat 1 is not racing"):
        list(replace(record, rounds=(replace(played, events=events),)).steps(0))


def test_a_race_that_its_events_do_not_end_is_found() -> None:
    with pytest.raises(BadRecord, match="round 1: its moves do not lead to the result that it states"):
        check_round(with_event(RecordedMove(0, 0, MOVES["sa"])), 0)


def test_a_round_that_was_called_off_has_no_race_to_check() -> None:
    record = signed_record(raced(3))
    opened = replace(
        record.rounds[0], entropy_hashes=(None, None), entropies=(None, None), envelopes=(), events=(), outcome=None
    )
    called_off = replace(record, rounds=(opened,))
    check_round(called_off, 0)
    with pytest.raises(BadRecord, match="round 1 ended before its cards were dealt"):
        list(called_off.steps(0))


@pytest.mark.parametrize("at_ms", [2**53, -(2**53)])
def test_a_number_that_not_every_reader_keeps_exact_is_refused(at_ms: int) -> None:
    forged = with_event(RecordedMove(at_ms, 0, MOVES["sa"]))
    with pytest.raises(
        BadRecord, match="line 3 is not a line of a record: no server writes a line of type 'move' like this"
    ):
        parse_record(list(forged.lines()))


@pytest.mark.parametrize(
    "changes",
    [
        {"match_id": "0" * 31},
        {"match_id": "0" * 33},
        {"room": "quiet"},
        {"room": "a-b-c-d-e-f-g"},
        {"names": ("a", "bob")},
        {"names": ("ann", "b" * 21)},
        {"names": ("ann", "bob", "cyd")},
        {"finished_at_ms": True},
        {"finished_at_ms": 1.5},
    ],
)
def test_a_heading_that_no_server_writes_is_refused(changes: dict[str, Any]) -> None:
    forged = replace(signed_record(raced(3)), **changes)
    with pytest.raises(BadRecord, match="line 1 is not a line of a record: no server writes a line of type 'match'"):
        parse_record(list(forged.lines()))


@pytest.mark.parametrize(
    "changes",
    [
        {"room": "a-b"},
        {"room": "a-b-c-d-e-f"},
        {"names": ("an", "B_-9" * 5)},
        {"finished_at_ms": 253370764800000},
    ],
)
def test_a_heading_at_the_limits_of_its_fields_is_parsed(changes: dict[str, Any]) -> None:
    record = replace(signed_record(raced(3)), **changes)
    assert parse_record(list(record.lines()))[0] == record


@pytest.mark.parametrize("seal", ["", "[]", '{"type":"round","signature":""}', '{"type":"seal","signature":"x"}'])
def test_a_last_line_that_is_not_a_seal_is_refused(lines: list[str], seal: str) -> None:
    with pytest.raises(BadRecord, match="the last line does not seal the record"):
        parse_record([*lines[:-1], seal])


def test_a_match_has_the_id_of_its_first_round() -> None:
    forged = replace(signed_record(raced(3)), match_id="0123456789abcdef" * 2)
    with pytest.raises(BadRecord, match="the id of a match is that of its first round"):
        read_record(list(forged.lines()))


def test_a_record_has_a_round() -> None:
    with pytest.raises(BadRecord, match="no round of the match has a result"):
        read_record(list(replace(signed_record(raced(3)), rounds=()).lines()))


def test_lines_that_no_record_can_have_are_not_parsed(lines: list[str]) -> None:
    with pytest.raises(BadRecord, match="there are more than 10000 lines"):
        parse_record([*lines[:-1], *[""] * 10_000, lines[-1]])


def test_a_file_of_one_line_is_not_a_record(lines: list[str]) -> None:
    with pytest.raises(BadRecord, match="there is only one line"):
        parse_record(lines[:1])


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([2**15], None),
        ([2**15 + 1], 1),
        ([9, 2**15 + 1], 2),
        ([9] * 10_000, None),
        ([2**15 - 1] * 128, None),
        ([2**15 - 1] * 127 + [2**15], 128),
        ([2**15 - 1] * 128 + [0], 129),
    ],
    ids=["a long line", "a longer line", "behind another", "many lines", "full", "longer", "a line more"],
)
def test_the_lines_of_a_record_have_32_kibibytes_each_and_four_mebibytes_together(
    lines: list[int], number: int | None
) -> None:
    sentence = "line 1 is not a line of a record" if number is None else f"line {number} is longer than a record can be"
    with pytest.raises(BadRecord, match=f"^{sentence}|^there is only one line"):
        parse_record(["x" * length for length in lines])


@pytest.mark.parametrize("at_ms", [None, 0, 10**9])
def test_a_race_without_credit_is_not_ended_by_the_last_chance_of_a_seat(at_ms: int | None) -> None:
    forged = with_event(RecordedStop(at_ms, (0, 1), Ending.ROUND_OVER))
    with pytest.raises(BadRecord, match="round 1, event 1: these seats are not stopped by round_over"):
        check_round(forged, 0)


@pytest.mark.parametrize(
    ("seats", "ending", "at_ms"),
    [((0,), Ending.OUT_OF_TIME, 5), ((0, 1), Ending.OUT_OF_TIME, None), ((0, 1), Ending.AWAY, 5)],
)
def test_the_clock_stops_all_who_race_and_everything_else_stops_one(
    seats: tuple[int, ...], ending: Ending, at_ms: int | None
) -> None:
    with pytest.raises(BadRecord, match=f"these seats are not stopped by {ending}"):
        check_round(with_event(RecordedStop(at_ms, seats, ending)), 0)


def test_a_match_line_inside_of_a_round_is_refused() -> None:
    first, opened, *rest = lines_of(signed_record(raced(3)))
    with pytest.raises(BadRecord, match="line 3 is not a line of a record: a line of type 'match' stands inside"):
        parse_record(write([first, opened, first, *rest]).splitlines())


def test_a_last_line_of_another_type_is_not_a_seal(lines: list[str]) -> None:
    text = re.sub(r',"chain":"[0-9a-f]{64}"', "", lines[1])
    with pytest.raises(BadRecord, match=r"the last line does not seal the record .a record ends with a line of type"):
        parse_record([*lines[:-1], text])
