"""Certified deals: which of the deals that follow from a round's seed is dealt in a certified room.

The steps are tried in order, and the first one whose deal the solver proves winnable is dealt. Everybody who knows the
seed of the round repeats this and gets the same step: the search is bounded by nodes, never by time.

The answers of the solver are part of the protocol here. A solver that answers otherwise for any deal needs a
`PROCEDURE` of its own, beside this one, as records of this one stay (tests/protocol/calculation/test_certified.py).
"""

from typing import Final

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import BadRules, Rules
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.calculation.solver import LineSearch, wins
from fairest_protocol.value import Value

PROCEDURE: Final = 1
"""The number of this procedure. The terms of a certified room name it, so that the server signs it with each round."""
CAPABILITY: Final = "certified"
"""The capability of a server that opens certified rooms, and of a client that can enter one."""
STEPS: Final = 16
"""The steps that are tried. Of classic deals a step fails in one case of twenty (`make bench ONLY=certified`), so all
fail once in 10^21 rounds."""
STEP_NODES: Final = 2_000
"""The bound of the search at each step: 0.1 s of computation for a step that fails, 0.3 s in senior."""
MIN_CHOICE: Final = 4
"""The fewest piles and redeals together: with fewer, 10 to 100 % of the steps fail (docs/fairness.md)."""


class CertifiedStep(Value):
    """The step that is dealt. `is_proved` is False if no step was proved: then the last one is dealt all the same."""

    step: int
    is_proved: bool


def check_certifiable(rules: Rules) -> None:
    """Raise `BadRules` for rules by which the solver proves too few deals."""
    if rules.piles + rules.redeals < MIN_CHOICE:
        raise BadRules(
            f"a certified room needs {MIN_CHOICE} piles and redeals together, and {rules.name} has "
            f"{rules.piles} and {rules.redeals} here: too few of such deals can be proved winnable"
        )


def find_step(rules: Rules, seed: bytes) -> CertifiedStep:
    """Return the first step whose deal is proved winnable. `seed` is the seed of the round.

    It computes for some milliseconds as a rule, and no longer than `STEPS` steps that fail, see `STEP_NODES`.
    """
    return finish(finding_step(rules, seed))


def finding_step(rules: Rules, seed: bytes) -> Sliced[CertifiedStep]:
    """Do what `find_step` does, in slices."""
    for step in range(STEPS):
        if (yield from _proving(rules, make_step_seed(seed, step))):
            return CertifiedStep(step, is_proved=True)
    return CertifiedStep(STEPS - 1, is_proved=False)


def _proving(rules: Rules, seed: bytes) -> Sliced[bool]:
    """Return whether the beam search finds a line that wins the deal of this seed, and the rules confirm the line."""
    race = start_race(rules, make_deal(rules, seed), seats=1)
    line = yield from LineSearch(race, 0, STEP_NODES).finding()
    return line is not None and wins(race, 0, line)
