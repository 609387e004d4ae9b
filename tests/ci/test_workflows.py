"""The workflows of CI fit GitHub's schema, and run what exists."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.long
@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_fits_the_schema_of_github(workflow: Path) -> None:
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [str(program), "--builtin-schema", "vendor.github-workflows", str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_each_file_that_a_workflow_runs_exists(workflow: Path) -> None:
    commands = " ".join(step.get("run", "") for step in steps(workflow))
    named = re.findall(r"(?<![\w/.])(?:\.ci|tests|docs)/[\w./]+", commands)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_each_job_ends_by_itself(workflow: Path) -> None:
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    assert {name for name, job in jobs.items() if "timeout-minutes" not in job} == set()


def test_the_sets_that_a_workflow_names_are_those_of_the_script() -> None:
    sets = set(re.findall(r"^run_(\w+)\(\)", (ROOT / ".ci/run").read_text(), re.MULTILINE))
    named = {
        word
        for workflow in WORKFLOWS
        for step in steps(workflow)
        for command in re.findall(r"\.ci/run(.*)", step.get("run", ""))
        for word in command.split()
    }
    assert named <= sets
