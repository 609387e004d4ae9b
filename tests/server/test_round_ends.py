"""Rounds at real, honest servers: no end is an alarm, and the clients and their receipts say how each one ended."""

import asyncio
import random
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import pytest

from fairest_cli.bots.policies import choose_greedy
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.round_end import Explained, Proved, Verdict
from fairest_cli.records.receipt_replay import judge_receipt
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.moves import RESIGN
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Create, Join, Leave, Play
from fairest_protocol.messages.from_server import Left
from fairest_protocol.messages.options import RoomOptions
from tests.support.long_tests import parametrize_with_long
from tests.support.operator import operate
from tests.support.processes import Fleet
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.wire_client import QUICK

Act = Callable[[KnownRoom], Message | None]
"""Chooses what a player does instead of its next move, if anything."""


class Ended(NamedTuple):
    """How the round ended for a client, and what its receipt says."""

    verdict: Verdict | None
    receipt: str


class Player:
    """A real client that races greedily, but for what `act` says, until its round has ended or it has left."""

    def __init__(
        self, url: str, request: Create | Join, receipts: Path, act: Act = lambda _: None, *, moves: bool = True
    ) -> None:
        self.client = Connection(url, Identity(), request, gives_up_after=1, receipts=receipts)
        self.is_racing = asyncio.Event()
        self._act = act
        self._moves = moves

    async def race(self) -> Ended:
        chance = random.Random(1)
        async with asyncio.timeout(PATIENCE_SECONDS), aclosing(self.client.updates()) as updates:
            async for update in updates:
                model = update.model
                if model.binding.last_end is not None or isinstance(update.message, Left):
                    break
                if update.message is None or model.own is None:
                    continue
                if model.phase is Phase.RACING:
                    self.is_racing.set()
                deed = self._act(model)
                if isinstance(deed, Play):
                    await self.client.play(deed.move)
                elif isinstance(deed, Leave):
                    await self.client.request(deed)
                elif model.phase is Phase.READY and model.own.entropy_hash is None:
                    await self.client.get_ready()
                elif self._moves and model.may_send_next_move and model.board and any(model.board.legal_moves()):
                    await self.client.play(choose_greedy(model.board, chance))
        end = self.client.model.binding.last_end
        assert self.client.receipt is not None and self.client.receipt.path is not None
        told = judge_receipt(self.client.receipt.path.read_text().splitlines())
        return Ended(end.verdict if end else None, " ".join(told))


async def race(
    url: str, receipts: Path, options: RoomOptions = QUICK, guest_acts: Act = lambda _: None
) -> tuple[Ended, Ended]:
    host = Player(url, Create(options=options), receipts / "host")
    hosting = asyncio.create_task(host.race())
    guest = Player(url, Join(room=await host.client.entered()), receipts / "guest", guest_acts)
    first, second = await asyncio.gather(hosting, guest.race())
    return first, second


@parametrize_with_long("rules", VARIANTS, quick=3)
async def test_an_honest_race_of_every_variant_is_proved_to_both_players(
    server_url: str, tmp_path: Path, rules: str
) -> None:
    ended = await race(server_url, tmp_path, RoomOptions(rules=rules, countdown_seconds=0))
    assert [each.verdict for each in ended] == [Proved(), Proved()]
    assert all("saw the end of 1 proved" in each.receipt for each in ended)


def resigns(model: KnownRoom) -> Message | None:
    return model.next_play(RESIGN) if model.may_send_next_move and model.own and model.own.moves == 3 else None


def leaves(phase: Phase) -> Act:
    def act(model: KnownRoom) -> Message | None:
        is_there = model.phase is phase and not model.sent and model.own is not None and model.own.entropy_hash
        return Leave() if is_there else None

    return act


async def test_a_player_who_resigns_gets_no_alarm_and_the_other_is_told_whose_word_that_is(
    server_url: str, tmp_path: Path
) -> None:
    host, guest = await race(server_url, tmp_path, guest_acts=resigns)
    sentence = "The server says that the other player resigned; only that player's client can check this."
    assert (host.verdict, guest.verdict, sentence in host.receipt) == (Explained(sentence), Proved(), True)


@pytest.mark.parametrize("phase", [Phase.COUNTDOWN, Phase.RACING])
async def test_a_player_who_leaves_gets_no_alarm(server_url: str, tmp_path: Path, phase: Phase) -> None:
    options = RoomOptions(countdown_seconds=3 if phase is Phase.COUNTDOWN else 0)
    host, guest = await race(server_url, tmp_path, options, leaves(phase))
    assert (isinstance(host.verdict, Explained), guest.verdict) == (True, Proved())


@pytest.mark.long
async def test_a_room_closed_by_the_operator_in_a_race_is_broken_off_by_the_operator(
    fleet: Fleet, redis_url: str, tmp_path: Path
) -> None:
    url = await fleet.start()
    host = Player(url, Create(options=QUICK), tmp_path / "host", moves=False)
    hosting = asyncio.create_task(host.race())
    guest = Player(url, Join(room=await host.client.entered()), tmp_path / "guest", moves=False)
    joining = asyncio.create_task(guest.race())
    await host.is_racing.wait()
    ran = await operate(redis_url, "close", host.client.model.room or "", "--reason", "repairs")
    ended = await asyncio.gather(hosting, joining)
    assert ran.code == 0
    for each in ended:
        assert isinstance(each.verdict, Explained)
        assert "broken off by the operator after the deck was fixed: repairs" in each.verdict.sentence
