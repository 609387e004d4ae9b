"""The rating of finished matches: once each, only with a record that proves itself, whoever stored it."""

import asyncio
import re
from collections.abc import Callable

import pytest
from redis.exceptions import RedisError

from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.live.rater import (
    FADING_STRIDE,
    LEFT_BEHIND_MS,
    LOOK_STRIDE,
    RATED_AT_ONCE,
    Rater,
    RecordSource,
)
from fairest_server.live.record_finder import RecordFinder
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.signing import SigningKey
from fairest_server.live.slices import Slices
from fairest_server.ratings.match_result import DAY_MS, MatchResult, read_result
from fairest_server.ratings.tally import MatchTallies, Tally, rate_match
from fairest_server.store import keys
from fairest_server.store.ratings import RatingStore, WaitingMatch
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.races import KEY, Table, race_match
from tests.support.records import make_record, unsigned_record
from tests.support.redis_cluster import RedisCluster

ROOM = "quiet-amber-otter"
PLAYERS = ("one", "two")
DAY = 20_500
FINISHED_MS = DAY * DAY_MS


@pytest.fixture(autouse=True)
def _no_match_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "RATED_DAYS", 100_000)


def make_rater(redis: BatchingRedis, now_ms: int = FINISHED_MS) -> Rater:
    clock = RedisClock()
    clock.beat(now_ms)
    return Rater(RatingStore(redis), RecordFinder(RecordStore(redis), None), clock, Slices(), lambda: KEY.public)


async def finish(redis: BatchingRedis, rater: Rater, record: Record) -> None:
    """Store a record and let it be rated, as a record maker does."""
    is_new = await RecordStore(redis).keep(record)
    await rater.expect(ROOM, record, PLAYERS, RecordSource.READ if is_new else RecordSource.STORED)


async def tallies(redis: BatchingRedis) -> list[Tally]:
    return await RatingStore(redis).read_tallies("classic", PLAYERS)


async def look(rater: Rater) -> None:
    """Let a rater advance until it has looked for what others have left behind."""
    for _ in range(LOOK_STRIDE):
        await rater.advance()


async def test_a_match_is_rated_when_the_process_that_stored_it_advances(redis: BatchingRedis) -> None:
    rater, record = make_rater(redis), make_record(1, FINISHED_MS)
    await finish(redis, rater, record)
    await rater.advance()
    result = read_result(record, PLAYERS)
    assert isinstance(result, MatchResult)
    assert await tallies(redis) == list(rate_match(MatchTallies(), result, is_swapped=False).tallies)


async def test_a_match_that_was_rated_does_not_wait_any_more(redis: BatchingRedis) -> None:
    rater = make_rater(redis)
    await finish(redis, rater, make_record(1, FINISHED_MS))
    await rater.advance()
    assert await RatingStore(redis).waiting() == []


async def test_a_match_that_is_not_rated_does_not_wait_at_all(redis: BatchingRedis) -> None:
    rater = make_rater(redis)
    await finish(redis, rater, KEY.sign(replace(make_record(1, FINISHED_MS), names=("ann", "bot-club"))))
    assert await RatingStore(redis).waiting() == []


async def test_a_match_that_its_process_left_behind_is_rated_by_another_one(redis: BatchingRedis) -> None:
    await finish(redis, make_rater(redis), make_record(1, FINISHED_MS))
    await look(make_rater(redis, FINISHED_MS + LEFT_BEHIND_MS))
    assert [tally.rounds for tally in await tallies(redis)] == [1, 1]


async def test_a_match_that_has_just_finished_is_left_to_its_own_process(redis: BatchingRedis) -> None:
    await finish(redis, make_rater(redis), make_record(1, FINISHED_MS))
    await look(make_rater(redis, FINISHED_MS - 60_000))
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]


async def test_four_processes_that_rate_the_same_matches_at_once_rate_each_once(redis: BatchingRedis) -> None:
    raters = [make_rater(redis) for _ in range(4)]
    records = [make_record(number, FINISHED_MS) for number in range(6)]
    for rater in raters:
        for record in records:
            await finish(redis, rater, record)
    await asyncio.gather(*(rater.advance() for rater in raters))
    assert [tally.rounds for tally in await tallies(redis)] == [6, 6]


async def test_matches_that_wait_together_share_round_trips(redis: BatchingRedis) -> None:
    async def reads() -> int:
        return int((await redis.info("stats"))["total_reads_processed"])

    rater = make_rater(redis)
    await rater.advance()
    for number in range(RATED_AT_ONCE):
        record = make_record(number, FINISHED_MS)
        await rater.expect(ROOM, record, (f"one-{number}", f"two-{number}"), RecordSource.DECIDED)
    before = await reads()
    await rater.advance()
    assert await reads() - before < RATED_AT_ONCE


async def test_a_match_that_is_expected_again_after_it_was_rated_is_not_rated_again(redis: BatchingRedis) -> None:
    """So it is when a process is killed before the room's log says that the match is published."""
    rater, record = make_rater(redis), make_record(1, FINISHED_MS)
    for _ in range(2):
        await finish(redis, rater, record)
        await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [1, 1]
    assert await RatingStore(redis).waiting() == []


def with_other_moves(text: str) -> str:
    """Change the seat of a move, and leave the chain as it was."""
    return text.replace('"seat":0', '"seat":1', 1)


def without_its_end(text: str) -> str:
    return "\n".join(text.split("\n")[:-2])


def with_another_signature(text: str) -> str:
    return re.sub(r'"seal","signature":"..', '"seal","signature":"00', text)


@pytest.mark.parametrize("lie", [with_other_moves, without_its_end, with_another_signature, lambda _: "no record"])
async def test_a_record_that_was_changed_is_never_rated(redis: BatchingRedis, lie: object) -> None:
    assert callable(lie)
    rater, record = make_rater(redis), make_record(1, FINISHED_MS)
    await rater.expect(ROOM, record, PLAYERS, RecordSource.STORED)
    await redis.set(keys.record(record.match_id), lie("\n".join(record.lines())))
    await look(rater)
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]
    assert await RatingStore(redis).waiting() == []


async def test_a_record_that_another_key_has_signed_is_never_rated(redis: BatchingRedis) -> None:
    rater, record = make_rater(redis), make_record(1, FINISHED_MS)
    await rater.expect(ROOM, record, PLAYERS, RecordSource.STORED)
    other = SigningKey(bytes([1]) * 32)
    rounds = tuple(
        replace(
            played,
            signature=other.open_round(
                played.round_id, played.secret, bytes.fromhex(record.match_id), number, record.terms.text
            ).signature,
        )
        for number, played in enumerate(record.rounds, 1)
    )
    await RecordStore(redis).keep(other.sign(replace(record, rounds=rounds)))
    await look(rater)
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]


async def test_a_record_signed_with_the_right_key_whose_moves_do_not_lead_to_its_result_is_never_rated(
    redis: BatchingRedis,
) -> None:
    rater, record = make_rater(redis), make_record(1, FINISHED_MS)
    await rater.expect(ROOM, record, PLAYERS, RecordSource.STORED)
    await RecordStore(redis).keep(KEY.sign(with_the_other_winner(record)))
    await look(rater)
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]


def with_the_other_winner(record: Record) -> Record:
    [played] = record.rounds
    assert played.outcome is not None and played.outcome.winner is not None
    turned = replace(played, outcome=replace(played.outcome, winner=1 - played.outcome.winner))
    return replace(record, rounds=(turned,))


def with_a_commitment_of_another_key(record: Record) -> Record:
    [played] = record.rounds
    other = SigningKey(bytes([1]) * 32)
    opened = other.open_round(played.round_id, played.secret, None, 1, record.terms.text)
    return replace(record, rounds=(replace(played, signature=opened.signature),))


@pytest.mark.parametrize("forge", [with_the_other_winner, with_a_commitment_of_another_key])
async def test_a_record_made_of_a_log_that_no_server_wrote_is_never_rated(
    redis: BatchingRedis, forge: Callable[[Record], Record]
) -> None:
    rater, record = make_rater(redis), forge(make_record(1, FINISHED_MS))
    await finish(redis, rater, record)
    await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]
    assert await RatingStore(redis).waiting() == []


async def test_a_record_is_not_read_back_by_the_process_that_has_just_stored_it(redis: BatchingRedis) -> None:
    rater, record = make_rater(redis), make_record(1, FINISHED_MS)
    await finish(redis, rater, record)
    await redis.delete(keys.record(record.match_id))
    await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [1, 1]


async def test_of_a_match_that_this_process_has_decided_nothing_is_replayed(redis: BatchingRedis) -> None:
    rater, record = make_rater(redis), with_a_commitment_of_another_key(make_record(1, FINISHED_MS))
    await RecordStore(redis).keep(record)
    await rater.expect(ROOM, record, PLAYERS, RecordSource.DECIDED)
    await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [1, 1]


async def test_a_match_whose_record_is_gone_is_not_rated(redis: BatchingRedis) -> None:
    rater = make_rater(redis)
    await rater.expect(ROOM, make_record(1, FINISHED_MS), PLAYERS, RecordSource.STORED)
    await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]
    assert await RatingStore(redis).waiting() == []


async def test_a_match_that_was_put_there_by_hand_and_is_not_rated_stays_unrated(redis: BatchingRedis) -> None:
    record = KEY.sign(replace(make_record(1, FINISHED_MS), names=("ann", "bot-club")))
    await RecordStore(redis).keep(record)
    await RatingStore(redis).add_waiting(WaitingMatch(0, record.match_id, PLAYERS, FINISHED_MS))
    await look(make_rater(redis, FINISHED_MS + LEFT_BEHIND_MS))
    assert [tally.rounds for tally in await tallies(redis)] == [0, 0]


async def test_a_tally_that_cannot_be_read_holds_up_no_other_match(redis: BatchingRedis) -> None:
    rater, first, second = make_rater(redis), make_record(1, FINISHED_MS), make_record(2, FINISHED_MS)
    await RecordStore(redis).keep(first)
    await rater.expect(ROOM, first, ("broken", "two"), RecordSource.STORED)
    await redis.hset(keys.tallies("broken"), "classic", "no tally")
    await finish(redis, rater, second)
    await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [1, 1]


async def test_absent_players_are_taken_off_the_boards_now_and_then(redis: BatchingRedis) -> None:
    await redis.zadd(keys.board("classic"), {"gone": 1_700_000, "here": 1_600_000})
    await redis.zadd(keys.board_days("classic"), {"gone": DAY - 1, "here": DAY})
    rater = make_rater(redis)
    await rater.advance()
    assert await redis.zrange(keys.board("classic"), 0, -1) == [b"here"]
    assert FADING_STRIDE > 1


async def test_every_round_of_a_long_match_is_rated_in_one_step(redis: BatchingRedis) -> None:
    rater = make_rater(redis)
    record = KEY.sign(replace(unsigned_match(), finished_at_ms=FINISHED_MS))
    await finish(redis, rater, record)
    await rater.advance()
    assert [tally.rounds for tally in await tallies(redis)] == [len(record.rounds)] * 2
    assert await redis.xlen(keys.RATED_RESULTS) == 1


def unsigned_match() -> Record:
    table = Table(2, RoomOptions(best_of=3))
    table.start()
    race_match(table)
    return unsigned_record(table)


@pytest.mark.long
async def test_a_match_waits_while_the_node_of_the_ratings_is_away(cluster: RedisCluster) -> None:
    away = cluster.owner(keys.RATED_RESULTS)
    async with make_client(cluster.url) as redis:
        record = next(
            record
            for record in (make_record(number, FINISHED_MS) for number in range(40))
            if cluster.owner(keys.record(record.match_id)) is not away
        )
        room = next(f"room-{number}" for number in range(40) if cluster.owner(keys.log(f"room-{number}")) is not away)
        rater = make_rater(redis, FINISHED_MS + LEFT_BEHIND_MS)
        await RecordStore(redis).keep(record)
        away.freeze()
        try:
            async with asyncio.timeout(20):
                await rater.expect(room, record, PLAYERS, RecordSource.STORED)
                with pytest.raises(RedisError):
                    await rater.advance()
        finally:
            away.thaw()
        await look(rater)
        assert [tally.rounds for tally in await tallies(redis)] == [1, 1]


def test_a_raced_match_is_rated_at_all() -> None:
    """Otherwise the tests above would say little."""
    assert isinstance(read_result(make_record(1), PLAYERS), MatchResult)
