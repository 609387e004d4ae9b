"""How many deals the open-stock solver decides, and how long it computes. Every line is replayed by the rules."""

import random
import time
from collections import Counter

from benchmarks.figure import Figure, written_down
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.exhaustion import Verdict
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, Rules
from fairest_protocol.calculation.solver import solve, wins

CLASSIC_DEALS = 1_000
OTHER_DEALS = 50


def measure_solver() -> list[Figure]:
    """The shares of deals proved winnable and unwinnable, the rest that stays open, and the CPU time of a deal."""
    figures = []
    for name, variant in VARIANTS.items():
        verdicts, times = _solve_many(variant.rules, CLASSIC_DEALS if name == "classic" else OTHER_DEALS)
        count, label = sum(verdicts.values()), name.replace("-", "_")
        won, p95 = 100 * verdicts[Verdict.WINNABLE] / count, 1000 * times[int(0.95 * count)]
        if name == "classic":
            figures.append(Figure("solver_winnable_classic", won, "%", ">= 98", won >= 98))
            figures.append(Figure("solver_p95_ms_classic", p95, "ms", "< 1000", p95 < 1000))
        else:
            figures.append(written_down(f"solver_winnable_{label}", won, "%"))
            figures.append(written_down(f"solver_p95_ms_{label}", p95, "ms"))
        figures.append(written_down(f"solver_unwinnable_{label}", 100 * verdicts[Verdict.UNWINNABLE] / count, "%"))
        figures.append(written_down(f"solver_open_{label}", 100 * verdicts[Verdict.OPEN] / count, "%"))
        figures.append(written_down(f"solver_p50_ms_{label}", 1000 * times[count // 2], "ms"))
    return figures


def _solve_many(rules: Rules, deals: int) -> tuple[Counter[Verdict], list[float]]:
    """Solve deals that are the same in every run; return their verdicts, and their CPU times in ascending order."""
    chance, verdicts, times = random.Random(rules.name), Counter[Verdict](), []
    for _ in range(deals):
        deal = make_deal(rules, chance.randbytes(32))
        before = time.process_time()
        solution = solve(rules, deal)
        times.append(time.process_time() - before)
        verdicts[solution.verdict] += 1
        if solution.verdict is Verdict.WINNABLE:
            assert wins(start_race(rules, deal, seats=1), 0, solution.line), "each line wins by the rules"
    return verdicts, sorted(times)
