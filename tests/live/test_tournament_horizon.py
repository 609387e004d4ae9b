"""The horizon of a tournament's round spans all who race its deal: before all have ended, nobody is shown a card of it
that was not due at the own table, be it a player who races, one who has ended, or a spectator.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from fairest_protocol.calculation.cards import Card, is_card
from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.calculation.race import Race
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import TournamentList, TournamentRace, TournamentTick
from fairest_server.store import keys, tournament_keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.tournament.progress import seed_of
from tests.live.tournament_process import FOUR, Process, a_process, begin_races, race_of
from tests.tournament.cup import Cup

CLOCK: Final = re.compile(rb'"(until|now|started|time)_ms":[0-9]+')
COUNTS: Final = re.compile(rb'"placed":[0-9]+,"ended":(true|false)')
OWN_MOVES: Final = 3
"""The moves of the player aa before it stops."""
MOVES_OF_OTHERS: Final = 10


async def what_a_player_is_shown(redis: BatchingRedis, code: str, own: int, others: int) -> list[bytes]:
    """Return all that the player aa is sent while it plays; its moves follow from the seed `own`, those of the three
    others, in its pair and in the other one, and who is ahead, from `others`. Clock and code are left out.
    """
    cup = await begin_races(redis, code=code)
    process = await a_process(redis)
    races = {name: race_of(cup, process) for name in FOUR}
    chances = {name: random.Random(own if name == "aa" else others * 10 + at) for at, name in enumerate(FOUR)}
    order, sent = random.Random(others), list[bytes]()
    while races["aa"].racers[0].moves < 12:
        name = order.choice(FOUR)
        move, number = chosen(races[name], chances[name]), races[name].racers[0].moves + 1
        answer = await process.play(name, number, move.text, code)
        races[name] = races[name].play(0, move)
        if name == "aa":
            again = await process.races.race(code, 1, name)
            refused = await process.play(name, number + 5, "sa", code)
            watched = await process.show(code)
            assert isinstance(answer, TournamentRace) and isinstance(again, TournamentRace), (answer, again)
            assert isinstance(refused, Refusal)
            sent += [*map(encode, (answer, again, watched)), refused.encode()]
    return [CLOCK.sub(rb'"\1_ms":0', data).replace(code.encode(), b"") for data in sent]


@pytest.mark.parametrize("own", range(3))
async def test_a_player_is_shown_the_same_whatever_others_do_on_the_same_deal(redis: BatchingRedis, own: int) -> None:
    first = await what_a_player_is_shown(redis, "first-green-heron", own, others=1)
    second = await what_a_player_is_shown(redis, "second-green-heron", own, others=2)
    assert first == second


class Horizon:
    """A round whose player aa has ended while the others race, and all that aa and a spectator can ask for."""

    def __init__(self, cup: Cup, process: Process) -> None:
        self.cup = cup
        self.process = process
        self.races = {name: race_of(cup, process) for name in FOUR}
        self.moves: list[Move] = []
        """The moves of aa."""

    @property
    def sealed(self) -> SealedDeal:
        """The deal of the round."""
        return self.process.deals.sealed(self.cup.at, self.cup.at.newest)

    async def play(self, name: str, move: Move) -> None:
        number = self.races[name].racers[0].moves + 1
        answer = await self.process.play(name, number, move.text, self.cup.at.code)
        assert isinstance(answer, TournamentRace), answer
        self.races[name] = self.races[name].play(0, move)
        if name == "aa":
            self.moves.append(move)

    async def ask(self, player: str) -> Sequence[Message | Refusal | str | None]:
        """Return the answers to all that this player may ask for, or that a spectator may."""
        code, process = self.cup.at.code, self.process
        listed = await process.tournaments.list()
        return [
            await process.tournaments.watch(code, 0),
            await process.tournaments.watch(code, 10_000),
            TournamentList(tournaments=tuple(row for row in listed.tournaments if row.code == code)),
            await process.races.race(code, 1, player),
            await process.races.race(code, 2, player),
            *[await process.play(player, at, move.text, code) for at, move in enumerate([*self.moves, STOP], 1)],
            await process.play(player, 1, "sa", code),
            *[await process.races.record(code, 1, name) for name in FOUR],
        ]


async def racing_without_aa(redis: BatchingRedis, code: str, others: int) -> tuple[Horizon, list[list[bytes]]]:
    """Let aa stop, and the others race by this seed; return all that a spectator and aa are sent meanwhile."""
    horizon = Horizon(await begin_races(redis, code=code), await a_process(redis))
    own, chance = random.Random(1), random.Random(others)
    for _ in range(OWN_MOVES):
        await horizon.play("aa", chosen(horizon.races["aa"], own))
    await horizon.play("aa", STOP)
    asked: list[list[bytes]] = [[], []]
    order = FOUR[1:] * MOVES_OF_OTHERS
    chance.shuffle(order)
    for name in order:
        await horizon.play(name, chosen(horizon.races[name], chance))
        await ask_all(horizon, asked)
    for name in FOUR[1:-1]:
        await horizon.play(name, STOP)
        await ask_all(horizon, asked)
    return horizon, asked


async def ask_all(horizon: Horizon, asked: list[list[bytes]]) -> None:
    for sent, player in zip(asked, ("spectator", "aa"), strict=True):
        sent += [plain(answer, horizon.cup.at.code) for answer in await horizon.ask(player)]


def chosen(race: Race, chance: random.Random) -> Move:
    """Return a legal move that does not end the race."""
    legal = [move for move in race.racers[0].board.legal_moves() if move is not STOP and move.text != "resign"]
    return chance.choice(legal)


def plain(answer: Message | Refusal | str | None, code: str) -> bytes:
    """Return an answer as it is sent, without clock and code, and without the counts that everybody may know."""
    data = encode(answer) if isinstance(answer, Message) else str(answer).encode()
    if isinstance(answer, TournamentTick):
        data = COUNTS.sub(b'"placed":0', data)
    return CLOCK.sub(rb'"\1_ms":0', data).replace(code.encode(), b"")


def cards_in(value: Any) -> Iterator[Card]:
    """Yield all cards that a decoded message names."""
    if isinstance(value, str) and is_card(value):
        yield Card(value)
    elif isinstance(value, list):
        for each in value:
            yield from cards_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from cards_in([key, each])


def named_cards(sent: Sequence[bytes]) -> set[Card]:
    return {card for data in sent if data.startswith(b"{") for card in cards_in(json.loads(data))}


@pytest.mark.parametrize("at", [0, 1], ids=["a spectator", "a player that has ended"])
async def test_nobody_is_shown_what_the_others_do_while_they_race(redis: BatchingRedis, at: int) -> None:
    _, first = await racing_without_aa(redis, "first-green-heron", others=1)
    _, second = await racing_without_aa(redis, "second-green-heron", others=2)
    assert first[at] == second[at]


async def test_a_spectator_is_shown_no_card_while_anybody_races(redis: BatchingRedis) -> None:
    _, (watched, _) = await racing_without_aa(redis, "first-green-heron", others=1)
    assert named_cards(watched) == set()


async def test_a_player_that_has_ended_is_shown_no_card_behind_its_own_last_one(redis: BatchingRedis) -> None:
    horizon, (_, shown) = await racing_without_aa(redis, "first-green-heron", others=1)
    hidden = set(horizon.sealed.deal.orders[0][horizon.races["aa"].racers[0].turn.position + 1 :])
    assert named_cards(shown) & hidden == set()


async def test_the_cards_of_an_own_race_are_found_in_its_messages(redis: BatchingRedis) -> None:
    """Otherwise the tests before would find no card in any message."""
    horizon, (_, shown) = await racing_without_aa(redis, "first-green-heron", others=1)
    seen = set(horizon.sealed.deal.orders[0][: horizon.races["aa"].racers[0].turn.position + 1])
    assert seen and seen <= named_cards(shown)


@pytest.mark.parametrize("at", [0, 1], ids=["a spectator", "a player that has ended"])
async def test_neither_secret_nor_seed_nor_a_closed_salt_is_shown_while_anybody_races(
    redis: BatchingRedis, at: int
) -> None:
    horizon, asked = await racing_without_aa(redis, "first-green-heron", others=1)
    played, turn = horizon.cup.at.newest, horizon.races["aa"].racers[0].turn.position
    salts = [horizon.sealed.salt(0, position) for position in range(turn + 1, len(horizon.sealed.deal.orders[0]))]
    hidden = [played.secret, seed_of(horizon.cup.at, played), *salts]
    assert [value.hex() for value in hidden if value.hex().encode() in b"".join(asked[at])] == []


async def test_the_chain_of_rounds_gets_no_seed_while_anybody_races(redis: BatchingRedis) -> None:
    await racing_without_aa(redis, "first-green-heron", others=1)
    entries = await redis.xlen(keys.round_outbox(tournament_keys.BUCKET))
    assert entries == 0
