"""A tournament of as many players as there may be, over two processes: nobody more enters, and nobody is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from fairest_cli.session.request_connection import RequestRefused
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.calculation.tournament import MOST_PLAYERS
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.messages.tournaments import CreateTournament, Tournament, TournamentPhase
from tests.support.processes import Fleet
from tests.support.tournaments import entrant, play_careless

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

BOUND_SECONDS = 120
"""The time from the start to the standings. On two cores, beside other tests at a load of 13, it took 18 s."""
LOOK_SECONDS = 0.5
MOVES = 5


class Full:
    """A tournament with all its players, half of them at each of two processes, and one player too many."""

    def __init__(self, players: list[TournamentConnection], code: str, late: TournamentConnection) -> None:
        self.players, self.code, self.late = players, code, late

    async def play(self) -> list[Tournament]:
        """Play it to its end, and return it as each player is shown it then."""
        await self.players[0].start()
        playing = (
            play_careless(each, MOVES, seed, look_seconds=LOOK_SECONDS) for seed, each in enumerate(self.players)
        )
        return await asyncio.gather(*playing)


@pytest.fixture
async def full(fleet: Fleet) -> AsyncIterator[Full]:
    urls = [await fleet.start(), await fleet.start()]
    async with AsyncExitStack() as stack:
        connections = [entrant(urls[number % 2], f"player-{number}") for number in range(MOST_PLAYERS + 1)]
        for each in connections:
            stack.push_async_callback(each.close)
        *players, late = connections
        shown = await players[0].enter(CreateTournament(most_players=MOST_PLAYERS, rounds=1, ready_seconds=60))
        await asyncio.gather(*(each.join(shown.code) for each in players[1:]))
        yield Full(players, shown.code, late)


async def test_a_player_behind_the_limit_is_refused_with_the_reason(full: Full) -> None:
    with pytest.raises(RequestRefused, match=SENTENCES[Refusal.TOURNAMENT_FULL]):
        await full.late.join(full.code)


async def test_as_many_players_as_there_may_be_all_race_within_the_bound(full: Full) -> None:
    async with asyncio.timeout(BOUND_SECONDS):
        ends = await full.play()
    [over] = {(end.phase, len(end.standings), sum(row.has_left for row in end.standings)) for end in ends}
    assert over == (TournamentPhase.OVER, MOST_PLAYERS, 0)
    scores = [score for pair in ends[0].played[0].pairs for score in pair.scores]
    assert len(scores) == MOST_PLAYERS and None not in scores
