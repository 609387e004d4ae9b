"""The proof of a record: what it refuses although it is signed, and in slices, so that others are served in between."""

import json

import pytest

from fairest_protocol.calculation.certified import finding_step
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.sliced import finish
from fairest_protocol.value import replace, replace_in_pair
from fairest_server.archive.record_proof import BrokenRecord, checking_made_record, prove_record, proving_record
from tests.support.certified_records import certified_record, dealt_later, forged_records, names_of_forgeries
from tests.support.forging import Line, lines_of, sound_records, write
from tests.support.long_tests import parametrize_with_long
from tests.support.records import file_of, make_record

KINDS = 23
"""The kinds of match in `sound_records`."""


def prove_lines(lines: list[Line]) -> None:
    """Prove the record of these lines, which are chained and signed here."""
    prove_record(write(lines).encode(), lines[0]["match"])


def with_entropy_hash(record: Record, seat: int, sealed: bytes) -> Record:
    """Return the record with another hash of this seat's entropy in its first round."""
    hashes = replace_in_pair(record.rounds[0].entropy_hashes, seat, sealed)
    first = replace(record.rounds[0], entropy_hashes=hashes)
    return replace(record, rounds=(first, *record.rounds[1:]))


def test_a_proof_in_slices_returns_the_record() -> None:
    record = make_record(1)
    assert finish(proving_record(file_of(record), record.match_id)) == prove_record(file_of(record), record.match_id)


def test_a_proof_pauses_at_each_line_and_at_each_event() -> None:
    record = make_record(2)
    slices = sum(1 for _ in proving_record(file_of(record), record.match_id))
    events = sum(len(played.events) for played in record.rounds)
    assert slices >= 2 * events


def test_a_proof_in_slices_refuses_a_changed_record() -> None:
    record = make_record(3)
    content = file_of(record).replace(b'"seat":0', b'"seat":1', 1)
    with pytest.raises(BrokenRecord, match="chain does not fit"):
        finish(proving_record(content, record.match_id))


@parametrize_with_long("number", range(KINDS), quick=8)
def test_a_sound_record_of_every_kind_is_proved(number: int) -> None:
    prove_lines(sound_records()[number])


def test_each_kind_of_record_has_its_case() -> None:
    assert len(sound_records()) == KINDS


def test_the_sound_record_of_a_certified_match_is_proved() -> None:
    prove_lines(certified_record())


@pytest.mark.parametrize("seat", [0, 1])
def test_an_entropy_that_does_not_belong_to_its_hash_is_refused_although_it_is_signed(seat: int) -> None:
    forged = with_entropy_hash(make_record(4), seat, bytes(32))
    with pytest.raises(BrokenRecord, match=f"the entropy of seat {seat} in round 1 does not belong to its hash"):
        prove_lines(lines_of(forged))


def test_an_entropy_that_belongs_to_the_hash_of_the_other_seat_is_refused() -> None:
    record = make_record(4)
    other = record.rounds[0].entropy_hashes[1]
    assert other is not None
    with pytest.raises(BrokenRecord, match="the entropy of seat 0"):
        prove_lines(lines_of(with_entropy_hash(record, 0, other)))


def test_a_lone_entropy_of_a_round_that_was_not_dealt_has_to_belong_to_its_hash_too() -> None:
    """Only one of the two players has revealed."""
    lines = next(each for each in sound_records() if [None, str] == _kinds_of_entropies(each))
    prove_lines(lines)
    round_ = next(line for line in lines if line["type"] == "round")
    round_["entropy_hashes"][1] = "00" * 32
    with pytest.raises(BrokenRecord, match="the entropy of seat 1 in round 1"):
        prove_lines(lines)


def _kinds_of_entropies(lines: list[Line]) -> list[type | None]:
    entropies = next(line for line in lines if line["type"] == "round")["entropies"]
    return [None if each is None else type(each) for each in entropies]


@pytest.mark.parametrize("seat", [0, 1])
def test_an_entropy_that_does_not_belong_to_its_hash_is_refused_in_a_record_that_this_process_made(seat: int) -> None:
    made = with_entropy_hash(make_record(5), seat, bytes(32))
    with pytest.raises(BrokenRecord, match=f"the entropy of seat {seat} in round 1"):
        finish(checking_made_record(made, made.key))


def test_a_record_that_this_process_made_is_accepted() -> None:
    made = make_record(5)
    finish(checking_made_record(made, made.key))


def test_a_certified_round_that_was_dealt_at_a_later_step_is_refused() -> None:
    """All else of the record follows from that step."""
    with pytest.raises(BrokenRecord, match="round 1 was dealt at step 2 and not at step 1"):
        prove_lines(dealt_later())


@pytest.mark.parametrize("forgery", names_of_forgeries())
def test_a_forged_certified_record_is_refused(forgery: str) -> None:
    content = forged_records()[forgery]
    with pytest.raises(BrokenRecord):
        prove_record(content.encode(), json.loads(content.partition("\n")[0])["match"])


def test_the_search_for_a_step_pauses() -> None:
    content = write(certified_record()).encode()
    record = prove_record(content, certified_record()[0]["match"])
    searched = sum(sum(1 for _ in finding_step(record.rules, each.round_seed)) for each in record.rounds)
    read = sum(len(each.events) for each in record.rounds)
    assert sum(1 for _ in proving_record(content, record.match_id)) >= searched + 2 * read
