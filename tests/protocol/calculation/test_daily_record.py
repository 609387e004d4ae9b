"""The record of an attempt at a daily deal: it proves itself, and every change of it is found."""

import json
from contextlib import nullcontext
from functools import cache
from typing import Any

import pytest

from fairest_protocol.calculation.daily import score_attempt
from fairest_protocol.calculation.daily_record import DailyRecord, is_daily_record, parse_daily_record
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret, hash_daily_round, make_seed
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.value import replace
from tests.support.daily import BEACON, SECRET, careless_moves

RULES = VARIANTS["classic"].rules


@cache
def make_record(day: str = "2026-11-24", drand: tuple[int, bytes] | None = None) -> DailyRecord:
    """Return the record of an attempt; `drand` is the drand round that is the beacon: its number and its signature."""
    number, signature = drand or (7, b"")
    beacon = drand_value(signature) if drand else BEACON
    none: Any = None
    record = DailyRecord(
        "ab" * 16, day, RULES, "ann", SECRET, number, beacon, (), none, bytes(32), bytes(64), signature
    )
    race = start_race(RULES, make_deal(RULES, record.seed), seats=1)
    moves = tuple(TimedMove(100 * number, MOVES[text]) for number, text in enumerate(careless_moves(race), 1))
    for timed in moves:
        race = race.play(0, timed.move)
    return replace(record, moves=moves, score=score_attempt(race, moves[-1].at_ms))


def test_a_record_is_read_as_it_was_written() -> None:
    record = make_record()
    assert is_daily_record(record.text())
    assert parse_daily_record(record.text()) == record


def test_a_record_with_a_drand_round_is_read_as_it_was_written() -> None:
    record = make_record(drand=(7, bytes(range(48))))
    assert '"drand":"000102' in record.text()
    assert parse_daily_record(record.text()) == record


@pytest.mark.parametrize("drand", ["", "00" * 47, "00" * 49, None, 7])
def test_a_drand_round_has_a_signature_of_48_bytes(drand: object) -> None:
    first, second = make_record(drand=(7, bytes(48))).text().splitlines()
    line = json.dumps({**json.loads(first), "drand": drand}, separators=(",", ":"))
    with pytest.raises(BadRecord):
        parse_daily_record(f"{line}\n{second}\n")


def _changed(field: str, value: object) -> str:
    first, second = make_record().text().splitlines()
    fields = json.loads(first)
    assert field in fields, field
    return f"{json.dumps({**fields, field: value}, separators=(',', ':'))}\n{second}\n"


CHANGES: list[tuple[str, object]] = [
    ("placed", 52),
    ("won", True),
    ("won", 0),
    ("direct", 48),
    ("time_ms", 1),
    ("time_ms", -1),
    ("time_ms", 1.5),
    ("secret", "00" * 31),
    ("secret", "00" * 32),
    ("beacon", "00" * 32),
    ("beacon_number", 10**15),
    ("day", "2026-11-25"),
    ("day", "2026-2-30"),
    ("rules", "easy"),
    ("rules", "CLASSIC"),
    ("moves", []),
    ("moves", [[0, "redeal"]]),
    ("moves", [[0, "resign"]]),
    ("moves", [[1_200_001, "stop"]]),
    ("moves", [["0", "stop"]]),
    ("moves", None),
    ("format", 2),
    ("name", None),
    ("attempt", "\u00e9"),
]


def error_of(text: str) -> Exception | None:
    """Return the error that a text is refused with; None if it is read."""
    try:
        parse_daily_record(text)
    except Exception as error:
        return error
    return None


def test_a_record_with_a_changed_field_is_refused() -> None:
    found = [(field, value, error_of(_changed(field, value))) for field, value in CHANGES]
    wrong = {f"{field}: {value!r}": error for field, value, error in found if not isinstance(error, BadRecord)}
    assert wrong == {}


@pytest.mark.parametrize("text", ["", "\n\n", "[]\n[]\n", "{}\n{}\n", '{"type":"attempt",' + "[" * 50_000 + "\n{}\n"])
def test_a_text_that_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(BadRecord):
        parse_daily_record(text)


def test_a_record_in_another_spelling_is_refused() -> None:
    with pytest.raises(BadRecord, match="written"):
        parse_daily_record(
            make_record().text().replace('"type":"attempt","format":1', '"type":"attempt", "format":1', 1)
        )


@pytest.mark.parametrize(
    ("more", "sentence"), [(0, "it is not the record of an attempt"), (1, "the record of an attempt has two lines")]
)
def test_a_text_may_have_64_kibibytes(more: int, sentence: str) -> None:
    text = "{}\n{}\n"
    with pytest.raises(BadRecord, match=f"^{sentence}"):
        parse_daily_record("{" + " " * (2**16 - len(text) + more) + text[1:])


@pytest.mark.parametrize("text", ["{}\n", "{}\n{}\n\n", "{}\n{}"])
def test_a_record_has_two_lines(text: str) -> None:
    with pytest.raises(BadRecord, match=r"^the record of an attempt has two lines$"):
        parse_daily_record(text)


def test_a_record_without_moves_is_one_of_an_attempt_whose_time_ran_out() -> None:
    record = make_record()
    race = start_race(RULES, make_deal(RULES, record.seed), seats=1)
    empty = replace(record, moves=(), score=score_attempt(race, 0))
    assert parse_daily_record(empty.text()).score.time_ms == 1_200_000


@pytest.mark.parametrize("text", ["", '{"type":"tournament_race",', ' {"type":"attempt",', '{"type":"attempts"}'])
def test_another_text_does_not_mean_to_be_one(text: str) -> None:
    assert not is_daily_record(text)


@pytest.mark.parametrize("name", ["ab", "n" * 20])
def test_a_name_at_the_limits_is_read(name: str) -> None:
    record = replace(make_record(), name=name)
    assert parse_daily_record(record.text()) == record


@pytest.mark.parametrize(("field", "value"), [("name", "a"), ("name", "n" * 21), ("attempt", "ab" * 15 + "a")])
def test_a_text_beyond_the_limits_is_refused(field: str, value: str) -> None:
    with pytest.raises(BadRecord, match="is not written as"):
        parse_daily_record(_changed(field, value))


def test_the_deck_of_an_attempt_follows_from_the_secret_the_beacon_and_its_day() -> None:
    record = make_record()
    round_id = hash_daily_round("2026-11-24", "classic")
    assert (record.round_id, record.commitment) == (round_id, commit_secret(round_id, SECRET))
    assert record.seed == make_seed(SECRET, (BEACON, bytes(32)), round_id)


@pytest.mark.parametrize(("at_ms", "is_read"), [(1_200_000, True), (1_200_001, False)])
def test_an_attempt_may_be_stopped_in_the_last_millisecond_of_its_limit(at_ms: int, is_read: bool) -> None:
    record = make_record()
    moves = (*record.moves[:10], TimedMove(at_ms, MOVES["stop"]))
    stopped = replace(record, moves=moves)
    race = start_race(RULES, make_deal(RULES, record.seed), seats=1)
    for timed in moves:
        race = race.play(0, timed.move)
    right = replace(stopped, score=score_attempt(race, at_ms))
    with nullcontext() if is_read else pytest.raises(BadRecord, match=f"^move 11 was made at {at_ms} ms"):
        assert parse_daily_record(right.text()) == right
