"""The proof of a record in slices: an event loop can serve others in between."""

import pytest

from fairest_protocol.calculation.sliced import finish
from fairest_server.archive.record_proof import BrokenRecord, prove_record, proving_record
from tests.support.records import file_of, make_record


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
