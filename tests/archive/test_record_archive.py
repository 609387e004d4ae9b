"""An archive takes only records that prove themselves, and never replaces one by another."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fairest_cli.records.record_check import verify_record
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.value import replace
from fairest_server.archive.places import Folder
from fairest_server.archive.record_archive import RecordArchive, file_name
from fairest_server.archive.record_proof import BrokenRecord
from fairest_server.live.signing import SigningKey
from tests.support.races import KEY, Table
from tests.support.records import file_of, make_record, unsigned_record

RECORD = make_record(1)


@pytest.fixture
def archive(tmp_path: Path) -> RecordArchive:
    return RecordArchive(Folder(tmp_path))


def test_the_file_is_the_one_that_verify_reads(archive: RecordArchive, tmp_path: Path) -> None:
    archive.keep(RECORD.match_id, file_of(RECORD))
    text = (tmp_path / RECORD.match_id[:3] / f"{RECORD.match_id}.jsonl").read_text()
    found, checks = verify_record(text, KEY.public)
    assert len(list(checks)) > 3
    assert found == RECORD


def test_a_record_is_kept_twice_without_harm(archive: RecordArchive) -> None:
    archive.keep(RECORD.match_id, file_of(RECORD))
    archive.keep(RECORD.match_id, file_of(RECORD))
    assert archive.read(RECORD.match_id) == file_of(RECORD)


def test_another_record_of_the_same_match_is_refused(archive: RecordArchive) -> None:
    archive.keep(RECORD.match_id, file_of(RECORD))
    with pytest.raises(BrokenRecord, match="already holds another record of this match"):
        archive.keep(RECORD.match_id, file_of(KEY.sign(replace(RECORD, finished_at_ms=7))))
    assert archive.read(RECORD.match_id) == file_of(RECORD)


def _other_outcome() -> Outcome:
    outcome = RECORD.rounds[0].outcome
    assert outcome is not None
    return replace(outcome, winner=1 - (outcome.winner or 0))


FAULTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "no line feed": (lambda: file_of(RECORD)[:-1], "its last line has no line feed"),
    "cut": (lambda: b"\n".join(file_of(RECORD).split(b"\n")[:9]) + b"\n", "does not seal the record"),
    "not text": (lambda: b"\xff\n", "it is not text: invalid start byte at byte 0"),
    "changed": (lambda: file_of(RECORD).replace(b'"at_ms":', b'"at_ms":1', 1), "chain does not fit"),
    "of another match": (lambda: file_of(make_record(2)), "it is the record of the match"),
    "not signed": (lambda: file_of(replace(RECORD, signature=bytes(64))), "the record is not signed"),
    "signed with another key": (
        lambda: file_of(SigningKey(bytes([1]) * 32).sign(RECORD)),
        "the commitment of round 1 is not signed",
    ),
    "another winner": (
        lambda: file_of(KEY.sign(replace(RECORD, rounds=(replace(RECORD.rounds[0], outcome=_other_outcome()),)))),
        "its moves do not lead to the result",
    ),
    "another envelope": (
        lambda: file_of(
            KEY.sign(replace(RECORD, rounds=(replace(RECORD.rounds[0], envelopes=()),))),
        ),
        "the envelopes of round 1 are not those of its deal",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_record_that_does_not_prove_itself_is_refused(archive: RecordArchive, fault: str) -> None:
    make, sentence = FAULTS[fault]
    with pytest.raises(BrokenRecord, match=sentence):
        archive.keep(RECORD.match_id, make())
    assert archive.read(RECORD.match_id) is None


def test_a_secret_that_was_not_committed_is_refused(archive: RecordArchive) -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0)
    table.let_time_pass()
    table.start()
    table.play(0, "resign")
    made = unsigned_record(table)
    called_off, raced = made.rounds
    record = KEY.sign(replace(made, rounds=(replace(called_off, secret=bytes(32)), raced)))
    with pytest.raises(BrokenRecord, match="the secret of round 1 does not belong to its commitment"):
        archive.keep(record.match_id, file_of(record))


class _Forgetful(Folder):
    """A disk that gives back less than was written."""

    def read(self, name: str) -> bytes | None:
        found = super().read(name)
        return found[:-1] if found else found


def test_a_record_that_does_not_come_back_as_it_was_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(BrokenRecord, match="did not give back what was written"):
        RecordArchive(_Forgetful(tmp_path)).keep(RECORD.match_id, file_of(RECORD))


def test_files_are_spread_by_the_first_digits_of_their_match() -> None:
    assert file_name("0123456789abcdef" * 2) == "012/0123456789abcdef0123456789abcdef.jsonl"
