"""The examples in docs/examples race each other, come back after a fault, and judge records as our verifier does."""

import asyncio
import json
import random
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_protocol.messages.options import RoomOptions
from tests.support.certified_records import certified_record, dealt_later, forged_records
from tests.support.faulty_link import faulty_link
from tests.support.forging import forge, lines_of, sound_records, write
from tests.support.long_tests import parametrize_with_long
from tests.support.newer_server import newer_server
from tests.support.node import node_command
from tests.support.processes import Fleet, end_process
from tests.support.races import raced
from tests.support.records import signed_record
from tests.support.waiting import PATIENCE_SECONDS

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
MOST_LINES = {"bot.py": 150, "bot.mjs": 150, "verify.mjs": 200}
SHORT_RULES = ("classic", "betsy-ross", "broken", "redeal")
LONG_RULES = ("easy", "reverse", "senior", "single")
FORGED = 300
FAULT_BYTES = 12_000
"""The bytes from the server after which a fault comes: the deal takes 4 KB, a race 30 KB to each player."""


def command_of(example: str) -> tuple[str, ...]:
    runner = node_command() if example.endswith(".mjs") else (sys.executable, "-P")
    return (*runner, str(EXAMPLES / example))


class Race:
    """Two bots in a room: the first one made it and asks for the record, the second one joined it."""

    def __init__(self, *bots: asyncio.subprocess.Process) -> None:
        self.bots = bots

    async def end(self) -> list[int]:
        """Wait until both bots have ended; return their exit codes."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return list(await asyncio.gather(*(bot.wait() for bot in self.bots)))


@asynccontextmanager
async def racing(
    urls: tuple[str, str], examples: tuple[str, str], record: Path, **options: object
) -> AsyncIterator[Race]:
    """Start two bots, each at its own URL of a server."""
    first = await start(examples[0], urls[0], json.dumps({"countdown_seconds": 0, **options}), str(record))
    assert first.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            room = (await first.stdout.readline()).decode().removeprefix("room ").partition(",")[0]
        second = await start(examples[1], urls[1], room)
        try:
            yield Race(first, second)
        finally:
            await end_process(second)
    finally:
        await end_process(first)


async def start(example: str, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(*command_of(example), *arguments, stdout=PIPE)


def verdicts(folder: Path, texts: list[str]) -> list[str]:
    """Return what verify.mjs says of each of these records: nothing if it is right."""
    files = [folder / f"{number}.jsonl" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, "utf-8")
    done = subprocess.run([*command_of("verify.mjs"), *files], check=False, capture_output=True, text=True)
    found = [line.partition(": WRONG: ")[2] for line in done.stdout.splitlines()]
    assert len(found) == len(files), done.stderr
    assert done.returncode == (1 if any(found) else 0)
    return found


def our_verdict(text: str) -> str:
    try:
        _, checks = verify_record(text)
        list(checks)
    except WrongRecord as reason:
        return str(reason)
    return ""


def link_address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0


@pytest.mark.parametrize("example", MOST_LINES)
def test_an_example_is_short_enough_to_read(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (EXAMPLES / example).read_text("utf-8").splitlines()
    with capsys.disabled():
        sys.stdout.write(f"docs/examples/{example}: {len(lines)} lines\n")
    assert (len(lines) < MOST_LINES[example], max(map(len, lines)) <= 120) == (True, True)


@parametrize_with_long("rules", [*SHORT_RULES, *LONG_RULES], quick=1)
async def test_the_two_bots_race_and_the_record_is_right(server_url: str, tmp_path: Path, rules: str) -> None:
    examples = ("bot.py", "bot.mjs") if rules in SHORT_RULES[::2] else ("bot.mjs", "bot.py")
    record = tmp_path / "match.jsonl"
    async with racing((server_url, server_url), examples, record, rules=rules) as race:
        assert await race.end() == [0, 0]
    text = record.read_text("utf-8")
    assert (our_verdict(text), verdicts(tmp_path, [text])) == ("", [""])


@pytest.mark.long
async def test_the_two_bots_play_all_rounds_of_a_match(server_url: str, tmp_path: Path) -> None:
    record = tmp_path / "match.jsonl"
    async with racing((server_url, server_url), ("bot.mjs", "bot.py"), record, best_of=3) as race:
        assert await race.end() == [0, 0]
    assert verdicts(tmp_path, [record.read_text("utf-8")]) == [""]


@pytest.mark.long
@parametrize_with_long("example", ["bot.py", "bot.mjs"], quick=1)
async def test_a_bot_that_is_cut_off_in_a_race_comes_back_and_ends_it(
    server_url: str, tmp_path: Path, example: str
) -> None:
    record = tmp_path / "match.jsonl"
    async with faulty_link(link_address(server_url)) as link:
        urls = (f"ws://127.0.0.1:{link.port}", server_url)
        async with racing(urls, (example, "bot.py"), record) as race:
            for _ in range(2):
                await link.stall_after(FAULT_BYTES)
                link.reset()
                link.flow()
            assert await race.end() == [0, 0]
    assert verdicts(tmp_path, [record.read_text("utf-8")]) == [""]


@pytest.mark.long
@parametrize_with_long("examples", [("bot.py", "bot.mjs"), ("bot.mjs", "bot.py")], quick=1)
async def test_the_bots_race_and_resume_on_a_server_of_a_later_version(
    server_url: str, tmp_path: Path, examples: tuple[str, str]
) -> None:
    record = tmp_path / "match.jsonl"
    async with newer_server(server_url, views_until_cut=40) as newer:
        async with racing((newer.url, newer.url), examples, record) as race:
            assert await race.end() == [0, 0]
        assert newer.resumes == 1
    assert verdicts(tmp_path, [record.read_text("utf-8")]) == [""]


@pytest.mark.long
async def test_both_bots_come_back_when_the_server_is_killed_in_the_race(fleet: Fleet, tmp_path: Path) -> None:
    url = await fleet.start()
    record = tmp_path / "match.jsonl"
    async with faulty_link(link_address(url)) as link:
        held = f"ws://127.0.0.1:{link.port}"
        async with racing((held, held), ("bot.py", "bot.mjs"), record) as race:
            await link.stall_after(2 * FAULT_BYTES)
            await fleet.kill(url)
            await fleet.start(port=link_address(url)[1])
            link.flow()
            assert await race.end() == [0, 0]
    assert verdicts(tmp_path, [record.read_text("utf-8")]) == [""]


@pytest.mark.long
def test_the_verifier_accepts_every_kind_of_match(tmp_path: Path) -> None:
    rules = (*SHORT_RULES, *LONG_RULES)
    texts = [write(lines_of(signed_record(raced(seed, RoomOptions(rules=each))))) for seed, each in enumerate(rules)]
    texts += [write(lines) for lines in sound_records()]
    assert verdicts(tmp_path, texts) == ["" for _ in texts]


@pytest.mark.long
@pytest.mark.parametrize("seed", [6, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(20) if seed != 6)])
def test_the_verifier_agrees_with_ours_on_every_forged_record(tmp_path: Path, seed: int) -> None:
    chance, sound = random.Random(seed), sound_records()
    texts = [forge(chance.choice(sound), chance.choice(sound), chance) for _ in range(FORGED)]
    found = zip(texts, verdicts(tmp_path, texts), map(our_verdict, texts), strict=True)
    assert [(theirs, ours, text[:2000]) for text, theirs, ours in found if bool(theirs) != bool(ours)] == []


def test_the_verifier_repeats_the_steps_of_certified_rounds(tmp_path: Path) -> None:
    sound, later = verdicts(tmp_path, [write(certified_record()), write(dealt_later())])
    assert (sound, later) == ("", "another step than the one that is to be dealt")


@pytest.mark.long
def test_the_verifier_refuses_forged_certified_records(tmp_path: Path) -> None:
    assert all(verdicts(tmp_path, list(forged_records().values())))


def test_the_verifier_says_which_file_it_cannot_read(tmp_path: Path) -> None:
    done = subprocess.run([*command_of("verify.mjs"), tmp_path / "none"], check=False, capture_output=True, text=True)
    assert (done.returncode, "no such file" in done.stdout) == (1, True)
