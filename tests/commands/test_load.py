"""`fairest-server load` against real servers: its report, the limits it reaches, and the ends it comes to."""

import asyncio
import json
import os
import re
import signal
import urllib.request
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import make_certificate
from tests.support.ports import free_port
from tests.support.processes import SERVER_COMMAND, Fleet, end_process
from tests.support.waiting import until


async def run_load(*options: str, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Run a load to its end; return its exit code, standard output and standard error."""
    process = await start_load(*options, environment=environment)
    async with asyncio.timeout(40):
        written, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, written.decode(), errors.decode()


async def start_load(*options: str, environment: dict[str, str] | None = None) -> asyncio.subprocess.Process:
    variables = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", **(environment or {})}
    return await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, "load", *options, stdout=PIPE, stderr=PIPE, env=variables
    )


async def load_for(url: str, seconds: float, *options: str) -> dict[str, Any]:
    """Run a load without pauses between moves; return its report."""
    _, written, errors = await run_load(
        "--server", url, "--rooms", "3", "--pace", "0", "--seconds", str(seconds), "--json", *options
    )
    assert written, errors
    report: dict[str, Any] = json.loads(written)
    return report


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text: str = answer.read().decode()
        return text


def metric(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


async def test_the_moves_of_the_report_are_those_that_the_server_counts(fleet: Fleet) -> None:
    admin = free_port()
    url = await fleet.start("--admin-port", str(admin))
    report = await load_for(url, 2)
    assert report["moves"]["answered"] == metric(scrape(admin), 'fairest_messages_total{type="play"}')


async def test_each_race_that_started_is_finished_or_cut_short(fleet: Fleet) -> None:
    races = (await load_for(await fleet.start(), 2))["races"]
    assert races["started"] == races["finished"] + races["cut_short"] > 0


async def test_the_server_keeps_a_record_of_each_race_of_the_report(fleet: Fleet) -> None:
    admin = free_port()
    races = (await load_for(await fleet.start("--admin-port", str(admin)), 2))["races"]

    async def are_stored() -> bool:
        return bool(metric(scrape(admin), "fairest_records_total") == races["finished"] + races["cut_short"])

    await until(are_stored, "the records are stored")


async def test_nobody_is_left_in_a_room_after_the_load(fleet: Fleet) -> None:
    admin = free_port()
    url = await fleet.start("--admin-port", str(admin))
    report = await load_for(url, 1, "--spectators", "2")
    assert metric(scrape(admin), 'fairest_messages_total{type="leave"}') == report["connections"] == 12


async def test_a_load_without_trouble_ends_with_exit_code_0(fleet: Fleet) -> None:
    code, written, errors = await run_load(
        "--server", await fleet.start(), "--rooms", "2", "--pace", "0.1", "--seconds", "1"
    )
    assert code == 0, written + errors


async def test_spectators_are_sent_frames(fleet: Fleet) -> None:
    report = await load_for(await fleet.start(), 2, "--spectators", "1")
    assert report["spectators"]["frames"] > 0


async def test_a_limit_by_address_is_named_with_its_setting(fleet: Fleet) -> None:
    report = await load_for(await fleet.start("--connections-per-address", "3"), 1)
    assert "--connections-per-address" in report["limits"]["HTTP 429"]


async def test_a_limit_of_connections_is_named_with_its_setting(fleet: Fleet) -> None:
    report = await load_for(await fleet.start("--max-connections", "3"), 1)
    assert "--max-connections" in report["limits"]["HTTP 503"]


async def test_the_limit_of_new_players_is_named_with_its_setting(fleet: Fleet) -> None:
    report = await load_for(await fleet.start("--players-per-address", "2"), 1)
    assert "--players-per-address" in report["limits"]["too_many_players"]


async def test_a_load_that_reaches_a_limit_ends_with_exit_code_1(fleet: Fleet) -> None:
    url = await fleet.start("--players-per-address", "2")
    code, _, _ = await run_load("--server", url, "--rooms", "2", "--seconds", "1")
    assert code == 1


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
async def test_a_load_that_is_interrupted_reports_what_it_has_so_far(
    fleet: Fleet, signal_number: signal.Signals
) -> None:
    admin = free_port()
    url = await fleet.start("--admin-port", str(admin))
    process = await start_load("--server", url, "--rooms", "1", "--pace", "0.1", "--seconds", "600", "--json")

    async def has_moved() -> bool:
        return metric(scrape(admin), 'fairest_messages_total{type="play"}') > 0

    try:
        await until(has_moved, "a player has moved")
        process.send_signal(signal_number)
        async with asyncio.timeout(20):
            written, _ = await process.communicate()
        assert json.loads(written)["moves"]["answered"] > 0
    finally:
        await end_process(process)


async def test_clients_come_back_and_race_on_when_a_killed_server_is_started_again(fleet: Fleet) -> None:
    admin = free_port()
    url = await fleet.start("--admin-port", str(admin))
    process = await start_load("--server", url, "--rooms", "2", "--pace", "0.1", "--seconds", "600", "--json")

    async def has_moved() -> bool:
        return metric(scrape(admin), 'fairest_messages_total{type="play"}') > 4

    async def are_back() -> bool:
        return metric(scrape(admin), 'fairest_messages_total{type="resume"}') == 4 and await has_moved()

    try:
        await until(has_moved, "players have moved")
        await fleet.kill(url)
        await fleet.start("--admin-port", str(admin), port=int(url.rpartition(":")[2]))
        await until(are_back, "all players are back and move")
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            report = json.loads((await process.communicate())[0])
    finally:
        await end_process(process)
    assert (report["disconnects"], report["reconnects"], report["moves"]["unanswered"]) == ({"1006": 4}, 4, 0)


async def test_a_server_that_stays_away_is_in_the_report() -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    code, written, _ = await run_load("--server", url, "--rooms", "1", "--seconds", "1")
    assert code == 1 and re.search("cannot connect: .*refused", written, re.IGNORECASE)


async def test_a_load_speaks_tls(fleet: Fleet, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    url = await fleet.start("--tls-cert", str(cert), "--tls-key", str(key))
    code, written, errors = await run_load(
        *("--server", url.replace("127.0.0.1", "localhost"), "--rooms", "1", "--pace", "0.1", "--seconds", "1"),
        environment={"SSL_CERT_FILE": str(cert)},
    )
    assert code == 0, written + errors


async def test_a_load_runs_on_several_workers(fleet: Fleet) -> None:
    report = await load_for(await fleet.start("--workers", "2"), 2)
    assert report["rooms"]["raced"] == 3 and not report["errors"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--server", "http://127.0.0.1:8765"), "ws://127.0.0.1:8765"),
        (("--server", "ws://127.0.0.1:port"), "ws://127.0.0.1:8765"),
        (("--server", "ws://192.0.2.1:8765"), "--i-run-this-server"),
        (("--rooms", "0"), "--rooms"),
        (("--rooms", "9000", "--spectators", "1"), "27000 connections"),
        (("--seconds", "3601"), "--seconds"),
        (("--seconds", "nan"), "--seconds"),
        (("--pace", "-1"), "--pace"),
    ],
)
async def test_a_bad_option_is_refused_before_anything_is_opened(options: tuple[str, ...], sentence: str) -> None:
    code, _, errors = await run_load(*options)
    assert code == 2 and sentence in errors.replace("\n", " "), errors


async def test_a_server_that_is_not_of_fairest_is_in_the_report() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x02hi")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as listener:
        port = listener.sockets[0].getsockname()[1]
        _, written, _ = await run_load("--server", f"ws://127.0.0.1:{port}", "--rooms", "1", "--seconds", "2")
    assert "not an answer of a Fairest server" in written
