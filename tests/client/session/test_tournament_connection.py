"""The receipt that a player's connection keeps of a tournament on a real server, and what it is good for."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.commands.server_audit import audit_server
from fairest_cli.model.cheated import Cheated
from fairest_cli.records.receipts import read_receipt
from fairest_cli.session.http_pages import fetch_page
from fairest_cli.session.identity import Identity
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_cli.text.verification import verify
from fairest_protocol.messages.tournaments import CreateTournament, TournamentPhase
from tests.support.round_chain import chain_of
from tests.support.tournaments import entrant, play_a_cup
from tests.support.waiting import until


class Begun:
    """A tournament of ann and bob whose first round is open, with the connection and the receipts of ann."""

    def __init__(self, url: str, ann: TournamentConnection, identity: Identity, code: str, receipts: Path) -> None:
        self.url, self.ann, self.identity, self.code, self.receipts = url, ann, identity, code, receipts

    @property
    def files(self) -> list[Path]:
        return list(self.receipts.iterdir()) if self.receipts.is_dir() else []

    def change_receipt(self, change: Callable[[dict[str, Any]], object]) -> None:
        [path] = self.files
        fields = json.loads(path.read_text())
        change(fields)
        path.write_text(json.dumps(fields, separators=(",", ":")))

    @asynccontextmanager
    async def started_again(self) -> AsyncIterator[TournamentConnection]:
        """Another run of ann's client."""
        await self.ann.close()
        again = TournamentConnection(self.url, self.identity, "ann", self.receipts)
        try:
            yield again
        finally:
            await again.close()


@pytest.fixture
async def begun(server_url: str, tmp_path: Path) -> AsyncIterator[Begun]:
    identity, receipts = Identity(), tmp_path / "receipts"
    ann, bob = TournamentConnection(server_url, identity, "ann", receipts), entrant(server_url, "bob")
    async with AsyncExitStack() as stack:
        for each in (ann, bob):
            stack.push_async_callback(each.close)
        code = (await ann.enter(CreateTournament())).code
        await bob.join(code)
        await ann.start()

        async def is_open() -> bool:
            return (await ann.watch()).phase is TournamentPhase.GATHERING

        await until(is_open, "the first round is open")
        yield Begun(server_url, ann, identity, code, receipts)


async def test_the_commitment_of_a_round_is_in_the_receipt_before_anybody_is_ready(begun: Begun) -> None:
    [path] = begun.files
    assert begun.ann.known is not None
    shown = json.loads(path.read_text())["rounds"][0]["commitment"]
    assert shown == begun.ann.known.newest.commitment.hex()


async def test_a_spectator_keeps_no_receipt(begun: Begun, tmp_path: Path) -> None:
    folder = tmp_path / "of a spectator"
    eve = TournamentConnection(begun.url, Identity(), "eve", folder)
    await eve.watch(begun.code)
    await eve.close()
    assert not folder.exists()


async def test_a_client_that_is_started_again_goes_on_with_its_receipt(begun: Begun) -> None:
    begun.change_receipt(lambda fields: fields["rounds"][0].update(seen_ms=7))
    async with begun.started_again() as again:
        await again.join(begun.code)
        assert again.known is not None and again.known.witnesses[1].seen_ms == 7


async def test_a_client_that_is_started_again_holds_the_server_to_the_commitment_in_its_receipt(begun: Begun) -> None:
    begun.change_receipt(lambda fields: fields["rounds"][0].update(commitment="00" * 32))
    async with begun.started_again() as again:
        with pytest.raises(Cheated, match="another commitment for round 1 than before"):
            await again.join(begun.code)


async def test_a_receipt_of_another_tournament_under_the_same_code_is_not_gone_on_with(begun: Begun) -> None:
    begun.change_receipt(lambda fields: fields.update(tournament="00" * 16))
    begun.change_receipt(lambda fields: fields["rounds"][0].update(seen_ms=7))
    async with begun.started_again() as again:
        await again.join(begun.code)
        assert again.known is not None and again.known.witnesses[1].seen_ms > 7


async def test_a_receipt_that_cannot_be_written_is_said_and_ends_nothing(begun: Begun, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    again = TournamentConnection(begun.url, begun.identity, "ann", tmp_path / "a file")
    shown = await again.join(begun.code)
    await again.close()
    assert shown.phase is TournamentPhase.GATHERING
    assert again.problem.startswith("The receipt of this tournament could not be written: ")


@pytest.mark.long
async def test_the_record_of_a_race_agrees_with_the_receipt_of_its_player(server_url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        code = await play_a_cup(server_url, stack, receipts=tmp_path)
    _, body = await asyncio.to_thread(fetch_page, server_url, f"/tournament-races/{code}?round=1&name=player-2")
    [path] = tmp_path.glob(f"{code}-player-2-*.json")
    shown = verify(body.decode(), None, read_receipt(path))
    assert shown.is_right, shown.lines
    assert "Receipt: its 7 moves and its score are those that your client was shown." in shown.lines


@pytest.mark.long
async def test_an_audit_finds_the_rounds_of_the_receipts_in_the_chain(server_url: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        await play_a_cup(server_url, stack, receipts=tmp_path / "receipts")

    async def is_there() -> bool:
        return len(await chain_of(server_url)) == 2

    await until(is_there, "the round has its end in the chain")
    _, findings = await asyncio.to_thread(
        audit_server, server_url, tmp_path / "receipts", tmp_path / "heads", lambda _number, _last: None
    )
    # Each of the two players has a receipt of the same round.
    assert (findings.alarms, findings.own_rounds) == ([], 2)


@pytest.mark.long
async def test_an_audit_finds_out_that_a_round_of_a_receipt_has_another_deck_in_the_chain(
    server_url: str, tmp_path: Path
) -> None:
    receipts = tmp_path / "receipts"
    async with AsyncExitStack() as stack:
        await play_a_cup(server_url, stack, receipts=receipts)
    path = next(receipts.glob("*-player-1-*.json"))
    fields = json.loads(path.read_text())
    fields["rounds"][0]["entropies"][0][1] = "00" * 32
    path.write_text(json.dumps(fields, separators=(",", ":")))

    async def is_there() -> bool:
        return len(await chain_of(server_url)) == 2

    await until(is_there, "the round has its end in the chain")
    _, findings = await asyncio.to_thread(
        audit_server, server_url, receipts, tmp_path / "heads", lambda _number, _last: None
    )
    [alarm] = findings.alarms
    assert path.name in alarm and "has another deck there" in alarm
