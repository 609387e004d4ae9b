"""The ghost makes the moves of its record in their time, and shows no card that the player has not turned."""

import pytest

from fairest_cli.analysis.ghost import GHOST, PLAYER, GhostRace, best_seat, seats_to_race, summon, summon_run
from fairest_cli.model.run import Run
from fairest_protocol.calculation.moves import MOVES as BY_TEXT
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove
from fairest_protocol.calculation.solver import solve_race
from fairest_protocol.value import replace
from tests.support.records import make_record

RECORD = make_record(3)
MOVES = [event for event in RECORD.rounds[0].events if isinstance(event, RecordedMove) and event.seat == 1]
END_MS = 10**9


def play_all(ghost: GhostRace, moves: tuple[Move, ...]) -> GhostRace:
    for move in moves:
        ghost = ghost.play(move)
    return ghost


def test_the_ghost_has_made_the_moves_of_the_time_that_has_passed() -> None:
    now_ms = MOVES[9].at_ms
    made = sum(move.at_ms <= now_ms for move in MOVES)
    assert summon(RECORD, 0, 1).at(now_ms).race.racers[GHOST].moves == made


def test_the_ghost_ends_with_the_count_of_its_record() -> None:
    outcome = RECORD.rounds[0].outcome
    assert outcome is not None
    assert summon(RECORD, 0, 1).at(END_MS).counts[GHOST] == outcome.scores[1].placed


def test_time_in_small_steps_leads_to_the_same_race() -> None:
    ghost = summon(RECORD, 0, 1)
    for now_ms in range(0, MOVES[-1].at_ms + 1000, 700):
        ghost = ghost.at(now_ms)
    assert ghost.at(MOVES[-1].at_ms + 1000) == summon(RECORD, 0, 1).at(MOVES[-1].at_ms + 1000)


def test_the_board_of_the_ghost_is_shown_up_to_the_turn_of_the_player() -> None:
    ghost = summon(RECORD, 0, 1).at(MOVES[-1].at_ms)
    shown = ghost.shown_board
    assert shown.turned == ghost.race.racers[PLAYER].board.turned
    assert shown != ghost.race.racers[GHOST].board


def test_a_player_whose_race_has_ended_sees_the_whole_board() -> None:
    ghost = summon(RECORD, 0, 1).at(MOVES[9].at_ms).play(STOP).at(END_MS)
    assert ghost.shown_board == ghost.race.racers[GHOST].board


def test_a_player_who_places_every_card_wins() -> None:
    ghost = summon(RECORD, 0, 1)
    ghost = play_all(ghost, solve_race(ghost.race, PLAYER).line)
    assert (ghost.race.outcome().winner, ghost.race.racers[GHOST].ending) == (PLAYER, Ending.ROUND_OVER)


def test_a_player_who_stops_at_once_loses_to_the_ghost() -> None:
    assert summon(RECORD, 0, 1).play(STOP).at(END_MS).race.outcome().winner == GHOST


def test_a_ghost_that_was_still_racing_stops_where_its_record_ends() -> None:
    first = RECORD.rounds[0]
    moves = first.events[:30]
    assert isinstance(moves[-1], RecordedMove)
    cut: Record = replace(
        RECORD, rounds=(replace(first, events=(*moves, RecordedMove(moves[-1].at_ms, 0, RESIGN)), outcome=None),)
    )
    assert summon(cut, 0, 1).at(END_MS).race.racers[GHOST].ending is Ending.STOPPED


def test_a_seat_without_a_move_is_no_ghost() -> None:
    first = RECORD.rounds[0]
    alone = replace(RECORD, rounds=(replace(first, events=(RecordedMove(5, 0, RESIGN),), outcome=None),))
    with pytest.raises(BadRecord, match="seat 2 made no move"):
        summon(alone, 0, 1)


def test_the_better_player_is_the_one_to_race() -> None:
    outcome = RECORD.rounds[0].outcome
    assert outcome is not None
    assert best_seat(RECORD, 0) == outcome.winner


def test_every_seat_that_made_a_move_can_be_raced() -> None:
    assert list(seats_to_race(RECORD)) == [(0, 0), (0, 1)]


def test_the_player_has_the_time_of_the_match_and_the_chase_once_the_ghost_has_stopped() -> None:
    ghost = summon(RECORD, 0, 1)
    assert ghost.deadline_ms == 1000 * RECORD.terms.seconds("limit_seconds")
    stopped = ghost.at(MOVES[-1].at_ms)
    assert stopped.deadline_ms == MOVES[-1].at_ms + 1000 * RECORD.terms.seconds("chase_seconds")


def test_the_clock_ends_the_race_of_a_player_who_goes_on_after_the_ghost() -> None:
    ghost = summon(RECORD, 0, 1).at(END_MS)
    assert ghost.race.racers[PLAYER].ending is Ending.OUT_OF_TIME
    assert ghost.race.is_over


def test_each_move_of_the_player_has_its_time() -> None:
    ghost = summon(RECORD, 0, 1).at(1500).play(BY_TEXT["sa"]).at(2750).play(BY_TEXT["sb"])
    assert ghost.run.moves == ((1500, BY_TEXT["sa"]), (2750, BY_TEXT["sb"]))


def test_the_curves_hold_both_counts_and_the_shown_one_lags_behind() -> None:
    ours, shown, counted = summon(RECORD, 0, 1).at(MOVES[-1].at_ms).curves
    assert (len(ours), len(shown)) == (1, 1)
    assert counted[-1][1] == summon(RECORD, 0, 1).finish.placed


def test_a_run_that_ended_with_its_race_stops_with_its_last_move() -> None:
    run = Run(RECORD.rules, RECORD.rounds[0].seed, ((900, BY_TEXT["sa"]),))
    ghost = summon_run("your best", run).at(900)
    assert ghost.race.racers[GHOST].ending is Ending.STOPPED


def test_a_player_who_repeats_the_run_of_a_record_makes_the_same_run() -> None:
    ghost = summon(RECORD, 0, 1)
    for move in MOVES:
        ghost = ghost.at(move.at_ms).play(move.move)
    assert ghost.run.finish() == ghost.finish
    assert ghost.race.outcome().winner is None
