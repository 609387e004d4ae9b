"""The run of a rival is a game by the rules at the pace of its level, and always the same."""

from itertools import pairwise

from fairest_cli.bots.levels import PROFILES, Level
from fairest_cli.bots.rival_run import rival_run
from fairest_protocol.calculation.rules import choose_rules

RULES, SEED = choose_rules("classic"), bytes(32)
RUN = rival_run(Level.LEARNER, RULES, SEED)


def test_the_run_goes_on_to_the_end_of_the_game() -> None:
    *_, end = RUN.races()
    assert end.is_over


def test_the_same_deal_and_level_give_the_same_run() -> None:
    assert rival_run(Level.LEARNER, RULES, SEED) == RUN
    assert rival_run(Level.CARELESS, RULES, SEED) != RUN


def test_a_move_takes_about_the_pace_of_the_level() -> None:
    times = [0, *(at_ms for at_ms, _ in RUN.moves)]
    mean = sum(later - earlier for earlier, later in pairwise(times)) / len(RUN.moves) / 1000
    pace = PROFILES[Level.LEARNER].pace_seconds
    assert 0.5 * pace < mean < 2 * pace
