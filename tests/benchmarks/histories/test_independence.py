"""The independent client and checker share no code with Fairest, so that they do not share its mistakes either."""

import ast
import sys
from pathlib import Path

import pytest

import benchmarks.histories

FOLDER = Path(benchmarks.histories.__file__).parent
INDEPENDENT = (
    "board",
    "checker",
    "client",
    "clocks",
    "habits",
    "history",
    "horizon",
    "reading",
    "records",
    "scene",
    "sealing",
)
ALLOWED = {"websockets", *sys.stdlib_module_names}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_a_module_of_client_and_checker_imports_only_websockets_and_the_standard_library(name: str) -> None:
    imported = set()
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    own = {f"benchmarks.histories.{each}" for each in INDEPENDENT}
    assert {each for each in imported if each not in own and each.partition(".")[0] not in ALLOWED} == set()
