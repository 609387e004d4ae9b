"""`fairest quick` as typed: the wishes that reach the server."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from fairest_cli.tui.screens.queue_form import DEFAULT, RIVAL_AFTER
from fairest_protocol.messages.capabilities import RACE_QUEUE
from fairest_protocol.messages.from_client import Hello, Queue
from fairest_protocol.messages.from_server import Welcome
from tests.support.invoking import invoke
from tests.support.processes import CLIENT_COMMAND, end_process
from tests.support.races import KEY
from tests.support.scripted_server import LATER, Script, scripted_server

PATIENCE_SECONDS = 20


async def wish_of(*options: str) -> Queue:
    """Return the request that the command sends with these options."""
    asked: asyncio.Future[Queue] = asyncio.get_running_loop().create_future()

    async def run(script: Script) -> None:
        await script.receive(Hello)
        capabilities = (RACE_QUEUE,)
        await script.send(
            Welcome(
                name="ann", token="A" * 43, key=KEY.public, now_ms=LATER, version="0.2.0", capabilities=capabilities
            )
        )
        asked.set_result(await script.receive(Queue))

    async with scripted_server(run) as url, asyncio.timeout(PATIENCE_SECONDS):
        command = (*CLIENT_COMMAND, "quick", "--server", url, *options)
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL)
        try:
            return await asked
        finally:
            await end_process(process)


@pytest.mark.long
async def test_a_program_may_come_after_the_same_time_as_on_the_full_screen() -> None:
    wish = await wish_of()
    assert (wish.rival_after_seconds, wish.rival_level) == (list(RIVAL_AFTER.values())[DEFAULT], None)


@pytest.mark.long
async def test_a_player_chooses_when_a_program_may_come_and_its_level() -> None:
    wish = await wish_of("--rival", "0", "--rival-level", "club")
    assert (wish.rival_after_seconds, wish.rival_level) == (0, "club")


@pytest.mark.long
async def test_a_player_who_races_no_program_waits_on() -> None:
    wish = await wish_of("--no-rival", "--rules", "easy")
    assert (wish.rules, wish.rival_after_seconds) == ("easy", None)


@pytest.mark.parametrize("option", [("--rival", "20"), ("--rival-level", "club")])
def test_no_program_and_a_wish_for_one_contradict_each_other(tmp_path: Path, option: tuple[str, str]) -> None:
    ran = invoke(tmp_path, "quick", "--no-rival", *option)
    assert ran.exit_code == 2 and "no program is raced" in ran.output


def test_the_help_says_when_a_program_comes(tmp_path: Path) -> None:
    said = invoke(tmp_path, "quick", "--help").output.replace("│", " ").split()
    assert f"{RIVAL_AFTER['1 minute']} without this option." in " ".join(said)
