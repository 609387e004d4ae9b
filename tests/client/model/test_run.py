"""A run is replayed by the rules, and better with more cards or in less time."""

import pytest

from fairest_cli.model.run import BadRun, Finish, Run
from fairest_protocol.calculation.moves import MOVES, RESIGN, STOP
from fairest_protocol.calculation.rules import choose_rules

RULES = choose_rules("classic")
SEED = bytes(32)


def run_of(*moves: tuple[int, str]) -> Run:
    return Run(RULES, SEED, tuple((at_ms, MOVES[text]) for at_ms, text in moves))


def test_the_finish_has_the_time_of_the_last_move() -> None:
    assert run_of((10, "sa"), (25, "sb")).finish() == Finish(4, False, 25)


def test_a_run_without_a_move_has_placed_the_starters() -> None:
    assert run_of().finish() == Finish(4, False, 0)


def test_two_moves_may_have_the_same_time() -> None:
    assert run_of((10, "sa"), (10, "sb")).finish() == Finish(4, False, 10)


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (run_of((10, "sa"), (9, "sb")), "move 2 is earlier"),
        (run_of((-1, "sa")), "move 1 is earlier"),
        (run_of((1, "a1")), "move 1, a1, is against the rules"),
        (Run(RULES, SEED, ((1, STOP), (2, MOVES["sa"]))), "move 2, sa, is against the rules"),
        (Run(RULES, SEED, ((1, RESIGN),)), "move 1, resign, is against the rules"),
    ],
)
def test_moves_that_are_no_run_are_refused(run: Run, problem: str) -> None:
    with pytest.raises(BadRun, match=problem):
        run.finish()


def test_more_cards_are_better_and_then_less_time() -> None:
    base = Finish(30, False, 1000)
    assert Finish(31, False, 9000).is_better_than(base)
    assert Finish(30, False, 999).is_better_than(base)
    assert not base.is_better_than(base)
    assert not Finish(29, False, 1).is_better_than(base)
