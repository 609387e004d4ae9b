"""Players with ratings in Redis, as many as a test wants, as servers would have left them."""

from redis.asyncio import Redis

from fairest_server.ratings.match_result import DAY_MS, MatchResult, RoundResult, SeatResult
from fairest_server.ratings.tally import rate_match
from fairest_server.store import keys
from fairest_server.store.ratings import Kept, RatingStore

PLAIN = SeatResult(won_ms=None, direct=0, is_near_miss=False, has_left=False)


async def add_players(redis: Redis, *names: str) -> None:
    """Let players be known by these names; the id of each is its name behind `id-`."""
    for name in names:
        await redis.hset(keys.player(f"id-{name}"), mapping={"name": name})
        await redis.set(keys.name(name), f"id-{name}")


async def today_in(redis: Redis) -> int:
    """Return the present day by Redis' clock."""
    seconds, _ = await redis.time()
    return int(seconds) * 1000 // DAY_MS


async def rate_rounds(
    redis: Redis,
    names: tuple[str, str],
    *winners: int | None,
    rules: str = "classic",
    seats: tuple[SeatResult, SeatResult] = (PLAIN, PLAIN),
) -> None:
    """Rate a match between two players of `add_players`, with a round for each of these winners, as of today."""
    store, players = RatingStore(redis), (f"id-{names[0]}", f"id-{names[1]}")
    result = MatchResult(rules, await today_in(redis), tuple(RoundResult(winner, seats) for winner in winners))
    before = await store.read_before(rules, players)
    after = rate_match(before.tallies, result, is_swapped=players[1] < players[0])
    match_id = f"{await redis.xlen(keys.RATED_RESULTS):032x}"
    assert await store.keep(match_id, players, names, result, before, after) is Kept.RATED
