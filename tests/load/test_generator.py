"""The load generator against a server in the same process: its report, and the limits that it names."""

import asyncio
import random
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from websockets.asyncio.client import connect

from fairest_server.app import running
from fairest_server.load.generator import Generator, Plan
from fairest_server.load.report import Report, Tally
from fairest_server.load.websocket_client import Target, parse_target
from fairest_server.settings import Settings
from tests.support.certificates import make_certificate
from tests.support.ports import free_port
from tests.support.waiting import PATIENCE_SECONDS, until

MOVES = 10
LONGEST_SECONDS = 600.0


def has_raced(tally: Tally) -> bool:
    """Return whether some moves were answered in a room that raced."""
    return tally.races_started > 0 and len(tally.seconds) > MOVES


async def load_until(
    holds: Callable[[Tally], object], url: str, rooms: int = 3, spectators: int = 0, target: Target | None = None
) -> Report:
    """Run a load without pauses between moves until this holds for its counts; return its report."""
    plan = Plan(url, target or parse_target(url), rooms, 0.0, LONGEST_SECONDS, spectators)
    generator = Generator(plan, random.Random(1), lambda _: None)

    async def is_over() -> object:
        return holds(generator.tally)

    async with asyncio.TaskGroup() as tasks:
        report = tasks.create_task(generator.run())
        await until(is_over, "the load has come so far")
        generator.stop()
    return report.result()


async def load_until_raced(url: str, rooms: int = 3, spectators: int = 0, target: Target | None = None) -> Report:
    """Run a load until each of its rooms has raced."""
    return await load_until(lambda tally: tally.rooms == rooms and has_raced(tally), url, rooms, spectators, target)


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_the_moves_of_the_report_are_those_that_the_server_counts(server_url: str) -> None:
    before = counted("fairest_messages_total", type="play")
    report = await load_until_raced(server_url)
    assert len(report.tally.seconds) == counted("fairest_messages_total", type="play") - before > 0


async def test_each_race_that_started_is_finished_or_cut_short(server_url: str) -> None:
    tally = (await load_until(lambda tally: tally.races_finished, server_url)).tally
    assert tally.races_started == tally.races_finished + tally.races_cut_short > tally.races_cut_short


async def test_the_server_keeps_a_record_of_each_race_of_the_report(server_url: str) -> None:
    """And of each match whose players left before its race: the load may end at any moment."""
    before = counted("fairest_records_total")
    tally = (await load_until_raced(server_url)).tally

    async def are_stored() -> None:
        assert counted("fairest_records_total") - before >= tally.races_started > 0

    await until(are_stored, "the records are stored")


async def test_every_client_leaves_its_room_at_the_end(server_url: str) -> None:
    before = counted("fairest_messages_total", type="leave")
    report = await load_until(lambda tally: tally.connections == 12, server_url, spectators=2)
    assert counted("fairest_messages_total", type="leave") - before == report.tally.connections == 12


async def test_a_load_without_trouble_is_clean(server_url: str) -> None:
    report = await load_until_raced(server_url)
    tally = report.tally
    trouble = (tally.turned_away, tally.refusals, tally.disconnects, tally.errors, tally.sent - len(tally.seconds))
    assert report.is_clean, trouble


async def test_spectators_are_sent_frames(server_url: str) -> None:
    report = await load_until(lambda tally: tally.spectator_frames, server_url, spectators=1)
    assert report.tally.spectator_frames > 0


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ("connections_per_address", "HTTP 429"),
        ("max_connections", "HTTP 503"),
        ("players_per_address", "too_many_players"),
        ("rooms_per_address", "too_many_rooms"),
        ("rounds_per_address", "too_many_rounds"),
    ],
)
async def test_a_limit_is_named_with_the_setting_that_raises_it(
    settings_for_tests: Settings, setting: str, answer: str
) -> None:
    async with running(settings_for_tests.model_copy(update={setting: 2})) as url:
        report = await load_until(lambda tally: answer in (*tally.turned_away, *tally.refusals), url)
    assert f"--{setting.replace('_', '-')}" in report.as_json()["limits"][answer]


async def test_a_load_that_reaches_a_limit_is_not_clean(settings_for_tests: Settings) -> None:
    async with running(settings_for_tests.model_copy(update={"connections_per_address": 3})) as url:
        assert not (await load_until(lambda tally: tally.turned_away, url)).is_clean


async def test_a_client_that_was_turned_away_does_not_try_again(settings_for_tests: Settings) -> None:
    """The load then ends long before its time: nobody is left to go on."""
    async with running(settings_for_tests.model_copy(update={"connections_per_address": 1})) as url, connect(url):
        plan = Plan(url, parse_target(url), 1, 0.0, LONGEST_SECONDS)
        async with asyncio.timeout(PATIENCE_SECONDS):
            report = await Generator(plan, random.Random(1), lambda _: None).run()
    assert report.tally.turned_away == {"HTTP 429": 1}


async def test_a_load_speaks_tls(settings_for_tests: Settings, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    async with running(settings_for_tests.model_copy(update={"tls_cert": cert, "tls_key": key})) as url:
        target = parse_target(url.replace("127.0.0.1", "localhost"))._replace(
            tls=ssl.create_default_context(cafile=str(cert))
        )
        report = await load_until_raced(url, rooms=1, target=target)
    tally = report.tally
    trouble = (tally.turned_away, tally.refusals, tally.disconnects, tally.errors, tally.sent - len(tally.seconds))
    assert report.is_clean, trouble


async def test_a_certificate_that_is_not_trusted_is_in_the_report(settings_for_tests: Settings, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    async with running(settings_for_tests.model_copy(update={"tls_cert": cert, "tls_key": key})) as url:
        report = await load_until(lambda tally: tally.errors, url.replace("127.0.0.1", "localhost"), rooms=1)
    assert any("CERTIFICATE_VERIFY_FAILED" in error for error in report.tally.errors)


async def test_a_server_that_is_away_is_in_the_report() -> None:
    report = await load_until(lambda tally: tally.errors, f"ws://127.0.0.1:{free_port()}", rooms=1)
    assert set(report.tally.errors) == {"cannot connect: Connection refused"}


async def test_a_server_that_is_not_of_fairest_is_in_the_report() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x02hi")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as listener:
        port = listener.sockets[0].getsockname()[1]
        report = await load_until(lambda tally: tally.errors, f"ws://127.0.0.1:{port}", rooms=1)
    assert any(error.startswith("not an answer of a Fairest server") for error in report.tally.errors)


async def test_a_load_that_is_stopped_early_reports_what_it_has_so_far(server_url: str) -> None:
    report = await load_until(lambda tally: len(tally.seconds), server_url, rooms=1)
    assert len(report.tally.seconds) > 0 and report.seconds < LONGEST_SECONDS


@pytest.mark.parametrize("url", ["http://a:1", "ws://a:port", "ws://a:0", "ws://", "ws://u@a:1", "wss://a:1/?b=c"])
def test_a_url_that_names_no_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="a server looks like"):
        parse_target(url)
