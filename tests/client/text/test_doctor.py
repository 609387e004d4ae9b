"""`fairest doctor` and `fairest history`: what is said of this machine, and of what was played on it."""

import subprocess
import sys
from pathlib import Path

import pytest

from fairest_cli.text.doctor import Finding, describe_finding, examine
from fairest_protocol.version import installed_version
from tests.support.invoking import invoke
from tests.support.ports import free_port
from tests.support.scripted_server import Script, scripted_server


async def found(url: str) -> dict[str, Finding]:
    return {finding.name: finding async for finding in examine(url)}


@pytest.mark.long
async def test_a_server_that_answers_is_well(server_url: str) -> None:
    findings = await found(server_url)
    assert not findings["server"].is_fault
    assert "round trip" in findings["server"].sentence
    assert findings["redis"].sentence == "ready"


@pytest.mark.long
async def test_a_server_of_the_same_version_is_well(server_url: str) -> None:
    version = (await found(server_url))["version"]
    assert (version.is_fault, installed_version() in version.sentence) == (False, True)


@pytest.mark.long
async def test_a_server_of_another_version_is_a_fault_with_both_versions(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_cli.text.doctor.installed_version", lambda: "9.9.9")
    version = (await found(server_url))["version"]
    assert version.is_fault
    assert all(each in version.sentence for each in ("9.9.9", installed_version()))


@pytest.mark.long
async def test_a_server_that_ends_the_connection_at_once_is_a_fault() -> None:
    async def abort(script: Script) -> None:
        script.websocket.transport.abort()

    async with scripted_server(abort) as url:
        assert [each.is_fault async for each in examine(url) if each.name == "server"] == [True]


@pytest.mark.long
async def test_a_server_that_was_asked_for_and_does_not_answer_is_a_fault() -> None:
    findings = await found(f"ws://127.0.0.1:{free_port()}")
    assert findings["server"].is_fault


@pytest.mark.long
async def test_a_server_of_our_own_starts(server_url: str) -> None:
    assert "starts in" in (await found(server_url))["own server"].sentence


def test_a_fault_is_seen_at_once() -> None:
    assert describe_finding(Finding("letters", "none", is_fault=True)).startswith("FAULT ")


def test_what_others_say_is_only_text() -> None:
    assert "\x1b" not in describe_finding(Finding("redis", "\x1b[2J"))


@pytest.mark.long
def test_the_exit_code_tells_of_a_fault(tmp_path: Path) -> None:
    done = invoke(tmp_path, "doctor", "--server", f"ws://127.0.0.1:{free_port()}")
    assert done.exit_code == 1
    assert "FAULT server" in done.stdout


def test_without_a_command_and_a_terminal_there_is_help(tmp_path: Path) -> None:
    done = invoke(tmp_path)
    assert done.exit_code == 2
    assert "Usage" in done.stdout


def test_neither_the_full_screen_nor_the_prompt_is_loaded_for_help() -> None:
    code = "import sys; import fairest_cli.commands.main; print({'textual', 'prompt_toolkit'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(("begun", "offered"), [("se", ["senior"]), ("b", ["broken", "betsy-ross"])])
def test_the_shell_completes_variants(begun: str, offered: list[str]) -> None:
    from fairest_cli.commands.options import _complete_rules

    assert _complete_rules(begun) == offered
