"""`fairest audit` as typed, and against real servers: one that is honest, one that lies about what its players saw."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_cli.commands.server_audit import audit_server
from fairest_cli.records.findings import Findings
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity, open_identity
from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.from_server import Welcome
from fairest_server.app import running
from fairest_server.room.round_entries import round_entries
from fairest_server.room.steps import Step
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import Bot
from tests.support.invoking import invoke
from tests.support.lying_chain import KEY, MadeChain, MadeRound, serving_pages
from tests.support.round_chain import chain_of, endings
from tests.support.waiting import until
from tests.support.wire_client import QUICK


def made_chain(rounds: int = 100) -> MadeChain:
    """Make a chain whose head is signed about now."""
    chance, chain = random.Random(1), MadeChain(int(time.time() * 1000) - 2_000 * rounds - 600_000)
    for _ in range(rounds):
        chain.play(MadeRound(chance))
    return chain


def test_a_right_chain_ends_with_exit_code_0_and_says_what_was_checked(tmp_path: Path) -> None:
    with serving_pages(made_chain().answers()) as url:
        ended = invoke(tmp_path, "audit", url)
    assert ended.exit_code == 0, ended.stderr
    assert "Entries 1 to 200: each follows from the one before, and the server has signed the last." in ended.stdout
    assert "Of the rounds to which both players were bound, 100.0% are proved." in ended.stdout
    assert "Decks of classic: 100; ranks in" in ended.stdout
    assert ended.stdout.endswith("Everything that can be checked is right.\n")


def test_json_is_one_line_for_programs(tmp_path: Path) -> None:
    with serving_pages(made_chain().answers()) as url:
        ended = invoke(tmp_path, "audit", url, "--json")
    found = json.loads(ended.stdout)
    assert (found["key"], found["ends"], found["proved_share"]) == (KEY.public.hex(), {"proved": 100}, 1.0)
    assert found["decks"]["classic"]["decks"] == 100


def test_a_chain_that_changed_since_the_last_audit_ends_with_exit_code_3(tmp_path: Path) -> None:
    chain = made_chain()
    with serving_pages(chain.answers()) as url:
        assert invoke(tmp_path, "audit", url).exit_code == 0
    chain.cut(100)
    chain.now_ms += 60_000
    chain.play(MadeRound(random.Random(2)))
    with serving_pages(chain.answers()) as url:
        ended = invoke(tmp_path, "audit", url)
    assert ended.exit_code == 3
    assert "WRONG: Entry 200, whose signed hash" in ended.stdout


def test_a_wrong_hash_ends_with_exit_code_3(tmp_path: Path) -> None:
    chain = made_chain()
    chain.lines[7] = chain.lines[8]
    with serving_pages(chain.answers()) as url:
        ended = invoke(tmp_path, "audit", url)
    assert (ended.exit_code, ended.stdout[:6]) == (3, "WRONG:")


def test_a_server_that_does_not_answer_ends_with_exit_code_1(tmp_path: Path) -> None:
    ended = invoke(tmp_path, "audit", "ws://127.0.0.1:1")
    assert ended.exit_code == 1
    assert "No server answers at ws://127.0.0.1:1" in ended.stderr


def test_an_address_that_is_none_ends_with_exit_code_2(tmp_path: Path) -> None:
    assert invoke(tmp_path, "audit", "example.org").exit_code == 2


async def race(url: str, folder: Path) -> None:
    """Play a match with two clients of this machine, which keep receipts and heads."""
    with open_identity(url, "ann", folder) as ann, open_identity(url, "bob", folder) as bob:
        receipts = folder / "receipts"
        first = Bot(Connection(url, ann, Create(options=QUICK), name="ann", receipts=receipts), random.Random(1))
        hosting = asyncio.create_task(first.race())
        room = await first.connection.entered()
        second = Bot(Connection(url, bob, Join(room=room), name="bob", receipts=receipts), random.Random(2))
        await asyncio.gather(hosting, second.race())


async def audited(url: str, folder: Path) -> Findings:
    _, findings = await asyncio.to_thread(
        audit_server, url, folder / "receipts", folder / "heads", lambda _number, _last: None
    )
    return findings


async def ended_rounds(url: str, count: int) -> None:
    async def are_there() -> bool:
        counts = endings(await chain_of(url))
        return counts.total() - counts["open"] == count

    await until(are_there, f"the ends of {count} rounds are in the chain")


@pytest.mark.long
async def test_the_receipts_and_heads_of_an_honest_server_are_all_in_its_chain(server_url: str, tmp_path: Path) -> None:
    for number in range(3):
        await race(server_url, tmp_path)
        await ended_rounds(server_url, number + 1)
    findings = await audited(server_url, tmp_path)
    assert (findings.alarms, findings.own_rounds) == ([], 3)
    assert findings.own_heads > 1


Lie = Callable[[Callable[[str], str | None]], None]


@pytest.fixture
def lie(monkeypatch: pytest.MonkeyPatch) -> Lie:
    """Return a function that lets the server change, or leave out, each entry on its way to the chain."""

    def install(change: Callable[[str], str | None]) -> None:
        def lying(steps: Sequence[Step]) -> Iterator[str]:
            return iter([text for each in round_entries(steps) if (text := change(each)) is not None])

        monkeypatch.setattr("fairest_server.live.proposal.round_entries", lying)

    # Not to wait for two minutes until a round is missed.
    monkeypatch.setattr("fairest_cli.records.chain_audit.GRACE_MS", 0)
    return install


async def test_a_server_that_leaves_a_round_out_is_found_out_by_its_players(
    server_url: str, tmp_path: Path, lie: Lie
) -> None:
    await race(server_url, tmp_path)
    await ended_rounds(server_url, 1)
    lie(lambda _: None)
    await race(server_url, tmp_path)

    async def is_missed() -> None:
        alarms = (await audited(server_url, tmp_path)).alarms
        assert len(alarms) == 1
        assert "is not in the chain, although the server has committed itself to it" in alarms[0]

    await until(is_missed, "the server has shown a head that is younger than the round")


async def test_a_server_that_says_that_nobody_revealed_is_found_out_by_its_players(
    server_url: str, tmp_path: Path, lie: Lie
) -> None:
    def broken_off(text: str) -> str:
        fields = json.loads(text)
        if fields["type"] == "ended":
            endings = ["not_revealed", "not_revealed"]
            fields |= {"how": "broken_off", "endings": endings, "revealed": [False, False], "seed": None}
        return json.dumps(fields)

    lie(broken_off)
    await race(server_url, tmp_path)
    await ended_rounds(server_url, 1)
    findings = await audited(server_url, tmp_path)
    assert (findings.proved_share, len(findings.alarms)) == (0.0, 3)


async def welcome_note(url: str, identity: Identity) -> str:
    """Return the warning that a client shows when it is welcomed."""
    async with aclosing(Connection(url, identity, Create(options=QUICK)).updates()) as updates:
        async for update in updates:
            if isinstance(update.message, Welcome):
                return update.note
    raise AssertionError("the client was not welcomed")


async def test_a_chain_that_went_back_is_told_to_the_next_player_who_connects(
    settings_for_tests: Settings, redis: BatchingRedis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process is left that remembers the end of the chain, so nobody declares the loss."""
    for module in ("heads", "chain_audit"):
        monkeypatch.setattr(f"fairest_cli.records.{module}.CLOCK_MS", 0)
    async with running(settings_for_tests) as url:
        await race(url, tmp_path)
        await ended_rounds(url, 1)
        with open_identity(url, None, tmp_path) as identity:
            assert await welcome_note(url, identity) == ""
    await redis.delete(keys.ROUND_CHAIN)
    async with running(settings_for_tests.model_copy(update={"port": urlsplit(url).port})) as url:
        with open_identity(url, None, tmp_path) as identity:
            note = await welcome_note(url, identity)
        assert "went back, from entry 2 to 0. Unless its Redis has lost data, it has dropped rounds" in note
        assert (await audited(url, tmp_path)).alarms
