"""The row of a finished match: what it says, and which matches have none."""

import pytest

from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_server.room.finished_match import list_match
from fairest_server.room.match_record import record_last_match
from tests.support.races import Table, race_match, raced
from tests.support.records import unsigned_record

LISTED = RoomOptions(listed=True)


def test_a_row_has_the_result_of_the_record() -> None:
    record = unsigned_record(raced(3, LISTED))
    outcome = record.rounds[-1].outcome
    assert outcome is not None
    row = list_match(record)
    assert row is not None
    assert (row.match, row.names, row.winner) == (record.match_id, record.names, outcome.winner)
    assert row.placed == tuple(score.placed for score in outcome.scores)


def test_a_row_counts_the_rounds_that_each_seat_won() -> None:
    table = Table(4, RoomOptions(listed=True, best_of=3))
    table.start()
    race_match(table)
    record = record_last_match("quiet-amber-otter", table.steps)
    assert record is not None
    row = list_match(record)
    assert row is not None
    winners = [played.outcome.winner for played in record.rounds if played.outcome]
    assert row.wins == (winners.count(0), winners.count(1))
    assert row.winner == (0 if row.wins[0] > row.wins[1] else 1 if row.wins[1] > row.wins[0] else None)


@pytest.mark.parametrize("winner", [0, 1])
def test_a_row_names_the_seat_that_won(winner: int) -> None:
    table = Table(4, LISTED)
    table.start()
    table.play(1 - winner, "resign")
    row = list_match(unsigned_record(table))
    assert row is not None and row.winner == winner


@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(listed=True, spectators=Spectators.CLOSED)])
def test_a_match_that_strangers_could_not_see_has_no_row(options: RoomOptions) -> None:
    assert list_match(unsigned_record(raced(3, options))) is None


def race_three_rounds(seed: int) -> Record:
    table = Table(seed, RoomOptions(listed=True, best_of=3))
    table.start()
    race_match(table)
    return unsigned_record(table)


def test_a_row_has_the_cards_of_the_last_round() -> None:
    record = race_three_rounds(4)
    placed = [tuple(score.placed for score in each.outcome.scores) for each in record.rounds if each.outcome]
    row = list_match(record)
    assert row is not None and row.placed == placed[-1] != placed[0]


def test_a_row_of_a_match_without_a_winner_names_none() -> None:
    table = Table(4, LISTED)
    table.start()
    for seat in (0, 1):
        table.play(seat, "stop")
    row = list_match(unsigned_record(table))
    assert row is not None and (row.winner, row.wins) == (None, (0, 0))
