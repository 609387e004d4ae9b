"""A race against a ghost in lines."""

from itertools import repeat

from fairest_cli.analysis.ghost import GHOST, GhostRace, summon, summon_run
from fairest_cli.model.run import Run
from fairest_cli.text.ghost import (
    HELP,
    answer,
    describe_end,
    describe_seat,
    describe_stops,
    describe_verdict,
    race_in_lines,
)
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.solver import solve_race
from tests.support.records import make_record

RECORD = make_record(3)
RACE = summon(RECORD, 0, 1)


def test_a_move_is_made_and_both_counts_are_printed() -> None:
    ghost, lines = answer(RACE.at(20_000), "s a")
    assert list(lines)[1] == f"you: 4 of 52 cards; bob: {ghost.counts[GHOST]}"


def test_a_move_against_the_rules_changes_nothing() -> None:
    ghost, lines = answer(RACE, "a1")
    assert (ghost, list(lines)) == (RACE, ["This waste pile is empty."])


def test_no_move_is_taken_back() -> None:
    _, lines = answer(RACE, "undo")
    assert "is not a move or a word" in next(lines)


def test_help_is_printed_for_the_word_help() -> None:
    assert list(answer(RACE, "help")[1]) == [HELP]


def test_the_board_of_the_ghost_is_printed_on_request() -> None:
    assert next(answer(RACE.at(20_000), "ghost")[1]) == "bob, as far as your own turn goes:"


def test_the_end_names_the_winner() -> None:
    ghost = RACE.at(61_000)
    for move in solve_race(RACE.race, 0).line:
        ghost, _ = answer(ghost, move.text)
    assert list(describe_end(ghost))[:2] == ["1:01 The race is over.", "You win against bob by 28 cards."]


class HandClock:
    """A clock that moves only when somebody waits, or by `step_ms` whenever it is read."""

    def __init__(self, step_ms: int = 0) -> None:
        self._now_ms = 1_000_000
        self._step_ms = step_ms

    def now_ms(self) -> int:
        self._now_ms += self._step_ms
        return self._now_ms

    def wait_until(self, at_ms: int) -> None:
        self._now_ms = max(self._now_ms, at_ms)


def solved_in(step_ms: int) -> Run:
    """Return a run that places every card of the deal, one move in each step."""
    line = solve_race(RACE.race, 0).line
    return Run(RECORD.rules, RECORD.rounds[0].seed, tuple((step_ms * at, move) for at, move in enumerate(line, 1)))


def race_over(ghost: GhostRace, run: Run) -> GhostRace:
    for at_ms, move in run.moves:
        ghost = ghost.at(at_ms)
        ghost = ghost if ghost.race.is_over else ghost.play(move)
    return ghost.to_its_end()


def keep_none(_: GhostRace) -> str:
    return ""


def test_a_race_in_lines_waits_for_the_rest_of_the_ghost_by_its_clock() -> None:
    printed: list[str] = []
    race = race_in_lines(RACE, iter(["sa", "stop"]), HandClock(), printed.append, keep_none)
    assert race.now_ms == race.finish.at_ms
    assert "bob wins by 20 cards." in printed


def test_the_ghost_moves_while_the_player_thinks() -> None:
    printed: list[str] = []
    race = race_in_lines(RACE, repeat("board"), HandClock(step_ms=30_000), printed.append, keep_none)
    assert any("bob: 24" in line for line in printed)
    assert race.race.is_over


def test_a_player_who_leaves_ends_the_race_where_it_is() -> None:
    printed: list[str] = []
    assert not race_in_lines(RACE, iter(["quit"]), HandClock(), printed.append, keep_none).race.is_over


def test_of_two_complete_runs_the_faster_one_wins_by_its_time() -> None:
    race = race_over(summon_run("your best", solved_in(2000)), solved_in(1500))
    assert describe_verdict(race) == "You win against your best by 0:38: it places its last card later."


def test_against_a_faster_complete_run_the_missing_cards_are_counted() -> None:
    race = race_over(summon_run("your best", solved_in(1500)), solved_in(2000))
    missing = race.board.goal - race.board.placed
    assert describe_verdict(race) == f"your best wins by {missing} cards."


def test_equal_counts_are_a_draw() -> None:
    race = summon_run("bob", Run(RECORD.rules, RECORD.rounds[0].seed, ((10, MOVES["sa"]),)))
    assert describe_verdict(race.play(STOP).to_its_end()) == "A draw against bob, at 4 cards each."


def test_the_end_of_the_ghost_and_of_the_time_are_said_once() -> None:
    at_end = RACE.at(RACE.finish.at_ms)
    assert describe_stops(RACE, at_end) == "bob has stopped at 24 cards: you have 3:00 left."
    assert describe_stops(at_end, at_end) == ""
    assert describe_stops(at_end, at_end.at(10**9)) == "Your time is over."


def test_a_seat_to_race_is_described_by_its_cards_and_its_time() -> None:
    assert describe_seat(RECORD, 0, 1, is_own=True) == "bob (you), 24 of 52 cards in 1:50"


def test_the_run_is_kept_once_the_own_race_is_over_and_the_sentence_stands_last() -> None:
    printed: list[str] = []
    kept: list[GhostRace] = []

    def keep(race: GhostRace) -> str:
        kept.append(race)
        return "kept"

    race_in_lines(RACE, iter(["sa", "stop"]), HandClock(), printed.append, keep)
    assert [race.race.is_over for race in kept] == [False]
    assert printed[-1] == "kept"
