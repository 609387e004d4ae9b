"""Prometheus accepts every expression of the dashboard, and a real server has the metrics of dashboard and alarms."""

import json
import re
from pathlib import Path

import pytest

from tests.support.observed import observed_server
from tests.support.promtool import RULES, check_rules, needs_promtool

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "fairest.json"
PANELS = json.loads(DASHBOARD.read_text())["panels"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
OURS = re.compile(r"\b(?:fairest|process|python)_\w+")


@needs_promtool
def test_prometheus_accepts_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(EXPRESSIONS)]
    path = tmp_path / "expressions.json"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert check_rules(path) == ""


@pytest.mark.long
async def test_a_fresh_server_exports_every_metric_that_the_dashboard_and_the_alarms_name(
    redis_url: str, tmp_path: Path
) -> None:
    async with observed_server(tmp_path / "log", "--redis-url", redis_url, "--admin-port", "0") as server:
        exported = {series.partition("{")[0] for series in await server.scrape()}
    named = set(OURS.findall(" ".join(EXPRESSIONS))) | set(OURS.findall(" ".join(rule_expressions())))
    assert named - exported == set()


def rule_expressions() -> list[str]:
    return re.findall(r"expr: (.+)", RULES.read_text())


def test_each_panel_has_a_title_a_unit_and_something_to_show() -> None:
    assert PANELS
    shown = [(panel["title"], panel["fieldConfig"]["defaults"].get("unit"), len(panel["targets"])) for panel in PANELS]
    assert {panel for panel in shown if not all(panel)} == set()
