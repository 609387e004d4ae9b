"""The moves of one player alone: replayed by rules and limit, and read from records that anybody may write."""

import pytest

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.timed_moves import (
    TimedMove,
    read_bytes,
    read_moves,
    read_number,
    read_score,
    read_text,
    replay_moves,
)

RULES = VARIANTS["classic"].rules
SEED = bytes(32)
LIMIT_MS = 10_000


def timed(*moves: tuple[int, str]) -> list[TimedMove]:
    return [TimedMove(at_ms, MOVES[text]) for at_ms, text in moves]


def test_moves_lead_to_the_race_that_the_rules_make_of_them() -> None:
    race = start_race(RULES, make_deal(RULES, SEED), seats=1).play(0, MOVES["sa"]).play(0, STOP)
    assert replay_moves(RULES, SEED, timed((5, "sa"), (9, "stop")), LIMIT_MS) == race


def test_no_moves_are_a_race_that_has_just_begun() -> None:
    assert replay_moves(RULES, SEED, [], LIMIT_MS) == start_race(RULES, make_deal(RULES, SEED), seats=1)


def test_two_moves_may_have_one_time_and_the_last_one_that_of_the_limit() -> None:
    assert replay_moves(RULES, SEED, timed((5, "sa"), (5, "sa"), (LIMIT_MS, "stop")), LIMIT_MS).is_over


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ([(5, "sa"), (4, "sa")], "move 2 was made at 4 ms"),
        ([(LIMIT_MS + 1, "stop")], "move 1 was made at 10001 ms"),
        ([(1, "ab")], "move 1, ab, could not be made"),
        ([(1, "stop"), (2, "sa")], "move 2, sa, could not be made"),
        ([(1, "sa"), (2, "resign")], "move 2, resign, could not be made"),
    ],
    ids=("before the one before it", "behind the limit", "from an empty pile", "behind the end", "resign"),
)
def test_a_move_that_cannot_have_been_made_is_named(moves: list[tuple[int, str]], reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        replay_moves(RULES, SEED, timed(*moves), LIMIT_MS)


def test_moves_are_read_with_their_times() -> None:
    assert list(read_moves([[5, "sa"], [9, "stop"]])) == timed((5, "sa"), (9, "stop"))


@pytest.mark.parametrize("move", [[5, "xx"], [5], [5, "sa", 1], ["5", "sa"], [-1, "sa"], [True, "sa"], 5])
def test_a_move_that_is_not_written_as_one_is_refused(move: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        read_moves([move])  # type: ignore[list-item]


def test_a_score_is_read_from_the_fields_of_a_record() -> None:
    fields = {"won": True, "placed": 52, "direct": 30, "time_ms": 1_000, "name": "ann"}
    assert read_score(fields) == AttemptScore(won=True, placed=52, direct=30, time_ms=1_000)


@pytest.mark.parametrize("won", [0, 1, None, "true"])
def test_a_score_that_is_neither_won_nor_lost_is_refused(won: object) -> None:
    with pytest.raises(ValueError, match="true or false"):
        read_score({"won": won, "placed": 0, "direct": 0, "time_ms": 0})


@pytest.mark.parametrize("value", ["ann-bea", "ann\n", "", "Ann"])
def test_a_text_is_the_pattern_as_a_whole(value: str) -> None:
    with pytest.raises(ValueError, match="is not written as"):
        read_text(value, "[a-z]+")


@pytest.mark.parametrize("text", ["00" * 15, "00" * 17, "", "zz" * 16])
def test_bytes_have_the_length_that_is_wanted(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_bytes(text, 16)


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", None])
def test_a_number_is_a_whole_one_from_0(value: object) -> None:
    with pytest.raises(ValueError, match="a number from 0"):
        read_number(value)
