"""`fairest tournament` as typed, and `fairest verify` of the record of a race."""

import asyncio
import json
from asyncio.subprocess import PIPE
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from fairest_cli.analysis.judging import Effort
from fairest_cli.session.http_pages import fetch_page
from fairest_protocol.messages.tournaments import CreateTournament
from tests.client.test_hostile_text import client_environment
from tests.support.invoking import invoke, run_typed
from tests.support.processes import CLIENT_COMMAND, end_process
from tests.support.tournaments import entrant, play_a_cup


async def run(home: Path, url: str, *words: str, typed: str | None = None) -> tuple[int, str]:
    arguments = ("tournament", *words, "--server", url)
    if typed is not None:
        done = await asyncio.to_thread(lambda: run_typed(home, *arguments, typed=typed))
        return done.returncode, done.stdout
    ran = await asyncio.to_thread(lambda: invoke(home, *arguments))
    return ran.exit_code, ran.output


@pytest.mark.long
async def test_a_tournament_is_created_listed_and_left(server_url: str, tmp_path: Path) -> None:
    code, shown = await run(tmp_path, server_url, "create", "--name", "ann", "--format", "knockout", typed="leave\n")
    assert code == 0 and "knock-out, classic, 1 player, open" in shown and "You have left" in shown
    _, listed = await run(tmp_path, server_url, "list")
    assert "No tournament is open" in listed


async def test_tournaments_are_listed(server_url: str, tmp_path: Path) -> None:
    ann = entrant(server_url, "ann")
    shown = await ann.enter(CreateTournament(most_players=8))
    await ann.close()
    code, listed = await run(tmp_path, server_url, "list")
    assert code == 0 and shown.code in listed and "1 of 8 players, open, by ann" in listed


def test_the_help_says_that_tournaments_are_not_rated(tmp_path: Path) -> None:
    assert "They are not rated." in invoke(tmp_path, "tournament", "--help").output


async def test_a_code_of_no_tournament_is_named(server_url: str, tmp_path: Path) -> None:
    code, shown = await run(tmp_path, server_url, "join", "no-such-cup")
    assert (code, "There is no tournament with this code" in shown) == (1, True)


@pytest.mark.long
async def test_a_player_who_joins_keeps_a_receipt_which_verify_judges(server_url: str, tmp_path: Path) -> None:
    ann = entrant(server_url, "ann")
    shown = await ann.enter(CreateTournament())
    await run(tmp_path, server_url, "join", shown.code, "--name", "bob", typed="quit\n")
    await ann.start()
    await run(tmp_path, server_url, "join", shown.code, "--name", "bob", typed="quit\n")
    await ann.close()
    [path] = (tmp_path / "data" / "fairest" / "receipts").iterdir()
    judged = await asyncio.to_thread(lambda: invoke(tmp_path, "verify", "--receipt", str(path)))
    assert judged.exit_code == 0 and "was not over when your client saw it last" in judged.output


@pytest.mark.long
async def test_a_player_who_quits_ends_the_program_though_its_input_stays_open(server_url: str, tmp_path: Path) -> None:
    program = await asyncio.create_subprocess_exec(
        *(*CLIENT_COMMAND, "tournament", "create", "--server", server_url, "--name", "ann"),
        stdin=PIPE,
        stdout=PIPE,
        env=client_environment(tmp_path),
    )
    try:
        assert program.stdin is not None
        program.stdin.write(b"quit\n")
        async with asyncio.timeout(20):
            assert await program.wait() == 0
    finally:
        await end_process(program)


@pytest.mark.long
async def test_a_tournament_that_is_over_is_shown_with_its_standings(server_url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        code = await play_a_cup(server_url, stack)
    status, shown = await run(tmp_path, server_url, "watch", code)
    assert status == 0 and "over" in shown and "player-1" in shown and "rank" in shown
    _, as_json = await run(tmp_path, server_url, "watch", code, "--json")
    # The server of the test logs to the same output.
    [line] = [line for line in as_json.splitlines() if line.startswith("{")]
    assert json.loads(line)["phase"] == "over"


@pytest.mark.long
async def test_the_races_of_a_round_are_replayed_side_by_side(server_url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        code = await play_a_cup(server_url, stack)
    status, shown = await run(tmp_path, server_url, "replay", code, "--name", "player-2", "--plain")
    assert (status, "player-2 against player-1" in shown) == (0, True)


@pytest.mark.long
async def test_the_races_of_a_round_are_analysed(
    server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_cli.commands.solo_races.Effort", lambda: Effort(1, 1, 0))
    async with AsyncExitStack() as stack:
        code = await play_a_cup(server_url, stack)
    status, shown = await run(tmp_path, server_url, "analyse", code, "--player", "player-1")
    assert status == 0 and "player-1: the chance to win" in shown and "player-2: the chance to win" in shown


async def test_a_race_of_a_tournament_without_a_round_cannot_be_replayed(server_url: str, tmp_path: Path) -> None:
    ann = entrant(server_url, "ann")
    shown = await ann.enter(CreateTournament())
    await ann.close()
    code, said = await run(tmp_path, server_url, "replay", shown.code)
    assert (code, "No round of this tournament is over yet" in said) == (1, True)


@pytest.mark.long
async def test_the_record_of_a_race_is_proved_and_a_changed_one_is_not(server_url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        code = await play_a_cup(server_url, stack)
    _, body = await asyncio.to_thread(fetch_page, server_url, f"/tournament-races/{code}?round=1&name=player-2")
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_bytes(body)
    wrong.write_bytes(body.replace(b'"won":false', b'"won":true'))
    proved = await asyncio.to_thread(lambda: invoke(tmp_path, "verify", str(right)))
    assert proved.exit_code == 0 and "round 1 of the tournament" in proved.output
    assert (await asyncio.to_thread(lambda: invoke(tmp_path, "verify", str(wrong)))).exit_code == 3
