"""Real servers that tamper with what they send; the client detects each at the first message that proves it."""

import asyncio
import json
import os
import random
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.model.cheated import Cheated
from fairest_cli.session.connection import Connection as Client
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import decode_from_server, encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.from_client import Create, Join, Leave
from fairest_protocol.messages.from_server import Left, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_server.app import running
from fairest_server.edge import listeners
from fairest_server.edge.session import Session
from fairest_server.settings import Settings
from tests.support.processes import CLIENT_COMMAND
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.wire_client import QUICK, open_client

OTHER_SECRET = bytes(range(32))


class Cheat(Session):
    """A session that changes, adds or leaves out entries on their way to a client, and closes the gaps in positions."""

    left_out = 0

    def show(self, data: bytes) -> None:
        message = decode_from_server(data.decode())
        if isinstance(message, View):
            told = tuple(bent for entry in message.entries for bent in self.bend(entry))
            self.left_out += len(message.entries) - len(told)
            message = View(position=message.position - self.left_out, entries=told, tag=message.tag)
        elif isinstance(message, Snapshot):
            message = message.model_copy(update={"scene": self.bend_scene(message.scene)})
        super().show(encode(message))

    def bend(self, entry: Entry) -> Iterator[Entry]:
        yield entry

    def bend_scene(self, scene: Scene) -> Scene:
        return scene

    @property
    def sealed(self) -> SealedDeal:
        assert self.room and self.room.state and self.room.state.round and self.room.state.round.sealed
        return self.room.state.round.sealed


class SwapsTwoCards(Cheat):
    """Two cards change places in the middle of the race."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, entries.Turned) and entry.turn.position in (10, 20):
            card = self.sealed.deal.orders[0][30 - entry.turn.position]
            yield entry.model_copy(update={"card": card})
        else:
            yield entry


class SkipsACard(Cheat):
    """A card that would help the player is skipped."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, entries.Turned) and entry.turn.position == 5:
            card, salt = self.sealed.deal.orders[0][6], self.sealed.salt(0, 6)
            yield entry.model_copy(update={"turn": Turn(0, 6), "card": card, "salt": salt})
        else:
            yield entry


class DealsAnotherDeck(Cheat):
    """The second player gets a deck of its own, sealed as it should be."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        state = self.room.state if self.room else None
        if state is None or state.round is None or state.seat_of_connection(self.connection_id) != 1:
            yield entry
        elif isinstance(entry, entries.Dealt):
            yield entry.model_copy(update={"envelopes": self.other(state.round.round_id).envelopes})
        elif isinstance(entry, entries.Turned) and entry.seat == 1:
            other, at = self.other(state.round.round_id), entry.turn.position
            yield entry.model_copy(update={"card": other.deal.orders[0][at], "salt": other.salt(0, at)})
        else:
            yield entry

    def other(self, round_id: bytes) -> SealedDeal:
        return seal_deal(RoomOptions().chosen_rules(), OTHER_SECRET, round_id)


class ChangesItsSecret(Cheat):
    """The commitment is to one secret, the deal comes from another that was chosen when the entropies were known."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, entries.RoundOpened):
            yield entry.model_copy(update=self.commit(entry.round, entry.match, entry.round_number))
        else:
            yield entry

    def bend_scene(self, scene: Scene) -> Scene:
        if scene.round is None:
            return scene
        return scene.model_copy(update=self.commit(scene.round, scene.match, scene.round_number))

    def commit(self, round_id: bytes, match_id: bytes | None, number: int) -> dict[str, bytes]:
        terms = self.room.state.options.terms() if self.room and self.room.state else ""
        opened = self._rooms.key.open_round(round_id, OTHER_SECRET, match_id, number, terms)
        return {"commitment": commit_secret(round_id, OTHER_SECRET), "signature": opened.signature}


class ChangesItsSecretAndLies(ChangesItsSecret):
    """The same, and at the end the secret that was committed to is shown, from which the deal does not come."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, entries.RoundFinished):
            yield entry.model_copy(update={"secret": OTHER_SECRET})
        else:
            yield from super().bend(entry)


class WithholdsTheOpening(Cheat):
    """The secret behind the commitment is never shown."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if not isinstance(entry, (entries.RoundFinished, entries.RoundVoided)):
            yield entry


class DoesNotSign(Cheat):
    """The commitment is not signed by the key that the server shows."""

    def bend_scene(self, scene: Scene) -> Scene:
        return scene if scene.round is None else scene.model_copy(update={"signature": bytes(64)})


class ShowsOtherTerms(Cheat):
    """The second player is shown a longer time limit than the round was signed for."""

    def bend_scene(self, scene: Scene) -> Scene:
        state = self.room.state if self.room else None
        if state is None or state.seat_of_connection(self.connection_id) != 1:
            return scene
        return scene.model_copy(update={"options": scene.options.model_copy(update={"limit_seconds": 7200})})


class MovesARound(Cheat):
    """A later round of a match is shown as the first one of another."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, entries.RoundOpened) and entry.round_number == 2:
            entry = entry.model_copy(update={"round_number": 1, "match": entry.round})
        yield entry


class BeginsAnotherMatch(Cheat):
    """The loser of a round is shown the next one, rightly signed, as the first one of another match."""

    def bend(self, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, entries.RoundOpened) and entry.round_number == 2:
            assert self.room and self.room.state and self.room.state.round
            secret, terms = self.room.state.round.secret, self.room.state.options.terms()
            opened = self._rooms.key.open_round(entry.round, secret, None, 1, terms)
            entry = entry.model_copy(update={"round_number": 1, "match": entry.round, "signature": opened.signature})
        yield entry


CheatingServer = Callable[[type[Cheat]], Any]


@pytest.fixture
def cheating(settings_for_tests: Settings, monkeypatch: pytest.MonkeyPatch) -> CheatingServer:
    @asynccontextmanager
    async def serve(cheat: type[Cheat]) -> AsyncIterator[str]:
        monkeypatch.setattr(listeners, "Session", cheat)
        async with running(settings_for_tests) as url:
            yield url

    return serve


async def race(url: str, receipts: Path | None = None, options: RoomOptions = QUICK) -> list[Client]:
    """Let two bots race; return both clients. Raises `Alarm`, with both clients, when a client detects a cheat."""
    first = Client(url, Identity(), Create(options=options), receipts=receipts, gives_up_after=1)
    hosting = asyncio.create_task(play_match(first, Level.CARELESS, random.Random(1), 0))
    entered = asyncio.create_task(first.entered())
    await asyncio.wait({entered, hosting}, return_when=asyncio.FIRST_COMPLETED)
    second = Client(url, Identity(), Join(room=entered.result()), receipts=receipts, gives_up_after=1)
    joining = asyncio.create_task(play_match(second, Level.CARELESS, random.Random(2), 0))
    clients = [first, second]
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            done, _ = await asyncio.wait({hosting, joining}, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            reason = task.exception()
            if isinstance(reason, Cheated):
                raise Alarm(str(reason), clients) from reason
            task.result()
    finally:
        for task in (hosting, joining):
            task.cancel()
        await asyncio.gather(hosting, joining, return_exceptions=True)
    return clients


class Alarm(Exception):
    def __init__(self, sentence: str, clients: list[Client]) -> None:
        super().__init__(sentence)
        self.clients = clients


async def test_an_honest_server_raises_no_alarm_and_proves_every_envelope(cheating: CheatingServer) -> None:
    async with cheating(Cheat) as url:
        clients = await race(url)
    assert [client.model.seal_check.proved_envelopes for client in clients] == [48, 48]


async def test_two_cards_swapped_in_mid_race_are_caught_when_the_first_of_them_is_turned(
    cheating: CheatingServer,
) -> None:
    async with cheating(SwapsTwoCards) as url:
        with pytest.raises(Alarm, match=r"The card at position 11, .., does not come from its envelope") as caught:
            await race(url)
    assert max(client.model.position for client in caught.value.clients) > 10


async def test_a_card_that_is_skipped_is_missed_at_once(cheating: CheatingServer) -> None:
    async with cheating(SkipsACard) as url:
        with pytest.raises(Alarm, match="turns the card at position 7 after the one at position 5"):
            await race(url)


async def test_different_decks_are_caught_with_the_first_card_that_both_have_turned(cheating: CheatingServer) -> None:
    async with cheating(DealsAnotherDeck) as url:
        with pytest.raises(Alarm, match=r"The card at position 1, .., does not come from its envelope") as caught:
            await race(url)
    words = [client.model.seal_check.check_words for client in caught.value.clients]
    assert words[0] != words[1]
    assert all(len(each) == 4 for each in words)


@pytest.mark.parametrize(
    ("cheat", "sentence"),
    [
        (ChangesItsSecret, "The secret does not belong to the commitment"),
        (ChangesItsSecretAndLies, "The envelope at position 1 holds another deal's card"),
    ],
)
async def test_a_changed_secret_is_caught_when_it_is_opened(
    cheating: CheatingServer, cheat: type[Cheat], sentence: str
) -> None:
    async with cheating(cheat) as url:
        with pytest.raises(Alarm, match=sentence):
            await race(url)


async def test_a_commitment_that_is_not_signed_is_refused_before_anybody_is_ready(cheating: CheatingServer) -> None:
    async with cheating(DoesNotSign) as url:
        with pytest.raises(Alarm, match="did not sign its commitment") as caught:
            await race(url)
    assert caught.value.clients[0].model.seal_check.entropy_hashes[1] is None


async def test_other_terms_than_those_that_were_signed_are_noticed_before_anybody_is_ready(
    cheating: CheatingServer,
) -> None:
    async with cheating(ShowsOtherTerms) as url:
        with pytest.raises(Alarm, match="did not sign its commitment, the match and the rules") as caught:
            await race(url)
    assert caught.value.clients[1].model.seal_check.entropy_hashes == (None, None)


@pytest.mark.long
async def test_a_round_that_is_moved_to_another_match_is_noticed(cheating: CheatingServer) -> None:
    async with cheating(MovesARound) as url:
        with pytest.raises(Alarm, match="did not sign its commitment, the match and the rules"):
            await race(url, options=QUICK.model_copy(update={"best_of": 3}))


@pytest.mark.long
async def test_a_match_that_is_not_over_cannot_be_begun_anew(cheating: CheatingServer) -> None:
    async with cheating(BeginsAnotherMatch) as url:
        with pytest.raises(Alarm, match="begins another match, and the one before is not over"):
            await race(url, options=QUICK.model_copy(update={"best_of": 3}))


@pytest.mark.long
async def test_an_opening_withheld_is_missed_when_the_next_round_opens(cheating: CheatingServer) -> None:
    async with cheating(WithholdsTheOpening) as url:
        with pytest.raises(Alarm, match="opens another round and never opened its commitment"):
            await race(url, options=QUICK.model_copy(update={"best_of": 3}))


async def test_an_opening_withheld_from_a_round_that_is_called_off_is_missed_too(cheating: CheatingServer) -> None:
    async with cheating(WithholdsTheOpening) as url, open_client(url) as guest, open_client(url) as next_guest:
        client = Client(url, Identity(), Create(options=QUICK), gives_up_after=1)
        hosting = asyncio.create_task(play_match(client, Level.CARELESS, random.Random(1), 0))
        room = await client.entered()
        await guest.enter(Join(room=room))
        await guest.send(Leave())
        await guest.receive_a(Left)
        await next_guest.enter(Join(room=room))
        with pytest.raises(Cheated, match="opens another round and never opened its commitment"):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await hosting


async def test_the_receipt_holds_the_last_message_of_the_cheat(cheating: CheatingServer, tmp_path: Path) -> None:
    async with cheating(SwapsTwoCards) as url:
        with pytest.raises(Alarm):
            await race(url, receipts=tmp_path)
    told = [json.loads(line) for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()]
    turned = [entry for line in told for entry in line.get("heard", {}).get("entries", ()) if entry["type"] == "turned"]
    assert [entry for entry in turned if entry["turn"][1] == 10]


async def test_the_program_stops_with_an_alarm_and_says_where_the_receipt_is(
    cheating: CheatingServer, tmp_path: Path
) -> None:
    async with cheating(SwapsTwoCards) as url:
        first = Client(url, Identity(), Create(options=QUICK), gives_up_after=1)
        hosting = asyncio.create_task(play_match(first, Level.CARELESS, random.Random(1), 0))
        command = [*CLIENT_COMMAND, "join", await first.entered(), "--server", url]
        environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
        player = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment)
        async with asyncio.timeout(PATIENCE_SECONDS):
            _, told = await player.communicate(b"sa\n" * 30)
        hosting.cancel()
        await asyncio.gather(hosting, return_exceptions=True)
    assert player.returncode == 3
    assert "THE SEAL IS BROKEN. The card at position 11" in told.decode()
    assert str(tmp_path / "fairest" / "receipts") in told.decode()
    assert list((tmp_path / "fairest" / "receipts").iterdir())
