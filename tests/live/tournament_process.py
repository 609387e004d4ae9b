"""Tournaments in the processes of a deployment, and one whose races have begun."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from redis.asyncio import Redis

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.seal import commit_entrant
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import Tournament as ShownTournament
from fairest_protocol.messages.tournaments import TournamentPhase, TournamentRace
from fairest_protocol.value import replace
from fairest_server.daily.attempt import begin
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.round_deals import RoundDeals
from fairest_server.live.signing import DeploymentKey, SigningKey
from fairest_server.live.tournament_races import TournamentRaces
from fairest_server.live.tournaments import Tournaments
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.tournaments import Changed, TournamentStore
from fairest_server.tournament import requests
from fairest_server.tournament.requests import Answer
from fairest_server.tournament.state import COUNTDOWN_MS, Tournament
from tests.tournament.cup import CODE, Cup, entropy_of, names

FOUR = names("abcd")


class Process:
    """The tournaments of a process that has just heard Redis' clock."""

    def __init__(self, redis: BatchingRedis, now_ms: int) -> None:
        clock, self.deals = RedisClock(), RoundDeals()
        clock.beat(now_ms)
        self.tournaments = Tournaments(TournamentStore(redis), clock, self.deals)
        key = DeploymentKey(redis, SigningKey(bytes(32)))
        self.races = TournamentRaces(self.tournaments, clock, self.deals, key)

    async def play(self, player: str, number: int, move: str, code: str = CODE) -> TournamentRace | Refusal:
        return await self.races.play(code, 1, player, number, MOVES[move])

    async def change(self, request: Callable[[Tournament, int], Answer], code: str = CODE) -> None:
        """Make a change that must not be refused."""
        assert isinstance(await self.tournaments.change(code, request), ShownTournament)

    async def get_ready_and_show(self, players: Sequence[str], code: str = CODE) -> None:
        """Let players get ready for the first round, and show their entropy."""
        for name in players:
            await self.change(partial(_get_ready, name), code)
        for name in players:
            await self.change(partial(_reveal, name), code)

    async def show(self, code: str = CODE) -> ShownTournament:
        shown = await self.tournaments.show(code)
        assert isinstance(shown, ShownTournament)
        return shown


async def a_process(redis: BatchingRedis) -> Process:
    return Process(redis, await read_clock(redis))


async def begin_races(redis: Redis, players: Sequence[str] = FOUR, code: str = CODE, **options: Any) -> Cup:
    """Store a tournament whose first races start now. All that are begun so have the same deals."""
    cup = Cup(players, rounds=1, **options)
    cup.at = replace(cup.at, code=code)
    cup.now_ms = await read_clock(redis) - COUNTDOWN_MS
    cup.start()
    cup.ready(players)
    before = cup.at
    cup.reveal(players)
    assert cup.at.phase is TournamentPhase.RACING
    store, not_after_ms = TournamentStore(redis), cup.now_ms + 60_000
    assert await store.change(None, before, not_after_ms, ()) is Changed.MADE
    cup.at = replace(cup.at, version=before.version + 1)
    assert await store.change(before, cup.at, not_after_ms, ()) is Changed.MADE
    return cup


def race_of(cup: Cup, process: Process) -> Race:
    return begin(cup.at.rules, process.deals.sealed(cup.at, cup.at.newest))


def _get_ready(name: str, tournament: Tournament, _: int) -> Answer:
    promised = commit_entrant(tournament.round_id(1), name, entropy_of(name))
    return requests.get_ready(tournament, name, 1, promised)


def _reveal(name: str, tournament: Tournament, _: int) -> Answer:
    return requests.reveal(tournament, name, 1, entropy_of(name))
