"""The rated part of a record: which matches, which rounds of them, and the part of each seat."""

import pytest

from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.value import replace
from fairest_server.ratings.match_result import DAY_MS, MatchResult, Unrated, read_result
from tests.support.races import Table, race_match, raced
from tests.support.records import unsigned_record

PLAYERS = ("one", "two")


def result_of(record: Record) -> MatchResult:
    result = read_result(record, PLAYERS)
    assert isinstance(result, MatchResult)
    return result


@pytest.fixture(scope="module")
def record() -> Record:
    return unsigned_record(raced(1))


def test_a_raced_round_counts_with_its_winner(record: Record) -> None:
    [outcome] = [played.outcome for played in record.rounds]
    assert outcome is not None
    assert [each.winner for each in result_of(record).rounds] == [outcome.winner]


def test_a_match_counts_for_the_day_on_which_it_finished(record: Record) -> None:
    assert result_of(replace(record, finished_at_ms=3 * DAY_MS + 5)).day == 3


def test_each_round_of_a_match_counts() -> None:
    table = Table(2, RoomOptions(best_of=3))
    table.start()
    race_match(table)
    assert len(result_of(unsigned_record(table)).rounds) == table.state.seat(0).wins + table.state.seat(1).wins


def test_a_match_that_broke_off_counts_by_its_rounds_with_a_result() -> None:
    table = Table(3, RoomOptions(best_of=5))
    table.start()
    table.race(lambda board, _: next(board.legal_moves()))
    table.submit(table.request(0, Leave()))
    assert len(result_of(unsigned_record(table)).rounds) == 1


def test_a_player_who_resigns_has_left() -> None:
    table = Table(4)
    table.start()
    table.play(1, "resign")
    [played] = result_of(unsigned_record(table)).rounds
    assert (played.winner, [seat.has_left for seat in played.seats]) == (0, [False, True])


def test_a_player_who_leaves_before_the_deal_loses_a_rated_round() -> None:
    table = Table(5)
    table.seat_both()
    table.get_ready(0, 1)
    table.submit(table.request(1, Leave()))
    [played] = result_of(unsigned_record(table)).rounds
    assert (played.winner, played.seats[1].has_left) == (0, True)


def test_a_round_that_neither_player_revealed_is_not_rated() -> None:
    table = Table(6)
    table.seat_both()
    table.deal(revealing=())
    table.let_time_pass()
    assert read_result(unsigned_record(table), PLAYERS) is Unrated.NOTHING


def test_the_time_of_a_full_board_is_that_of_its_last_move(record: Record) -> None:
    [played] = record.rounds
    assert played.outcome is not None
    first, second = played.outcome.scores
    won = replace(played.outcome, scores=(replace(first, ending=Ending.WON), second))
    [result] = result_of(replace(record, rounds=(replace(played, outcome=won),))).rounds
    last_ms = [event.at_ms for event in played.events if getattr(event, "seat", None) == 0][-1]
    assert [seat.won_ms for seat in result.seats] == [last_ms, None]


def test_45_of_52_cards_are_a_near_miss(record: Record) -> None:
    [played] = record.rounds
    assert played.outcome is not None
    first, second = played.outcome.scores
    near = replace(played.outcome, scores=(replace(first, placed=45), replace(second, placed=44)))
    [result] = result_of(replace(record, rounds=(replace(played, outcome=near),))).rounds
    assert [seat.is_near_miss for seat in result.seats] == [True, False]


@pytest.mark.parametrize("name", ["bot-club", "BOT-club-0815"])
def test_a_match_with_a_rival_is_not_rated(record: Record, name: str) -> None:
    assert read_result(replace(record, names=("ann", name)), PLAYERS) is Unrated.RIVAL


def test_a_match_of_one_player_with_itself_is_not_rated(record: Record) -> None:
    assert read_result(record, ("one", "one")) is Unrated.ONE_PLAYER


def test_a_variant_with_other_parameters_is_not_rated() -> None:
    assert read_result(unsigned_record(raced(7, RoomOptions(piles=5))), PLAYERS) is Unrated.PARAMETERS


def test_an_open_room_is_not_rated() -> None:
    options = RoomOptions(spectators=Spectators.OPEN)
    assert read_result(unsigned_record(raced(8, options)), PLAYERS) is Unrated.OPEN


@pytest.mark.parametrize("rules", ["classic", "easy", "broken", "senior", "reverse", "redeal", "betsy-ross", "single"])
def test_every_variant_is_rated_by_its_own_name(rules: str) -> None:
    assert result_of(unsigned_record(raced(9, RoomOptions(rules=rules), stops=0.2))).variant == rules
