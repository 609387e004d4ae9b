"""Two players on different processes make the winning move at once: one of them wins, the same for all viewers."""

import pytest

from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.photo_finish import find_won_race, race_to_the_line, room_code
from tests.support.processes import serving_fleet


@pytest.mark.long
@pytest.mark.parametrize("races", [3, pytest.param(25, marks=pytest.mark.long)])
async def test_of_two_players_who_finish_at_once_on_two_processes_one_wins(
    redis_url: str, redis: BatchingRedis, races: int
) -> None:
    seed, moves = find_won_race()
    async with serving_fleet(redis_url) as fleet:
        urls = await fleet.start(), await fleet.start(), await fleet.start()
        finishes = [await race_to_the_line(urls, redis, room_code(n), seed, moves) for n in range(races)]
    assert [problem for finish in finishes for problem in finish.problems] == []
    assert all(finish.winner in (0, 1) for finish in finishes)
