"""`promtool`, which comes with Prometheus: the alarms are evaluated by the program that will evaluate them."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.observed import Scrape

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules.yml"
STEP = "15s"
BEFORE_STEPS, AFTER_STEPS = 4, 8
"""A minute of the first scrape, repeated; then two minutes of the second one."""
BEFORE, AFTER = "1m", "3m"

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed; Debian has it in the package prometheus"
)


def check_rules(path: Path) -> str:
    """Return the complaint of `promtool check rules` about this file, empty if there is none."""
    done = subprocess.run(["promtool", "check", "rules", str(path)], capture_output=True, text=True, check=False)
    return done.stderr + done.stdout if done.returncode else ""


def evaluate_alarms(folder: Path, before: Scrape, after: Scrape, selector: str, *, fires: bool) -> str:
    """Return the complaint of promtool, empty if all is as expected.

    Expected is that no alarm fires while `before` is scraped again and again, and that once `after` is scraped, alarms
    that match `selector` fire, or do not.
    """
    count = f"count(ALERTS{{alertstate='firing',{selector}}}) > bool 0"
    nothing = "count(ALERTS{alertstate='firing'})"
    series = [
        {
            "series": _with_target(name),
            "values": f"{_number(value)}+0x{BEFORE_STEPS} {_number(after[name])}+0x{AFTER_STEPS}",
        }
        for name, value in before.items()
        if name in after and _is_ours(name) and math.isfinite(value) and math.isfinite(after[name])
    ]
    expected = [{"labels": "{}", "value": 1}] if fires else []
    written = {
        "rule_files": [str(RULES)],
        "evaluation_interval": STEP,
        "tests": [
            {
                "interval": STEP,
                "input_series": series,
                "promql_expr_test": [
                    {"expr": nothing, "eval_time": BEFORE, "exp_samples": []},
                    {"expr": count, "eval_time": AFTER, "exp_samples": expected},
                ],
            }
        ],
    }
    path = folder / "alarms.json"
    path.write_text(json.dumps(written))
    done = subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True, text=True, check=False)
    return done.stderr + done.stdout if done.returncode else ""


def _is_ours(series: str) -> bool:
    name = series.partition("{")[0]
    return name.startswith(("fairest_", "process_", "up")) and not name.endswith("_created")


def _with_target(series: str) -> str:
    name, _, labels = series.rstrip("}").partition("{")
    target = 'job="fairest",instance="127.0.0.1:9765"'
    return f"{name}{{{labels},{target}}}" if labels else f"{name}{{{target}}}"


def _number(value: float) -> str:
    return f"{value:.9f}"
