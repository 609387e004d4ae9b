"""The load generator against a server in the same process: its report, and the limits that it names."""

import asyncio
import random
import ssl
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from fairest_server.app import running
from fairest_server.load.generator import Generator, Plan
from fairest_server.load.report import Report
from fairest_server.load.websocket_client import parse_target
from fairest_server.settings import Settings
from tests.support.certificates import make_certificate
from tests.support.ports import free_port
from tests.support.waiting import until


async def load_for(url: str, seconds: float = 0.5, rooms: int = 3, spectators: int = 0) -> Report:
    """Run a load without pauses between moves; return its report."""
    plan = Plan(url, parse_target(url), rooms, 0.0, seconds, spectators)
    return await Generator(plan, random.Random(1), lambda _: None).run()


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_the_moves_of_the_report_are_those_that_the_server_counts(server_url: str) -> None:
    before = counted("fairest_messages_total", type="play")
    report = await load_for(server_url)
    assert len(report.tally.seconds) == counted("fairest_messages_total", type="play") - before > 0


async def test_each_race_that_started_is_finished_or_cut_short(server_url: str) -> None:
    tally = (await load_for(server_url, seconds=1.5)).tally
    assert tally.races_started == tally.races_finished + tally.races_cut_short > tally.races_cut_short


async def test_the_server_keeps_a_record_of_each_race_of_the_report(server_url: str) -> None:
    """And of each match whose players left before its race: the load may end at any moment."""
    before = counted("fairest_records_total")
    tally = (await load_for(server_url)).tally

    async def are_stored() -> None:
        assert counted("fairest_records_total") - before >= tally.races_started > 0

    await until(are_stored, "the records are stored")


async def test_every_client_leaves_its_room_at_the_end(server_url: str) -> None:
    before = counted("fairest_messages_total", type="leave")
    report = await load_for(server_url, spectators=2)
    assert counted("fairest_messages_total", type="leave") - before == report.tally.connections == 12


async def test_a_load_without_trouble_is_clean(server_url: str) -> None:
    report = await load_for(server_url)
    tally = report.tally
    trouble = (tally.turned_away, tally.refusals, tally.disconnects, tally.errors, tally.sent - len(tally.seconds))
    assert report.is_clean, trouble


async def test_spectators_are_sent_frames(server_url: str) -> None:
    assert (await load_for(server_url, spectators=1)).tally.spectator_frames > 0


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
        report = await load_for(url)
    assert f"--{setting.replace('_', '-')}" in report.as_json()["limits"][answer]


async def test_a_load_that_reaches_a_limit_is_not_clean(settings_for_tests: Settings) -> None:
    async with running(settings_for_tests.model_copy(update={"connections_per_address": 3})) as url:
        assert not (await load_for(url)).is_clean


async def test_a_client_that_was_turned_away_does_not_try_again(settings_for_tests: Settings) -> None:
    async with running(settings_for_tests.model_copy(update={"connections_per_address": 1})) as url:
        report = await load_for(url, seconds=1.5, rooms=1)
    assert report.tally.turned_away == {"HTTP 429": 1}


async def test_a_load_speaks_tls(settings_for_tests: Settings, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    async with running(settings_for_tests.model_copy(update={"tls_cert": cert, "tls_key": key})) as url:
        target = parse_target(url.replace("127.0.0.1", "localhost"))._replace(
            tls=ssl.create_default_context(cafile=str(cert))
        )
        report = await Generator(Plan(url, target, 1, 0.0, 0.5), random.Random(1), lambda _: None).run()
    tally = report.tally
    trouble = (tally.turned_away, tally.refusals, tally.disconnects, tally.errors, tally.sent - len(tally.seconds))
    assert report.is_clean, trouble


async def test_a_certificate_that_is_not_trusted_is_in_the_report(settings_for_tests: Settings, tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path)
    async with running(settings_for_tests.model_copy(update={"tls_cert": cert, "tls_key": key})) as url:
        report = await load_for(url.replace("127.0.0.1", "localhost"), rooms=1)
    assert any("CERTIFICATE_VERIFY_FAILED" in error for error in report.tally.errors)


async def test_a_server_that_is_away_is_in_the_report() -> None:
    report = await load_for(f"ws://127.0.0.1:{free_port()}", rooms=1)
    assert set(report.tally.errors) == {"cannot connect: Connection refused"}


async def test_a_server_that_is_not_of_fairest_is_in_the_report() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x02hi")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as listener:
        port = listener.sockets[0].getsockname()[1]
        report = await load_for(f"ws://127.0.0.1:{port}", rooms=1)
    assert any(error.startswith("not an answer of a Fairest server") for error in report.tally.errors)


async def test_a_load_that_is_stopped_early_reports_what_it_has_so_far(server_url: str) -> None:
    plan = Plan(server_url, parse_target(server_url), 1, 0.1, 600.0)
    generator = Generator(plan, random.Random(1), lambda _: None)
    running_load = asyncio.create_task(generator.run())

    async def has_moved() -> bool:
        return len(generator.tally.seconds) > 0

    await until(has_moved, "a player has moved")
    generator.stop()
    assert len((await running_load).tally.seconds) > 0


@pytest.mark.parametrize("url", ["http://a:1", "ws://a:port", "ws://a:0", "ws://", "ws://u@a:1", "wss://a:1/?b=c"])
def test_a_url_that_names_no_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="a server looks like"):
        parse_target(url)
