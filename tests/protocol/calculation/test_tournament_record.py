"""The record of a race in a tournament: it proves itself, and every change of it is found."""

import json
from typing import Any

import pytest

from fairest_protocol.calculation.daily import AttemptScore, score_attempt
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret, hash_tournament_round
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.calculation.tournament import MOST_PLAYERS
from fairest_protocol.calculation.tournament_record import (
    TournamentRecord,
    is_tournament_record,
    parse_tournament_record,
)
from fairest_protocol.value import replace
from tests.support.daily import careless_moves

RULES = VARIANTS["classic"].rules
LIMIT_SECONDS = 600
ENTROPIES = (("ann", bytes([1]) * 32), ("bob", bytes([2]) * 32))


def make_record(moves: int = 1_000, **changes: Any) -> TournamentRecord:
    """Return the unsigned record of a careless player, after up to `moves` moves and, before the end, `stop`.

    With `changes` of what makes the deck, the race is one on that other deck.
    """
    record = TournamentRecord(
        tournament=bytes(range(16)),
        code="quiet-green-heron",
        number=2,
        rules=RULES,
        limit_seconds=LIMIT_SECONDS,
        name="ann",
        secret=bytes(range(32)),
        entropies=ENTROPIES,
        moves=(),
        score=AttemptScore(won=False, placed=0, direct=0, time_ms=0),
        key=bytes(32),
        signature=bytes(64),
    )
    record = replace(record, **changes)
    race = start_race(RULES, make_deal(RULES, record.seed), seats=1)
    texts = careless_moves(race, moves)
    for text in texts:
        race = race.play(0, MOVES[text])
    if not race.is_over:
        texts, race = [*texts, "stop"], race.play(0, MOVES["stop"])
    timed = tuple(TimedMove(100 * number, MOVES[text]) for number, text in enumerate(texts, 1))
    return replace(record, moves=timed, score=score_attempt(race, timed[-1].at_ms, LIMIT_SECONDS * 1000))


RECORD = make_record()


def without_end() -> TournamentRecord:
    """Return the record of a race that its time has ended."""
    race = make_record(10)
    return replace(race, moves=race.moves[:-1], score=replace(race.score, time_ms=LIMIT_SECONDS * 1000))


@pytest.mark.parametrize("record", [RECORD, make_record(0), without_end()], ids=("whole", "stop only", "out of time"))
def test_a_record_is_read_as_it_was_written(record: TournamentRecord) -> None:
    assert parse_tournament_record(record.text()) == record


def test_a_record_says_what_it_is() -> None:
    assert is_tournament_record(RECORD.text())


@pytest.mark.parametrize("text", ["", '{"type":"attempt","format":1}', '{"type":"header"}', "tournament_race"])
def test_another_text_does_not_mean_to_be_one(text: str) -> None:
    assert not is_tournament_record(text)


def test_the_commitment_is_that_of_the_round_with_its_number() -> None:
    assert RECORD.commitment == commit_secret(hash_tournament_round(bytes(range(16)), 2), bytes(range(32)))


@pytest.mark.parametrize(
    "changed",
    [
        replace(RECORD, number=3),
        replace(RECORD, tournament=bytes(16)),
        replace(RECORD, secret=bytes(32)),
        replace(RECORD, entropies=(ENTROPIES[0], ("bob", bytes(32)))),
        replace(RECORD, entropies=(ENTROPIES[0], ("bob2", bytes([2]) * 32))),
        replace(RECORD, entropies=(*ENTROPIES, ("eve", bytes(32)))),
    ],
    ids=("round", "tournament", "secret", "bytes", "name", "one more"),
)
def test_the_deck_depends_on_all_that_makes_it(changed: TournamentRecord) -> None:
    assert changed.seed != RECORD.seed


def _changed(field: str, value: object) -> str:
    first, second = RECORD.text().splitlines()
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
    ("tournament", "00" * 15),
    ("tournament", "00" * 16),
    ("code", "Quiet"),
    ("round", 3),
    ("round", 2**16),
    ("rules", "CLASSIC"),
    ("rules", "chess"),
    ("name", None),
    ("limit_seconds", 0),
    ("limit_seconds", 1),
    ("limit_seconds", 7_201),
    ("name", "eve"),
    ("secret", "00" * 31),
    ("secret", "00" * 32),
    ("entropies", []),
    ("entropies", [["ann", "01" * 32]]),
    ("entropies", [["bob", "02" * 32], ["ann", "01" * 32]]),
    ("entropies", [["ann", "01" * 32], ["ann", "01" * 32], ["bob", "02" * 32]]),
    ("entropies", None),
    ("moves", []),
    ("moves", [[0, "redeal"]]),
    ("moves", [[0, "resign"]]),
    ("moves", [[600_001, "stop"]]),
    ("moves", [["0", "stop"]]),
    ("moves", None),
    ("format", 2),
    ("key", "00" * 31),
    ("key", "0" * 63 + "G"),
]


def error_of(text: str) -> Exception | None:
    """Return the error that a text is refused with; None if it is read."""
    try:
        parse_tournament_record(text)
    except Exception as error:
        return error
    return None


def test_a_record_with_a_changed_field_is_refused() -> None:
    found = [(field, value, error_of(_changed(field, value))) for field, value in CHANGES]
    wrong = {f"{field}: {value!r}": error for field, value, error in found if not isinstance(error, BadRecord)}
    assert wrong == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 0},
        {"limit_seconds": 7_201},
        {"name": "a", "entropies": (("a", bytes(32)), ("bob", bytes(32)))},
        {"entropies": (*ENTROPIES, ("e\u00f6e", bytes(32)))},
        {"entropies": (("ann", bytes(31)), ("bob", bytes(32)))},
        {"entropies": (ENTROPIES[1], ENTROPIES[0])},
        {"entropies": (*ENTROPIES, ENTROPIES[1])},
        {"entropies": (ENTROPIES[1],)},
    ],
    ids=(
        "round 0",
        "limit",
        "short name",
        "odd name",
        "short bytes",
        "order",
        "twice",
        "without the player",
    ),
)
def test_a_race_on_a_deck_that_no_tournament_makes_is_refused(changes: dict[str, Any]) -> None:
    record = make_record(**changes)
    with pytest.raises(BadRecord):
        parse_tournament_record(record.text())


def test_a_record_without_one_of_its_moves_is_refused() -> None:
    with pytest.raises(BadRecord, match="the moves lead to"):
        parse_tournament_record(replace(RECORD, moves=RECORD.moves[:-1]).text())


def test_a_record_with_more_entropies_than_a_tournament_has_players_is_refused() -> None:
    many = tuple((f"bob-{number:03}", bytes(32)) for number in range(MOST_PLAYERS))
    with pytest.raises(BadRecord, match="the entropies are not"):
        replace(RECORD, entropies=(ENTROPIES[0], *many)).check()


@pytest.mark.parametrize(
    "text", ["", "\n\n", "[]\n[]\n", "{}\n{}\n", '{"type":"tournament_race","moves":' + "[" * 50_000 + "\n{}\n"]
)
def test_a_text_that_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(BadRecord):
        parse_tournament_record(text)


def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadRecord, match="two lines"):
        parse_tournament_record(RECORD.text() + " " * 10_000_000)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"format":1', '"format": 1'),
        ('{"type":"seal",', '{"type":"seal","more":1,'),
        ('"format":1', '"format":1,"format":1'),
    ],
    ids=("a space", "a field more", "a field twice"),
)
def test_a_record_in_another_spelling_is_refused(right: str, wrong: str) -> None:
    assert right in RECORD.text()
    with pytest.raises(BadRecord, match="written"):
        parse_tournament_record(RECORD.text().replace(right, wrong, 1))


@pytest.mark.parametrize(("number", "limit_seconds"), [(1, 600), (2**16 - 1, 600), (2, 7_200)])
def test_a_record_at_the_limits_of_its_numbers_is_read(number: int, limit_seconds: int) -> None:
    record = make_record(number=number, limit_seconds=limit_seconds)
    assert parse_tournament_record(record.text()) == record


def test_a_race_may_have_a_limit_of_one_second() -> None:
    record = make_record(0, limit_seconds=1)
    assert parse_tournament_record(record.text()) == record


@pytest.mark.parametrize(
    ("field", "value"), [("round", 0), ("round", 2**16), ("limit_seconds", 0), ("limit_seconds", 7_201)]
)
def test_a_number_that_no_tournament_has_is_named(field: str, value: int) -> None:
    with pytest.raises(BadRecord, match="there is no such round, or no such limit"):
        parse_tournament_record(_changed(field, value))


def test_a_tournament_of_as_many_players_as_it_may_have_is_checked() -> None:
    many = tuple((f"bob-{number:03}", bytes(32)) for number in range(MOST_PLAYERS - 1))
    make_record(0, entropies=(ENTROPIES[0], *many)).check()


@pytest.mark.parametrize("code", ["a-b", "a-b-c-d-e-f"])
def test_a_tournament_has_a_code_of_two_to_six_words(code: str) -> None:
    record = make_record(0, code=code)
    assert parse_tournament_record(record.text()) == record


@pytest.mark.parametrize("code", ["a", "a-b-c-d-e-f-g"])
def test_a_code_of_fewer_or_more_words_is_not_one_of_a_tournament(code: str) -> None:
    with pytest.raises(BadRecord, match="is not written as"):
        parse_tournament_record(make_record(0, code=code).text())


@pytest.mark.parametrize(
    ("more", "sentence"),
    [(0, "it is not the record of a race"), (1, "the record of a race in a tournament has two lines")],
)
def test_a_text_may_have_64_kibibytes(more: int, sentence: str) -> None:
    text = "{}\n{}\n"
    with pytest.raises(BadRecord, match=f"^{sentence}"):
        parse_tournament_record("{" + " " * (2**16 - len(text) + more) + text[1:])


def test_an_unsigned_record_has_neither_key_nor_signature() -> None:
    fields = {name: getattr(RECORD, name) for name in TournamentRecord.__struct_fields__[:10]}
    record = TournamentRecord(**fields)
    assert (record.key, record.signature) == (b"", b"")


def stopped_at(at_ms: int) -> TournamentRecord:
    """Return the record of a race that its player stopped at this time."""
    stopped = make_record(10)
    moves = (*stopped.moves[:-1], TimedMove(at_ms, MOVES["stop"]))
    return replace(stopped, moves=moves, score=replace(stopped.score, time_ms=min(at_ms, LIMIT_SECONDS * 1000)))


def test_a_race_may_be_stopped_in_the_last_millisecond_of_its_limit() -> None:
    record = stopped_at(600_000)
    assert parse_tournament_record(record.text()) == record


def test_a_move_behind_the_limit_cannot_have_been_made() -> None:
    with pytest.raises(BadRecord, match=r"^move 11 was made at 600001 ms, which cannot be"):
        parse_tournament_record(stopped_at(600_001).text())
