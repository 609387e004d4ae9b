"""docker-compose.yml holds to the specification of Compose files, and its servers to the Dockerfile."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairest_server.commands.environment import refuse_unknown_variables
from fairest_server.commands.main import operator
from fairest_server.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVER = COMPOSE["services"]["server"]


def test_the_file_fits_the_schema_of_compose() -> None:
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [str(program), "--builtin-schema", "vendor.compose-spec", str(ROOT / "docker-compose.yml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def find_compose() -> list[str]:
    """Return the command of a Docker Compose of version 2 or later; skip the test on a machine without one."""
    for command in (["docker-compose"], ["docker", "compose"]):
        if shutil.which(command[0]):
            told = subprocess.run([*command, "version", "--short"], capture_output=True, text=True, check=False)
            if told.returncode == 0 and not told.stdout.startswith("1."):
                return command
    pytest.skip("no Docker Compose 2 is on this machine; .ci/run brings one")


def test_docker_compose_accepts_the_file_without_a_warning() -> None:
    command = [*find_compose(), "--file", str(ROOT / "docker-compose.yml"), "config", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    read = json.loads(done.stdout)
    assert {name: service.get("image") for name, service in read["services"].items()} == {
        name: service["image"] for name, service in COMPOSE["services"].items()
    }
    assert read["configs"]["door"]["content"] == COMPOSE["configs"]["door"]["content"]


def test_the_settings_are_known_and_make_sense() -> None:
    refuse_unknown_variables(SERVER["environment"], operator)
    Settings(**{name.removeprefix("FAIREST_").lower(): value for name, value in SERVER["environment"].items()})


def test_a_server_has_longer_to_stop_than_it_takes() -> None:
    assert SERVER["stop_grace_period"] == "10s"


def test_the_root_file_system_is_read_only() -> None:
    assert SERVER["read_only"] is True
    assert SERVER["tmpfs"] == "/tmp"


def test_nothing_starts_before_what_it_needs_is_healthy() -> None:
    waits = [service["depends_on"] for service in COMPOSE["services"].values() if "depends_on" in service]
    assert waits == [{"redis": {"condition": "service_healthy"}}, {"server": {"condition": "service_healthy"}}]


def test_valkey_acknowledges_only_what_is_on_disk() -> None:
    command = COMPOSE["services"]["redis"]["command"]
    assert command == "valkey-server --appendonly yes --appendfsync always --maxmemory-policy noeviction"
