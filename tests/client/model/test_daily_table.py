"""The checks of a table that is opened: a forged row, order or record is an alarm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.daily_table import check_own_row, check_row, check_table, score_of
from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.messages.daily import AttemptResult, DailyPage, DailySeal, TableRow
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from tests.protocol.calculation.test_daily_record import make_record

KEY = SigningKey(bytes(32))
RECORD = KEY.sign_attempt(make_record())
SCORES = st.builds(
    AttemptScore, st.booleans(), st.integers(0, 52), st.integers(0, 48), st.integers(min_value=0, max_value=1_200_000)
)


def row_of(score: AttemptScore, rank: int, number: int = 1) -> TableRow:
    return TableRow(
        rank=rank,
        name=f"name{number}",
        attempt=f"{number:032x}",
        won=score.won,
        placed=score.placed,
        direct=score.direct,
        time_ms=score.time_ms,
        from_address=1,
    )


def honest_table(scores: list[AttemptScore]) -> list[TableRow]:
    ordered = sorted(scores, key=lambda score: -score.order)
    return [row_of(score, 1 + ordered.index(score), number) for number, score in enumerate(ordered)]


RECORD_ROW = row_of(RECORD.score, 1).model_copy(update={"attempt": RECORD.attempt, "name": RECORD.name})
PAGE = DailyPage(
    day=RECORD.day,
    rules="classic",
    begins_ms=0,
    ends_ms=1,
    now_ms=2,
    commitment=RECORD.commitment,
    seal=DailySeal(
        round=RECORD.round_id,
        commitment=RECORD.commitment,
        beacon_number=RECORD.beacon_number,
        beacon=RECORD.beacon,
    ),
    begun=1,
    ended=1,
    opened=True,
    secret=RECORD.secret,
    page=0,
    pages=1,
    rows=(RECORD_ROW,),
)


@given(st.lists(SCORES, max_size=20))
def test_an_honest_table_is_in_order(scores: list[AttemptScore]) -> None:
    check_table(honest_table(scores))


@given(st.lists(SCORES, min_size=2, max_size=20, unique_by=lambda score: score.order), st.data())
def test_a_table_with_two_rows_exchanged_is_an_alarm(scores: list[AttemptScore], data: st.DataObject) -> None:
    rows = honest_table(scores)
    first = data.draw(st.integers(0, len(rows) - 2))
    second = data.draw(st.integers(first + 1, len(rows) - 1))
    rows[first], rows[second] = rows[second], rows[first]
    with pytest.raises(Cheated):
        check_table(rows)


@given(st.lists(SCORES, min_size=1, max_size=20), st.data())
def test_a_wrong_rank_is_an_alarm(scores: list[AttemptScore], data: st.DataObject) -> None:
    rows = honest_table(scores)
    place = data.draw(st.integers(0, len(rows) - 1))
    rows[place] = rows[place].model_copy(update={"rank": rows[place].rank + 1})
    with pytest.raises(Cheated):
        check_table(rows)


def test_the_own_row_has_the_score_that_was_shown() -> None:
    rows = honest_table([RECORD.score])
    score = RECORD.score
    result = AttemptResult(
        won=score.won, placed=score.placed, goal=52, direct=score.direct, time_ms=score.time_ms, rank=1, ended=1
    )
    assert score_of(check_own_row(rows, "name0", result)) == score
    for name, shown in (("name1", result), ("name0", result.model_copy(update={"placed": 51}))):
        with pytest.raises(Cheated, match="not in the table"):
            check_own_row(rows, name, shown)


def test_an_honest_record_is_that_of_its_row() -> None:
    check_row(PAGE, RECORD_ROW, RECORD)


@pytest.mark.parametrize(
    ("forged", "problem"),
    [
        (replace(RECORD, name="eve"), "is of another attempt than the table shows"),
        (replace(RECORD, attempt="0" * 32), "is of another attempt than the table shows"),
        (replace(RECORD, score=replace(RECORD.score, placed=52)), "is of another attempt than the table shows"),
        (replace(RECORD, day="2026-11-23"), "is of another deal than the table"),
        (replace(RECORD, beacon_number=8), "is of another deal than the table"),
        (replace(RECORD, secret=bytes(32)), "is of another deal than the table"),
        (replace(RECORD, signature=bytes(64)), "is not signed with the key that it names"),
        (replace(RECORD, moves=()), "is not signed with the key that it names"),
    ],
)
def test_a_record_that_is_not_that_of_its_row_is_an_alarm(forged: DailyRecord, problem: str) -> None:
    with pytest.raises(Cheated, match=problem):
        check_row(PAGE, RECORD_ROW, forged)
