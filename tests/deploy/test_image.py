"""The Dockerfile, the files that it is given, and the locked versions that it installs; `.ci/image.py` builds it."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.support.dockerfile import Instruction, parse_dockerfile

ROOT = Path(__file__).parents[2]
IGNORE = (ROOT / ".dockerignore").read_text().splitlines()
BUILD, FINAL = parse_dockerfile((ROOT / "Dockerfile").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def instructions(stage: list[Instruction], word: str) -> list[Instruction]:
    return [each for each in stage if each.word == word]


def locked(name: str) -> dict[str, str]:
    """The packages of a lock file, and their versions."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", (ROOT / name).read_text(), re.MULTILINE))


def required(requirements: list[str]) -> set[str]:
    return {found.group() for each in requirements if (found := re.match(r"[a-z0-9._-]+", each))}


def test_the_user_is_a_number() -> None:
    """Kubernetes cannot tell whether a name is root's, and refuses it with runAsNonRoot."""
    assert [each.rest for each in instructions(FINAL, "USER")] == ["10001:10001"]


def test_all_that_is_copied_is_sent_to_the_builder() -> None:
    sources = {source for each in instructions(BUILD, "COPY") for source in each.values[:-1]}
    assert {line[1:] for line in IGNORE if line.startswith("!")} == sources
    assert IGNORE[1] == "*"


def test_the_image_serves_on_all_addresses() -> None:
    (variables,) = instructions(FINAL, "ENV")
    assert "FAIREST_HOST=0.0.0.0" in variables.values


def test_the_engine_keeps_its_data_on_the_volume() -> None:
    (variables,), (volume,) = instructions(FINAL, "ENV"), instructions(FINAL, "VOLUME")
    assert f"FAIREST_DATA_DIR={volume.rest}" in variables.values


def test_a_lock_file_has_the_versions_that_are_tested() -> None:
    tested = locked("requirements.lock").items()
    assert locked("deploy/server.lock").items() <= tested
    assert locked("deploy/build.lock").items() <= tested


def test_the_server_s_lock_file_has_all_that_the_project_requires() -> None:
    assert required(PROJECT["project"]["dependencies"]) <= locked("deploy/server.lock").keys()


def test_the_server_s_lock_file_has_no_tools() -> None:
    assert not required(PROJECT["dependency-groups"]["dev"]) & locked("deploy/server.lock").keys()


def test_the_build_s_lock_file_has_the_build_system() -> None:
    assert required(PROJECT["build-system"]["requires"]) <= locked("deploy/build.lock").keys()


@pytest.mark.parametrize("name", ["deploy/server.lock", "deploy/build.lock"])
def test_every_locked_package_has_a_hash(name: str) -> None:
    entries = re.split(r"^(?=[a-z])", (ROOT / name).read_text(), flags=re.MULTILINE)[1:]
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
