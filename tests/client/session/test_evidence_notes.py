"""When the connection was up, as the model and the receipt note it."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.records.receipts import Receipt
from fairest_cli.session.evidence_notes import SILENCE_MS, note_drop, note_pong, note_silence
from fairest_protocol.value import replace
from tests.support import staged

NOW = 1_900_000_000_000


@pytest.fixture
def receipt(tmp_path: Path) -> Iterator[Receipt]:
    with closing(Receipt(tmp_path)) as made:
        made.path = tmp_path / "receipt.jsonl"
        yield made


@pytest.fixture
def model() -> KnownRoom:
    """A player in a race, whose connection was last known to be up at `NOW`."""
    racing = staged.racing().model()
    return replace(racing, binding=racing.binding.after_return(NOW))


def lines(receipt: Receipt) -> list[Any]:
    assert receipt.path is not None
    return [json.loads(line) for line in receipt.path.read_text().splitlines()] if receipt.path.exists() else []


def longest_absence_ms(model: KnownRoom) -> int:
    assert model.binding.evidence is not None
    return model.binding.evidence.longest_absence_ms


def with_no_absence(model: KnownRoom) -> KnownRoom:
    assert model.binding.evidence is not None
    evidence = replace(model.binding.evidence, longest_absence_ms=0)
    return replace(model, binding=replace(model.binding, evidence=evidence))


def test_a_connection_that_answers_pings_is_never_away(model: KnownRoom, receipt: Receipt) -> None:
    seen = with_no_absence(model)
    for pong in range(1, 20):
        seen = note_pong(seen, receipt, NOW + pong * 10_000, is_in_room=True)
    assert (longest_absence_ms(seen), lines(receipt)) == (0, [])


def test_a_machine_that_was_asleep_was_away_for_as_long(model: KnownRoom, receipt: Receipt) -> None:
    seen = note_pong(with_no_absence(model), receipt, NOW + 70_000, is_in_room=True)
    assert (longest_absence_ms(seen), seen.binding.down_since_ms) == (70_000, None)


def test_a_sleep_stands_in_the_receipt(model: KnownRoom, receipt: Receipt) -> None:
    note_pong(model, receipt, NOW + 70_000, is_in_room=True)
    dropped = {"at_ms": NOW + 70_000, "dropped": {"alive_ms": NOW}}
    assert lines(receipt) == [dropped, {"at_ms": NOW + 70_000, "returned": {}}]


def test_what_comes_first_after_a_sleep_is_as_old_as_the_sleep(model: KnownRoom) -> None:
    assert note_silence(model, None, NOW + SILENCE_MS + 1).binding.down_since_ms == NOW


def test_a_pong_on_a_socket_that_has_not_shown_the_room_ends_no_absence(model: KnownRoom) -> None:
    dropped = note_drop(model, None, NOW + 1000)
    assert note_pong(dropped, None, NOW + 2000, is_in_room=False).binding.down_since_ms == NOW


def test_bytes_that_were_sent_ahead_of_an_answered_ping_have_arrived_once(model: KnownRoom, receipt: Receipt) -> None:
    assert model.binding.evidence is not None
    revealed = model.binding.evidence.round_id
    seen = note_pong(model, receipt, NOW + 300, is_in_room=True, revealed=revealed)
    again = note_pong(seen, receipt, NOW + 900, is_in_room=True, revealed=revealed)
    assert again.binding.evidence is not None and again.binding.evidence.arrived_ms == NOW + 300
    assert lines(receipt) == [{"at_ms": NOW + 300, "arrived": {"round": revealed.hex()}}]


def test_bytes_of_an_earlier_round_have_not_arrived_in_this_one(model: KnownRoom, receipt: Receipt) -> None:
    seen = note_pong(model, receipt, NOW + 300, is_in_room=True, revealed=bytes(16))
    assert seen.binding.evidence is not None
    assert (seen.binding.evidence.arrived_ms, lines(receipt)) == (None, [])


def test_bytes_that_have_arrived_are_not_taken_back_by_a_drop(model: KnownRoom) -> None:
    assert model.binding.evidence is not None
    seen = note_pong(model, None, NOW + 300, is_in_room=True, revealed=model.binding.evidence.round_id)
    dropped = note_drop(seen, None, NOW + 9000)
    assert dropped.binding.evidence is not None and dropped.binding.evidence.arrived_ms == NOW + 300


def test_an_absence_begins_when_the_connection_was_last_known_to_be_up(model: KnownRoom, receipt: Receipt) -> None:
    first = note_drop(model, receipt, NOW + 9000)
    again = note_drop(first, receipt, NOW + 20_000)
    assert again.binding.down_since_ms == NOW
    assert lines(receipt) == [{"at_ms": NOW + 9000, "dropped": {"alive_ms": NOW}}]
