"""Tournaments in Redis: each change and each move happens once, whoever tries it and how often."""

import asyncio
from typing import Any

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_protocol.value import replace
from fairest_server.daily.attempt import Gap
from fairest_server.store import keys, tournament_keys
from fairest_server.store.daily import Added
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.tournaments import MOST_ENDED, Changed, TournamentStore
from fairest_server.tournament.state import Tournament
from tests.tournament.cup import CODE, Cup, names

FAR_MS = 10**15
PLAYERS = names("abc")
NOTHING = AttemptScore(won=False, placed=4, direct=0, time_ms=0)
ENTRIES = ('{"type":"opened"}', '{"type":"ended"}')


def newer(tournament: Tournament, version: int = 2, **changes: Any) -> Tournament:
    return replace(tournament, version=version, **changes)


async def create(store: TournamentStore, code: str = CODE) -> Tournament:
    """Keep a tournament of three players that is open."""
    created = replace(Cup(PLAYERS).at, code=code)
    assert await store.change(None, created, FAR_MS, ()) is Changed.MADE
    return created


async def begin_races(store: TournamentStore) -> Tournament:
    """Keep a tournament, and change it into one whose first races have started."""
    cup = Cup(PLAYERS)
    cup.start()
    cup.ready(PLAYERS)
    before = cup.at
    cup.reveal(PLAYERS)
    assert await store.change(None, before, FAR_MS, ()) is Changed.MADE
    after = newer(cup.at)
    assert await store.change(before, after, FAR_MS, ()) is Changed.MADE
    return after


async def add(
    store: TournamentStore, before: int, move: str, *, ends: bool = False, until_ms: int = FAR_MS, player: str = "aa"
) -> Added:
    made = MOVES[move] if move else None
    score = NOTHING if ends or not move else None
    added, _ = await store.add(CODE, 1, player, before, made, 0, until_ms, FAR_MS, score)
    return added


async def test_a_tournament_is_found_as_it_was_kept(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    assert await store.find(CODE) == created


async def test_there_is_no_tournament_under_a_code_that_was_not_used(redis: BatchingRedis) -> None:
    assert await TournamentStore(redis).find(CODE) is None


async def test_a_tournament_that_a_process_of_another_version_has_written_is_not_found(redis: BatchingRedis) -> None:
    await redis.hset(tournament_keys.tournament(CODE), mapping={"version": 1, "text": '{"code":"x","later":1}'})
    assert await TournamentStore(redis).find(CODE) is None


async def test_of_two_tournaments_under_one_code_the_first_one_stays(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    assert await store.change(None, replace(created, creator="eve"), FAR_MS, ()) is Changed.CONFLICT
    assert await store.find(CODE) == created


async def test_of_changes_at_the_same_time_one_is_made(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    versions = [newer(created, creator=f"player-{number}") for number in range(20)]
    changed = await asyncio.gather(*(TournamentStore(redis).change(created, each, FAR_MS, ()) for each in versions))
    assert sorted(changed) == [Changed.CONFLICT] * 19 + [Changed.MADE]
    assert await store.find(CODE) == versions[changed.index(Changed.MADE)]


async def test_a_change_whose_time_to_be_stored_is_over_changes_nothing(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    assert await store.change(created, newer(created), 1, ENTRIES) is Changed.SLOW
    assert (await store.find(CODE), await redis.xlen(keys.round_outbox(tournament_keys.BUCKET))) == (created, 0)


async def test_the_entries_of_a_change_join_the_outbox_of_rounds_in_their_order(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    assert await store.change(created, newer(created), FAR_MS, ENTRIES) is Changed.MADE
    found: Any = await redis.xrange(keys.round_outbox(tournament_keys.BUCKET))
    assert [fields[b"e"].decode() for _, fields in found] == list(ENTRIES)


async def test_a_change_that_was_not_made_adds_no_entry(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    assert await store.change(newer(created, 5), newer(created, 6), FAR_MS, ENTRIES) is Changed.CONFLICT
    assert await redis.xlen(keys.round_outbox(tournament_keys.BUCKET)) == 0


async def test_tournaments_are_active_until_they_are_over_the_newest_first(redis: BatchingRedis) -> None:
    store, codes = TournamentStore(redis), ["first-green-heron", "second-green-heron", "third-green-heron"]
    tournaments = {code: await create(store, code) for code in codes}
    for place, code in enumerate(codes):
        await redis.zadd(tournament_keys.ACTIVE, {code: place})
    over = tournaments["second-green-heron"]
    assert await store.active() == codes[::-1]
    assert await store.change(over, newer(over, phase=TournamentPhase.OVER), FAR_MS, ()) is Changed.MADE
    assert await store.active() == ["third-green-heron", "first-green-heron"]
    assert await store.active(1) == ["third-green-heron"]


async def test_a_change_leaves_a_tournament_at_its_place_in_the_list(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    created_at = await redis.zscore(tournament_keys.ACTIVE, CODE) or 0
    await redis.zadd(tournament_keys.ACTIVE, {CODE: created_at - 1_000})
    assert await store.change(created, newer(created), FAR_MS, ()) is Changed.MADE
    assert await redis.zscore(tournament_keys.ACTIVE, CODE) == created_at - 1_000


async def test_the_races_of_all_who_are_dealt_start_with_the_change(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    assert await store.running(CODE, 1) == PLAYERS


async def test_a_race_that_has_ended_is_not_started_again_by_a_later_change(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    racing = await begin_races(store)
    assert await add(store, 0, "stop", ends=True) is Added.MADE
    assert await store.change(racing, newer(racing, 3), FAR_MS, ()) is Changed.MADE
    assert await store.running(CODE, 1) == ["bb", "cc"]


async def test_a_move_is_added_once_however_often_it_is_sent(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    assert [await add(store, 0, "sa") for _ in range(3)] == [Added.MADE] * 3
    assert [timed.move.text for timed in await store.moves(CODE, 1, "aa")] == ["sa"]


async def test_of_two_moves_under_one_number_the_first_one_counts(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    assert [await add(store, 0, "sa"), await add(store, 0, "sb")] == [Added.MADE, Added.CONFLICT]


async def test_the_moves_of_a_race_are_those_of_its_player_in_its_round(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    assert await add(store, 0, "sa") is Added.MADE
    assert [await store.moves(CODE, 1, "bb"), await store.moves(CODE, 2, "aa")] == [(), ()]


async def test_a_move_is_never_before_the_start_of_its_race(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    added = await store.add(CODE, 1, "aa", 0, MOVES["sa"], FAR_MS, 2 * FAR_MS, FAR_MS, None)
    assert (added, await store.moves(CODE, 1, "aa")) == ((Added.MADE, 0), (TimedMove(0, MOVES["sa"]),))


async def test_a_race_that_ends_has_its_score_at_once_with_the_time_of_its_last_move(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    started_ms = await read_clock(redis) - 5_000
    _, at_ms = await store.add(CODE, 1, "aa", 0, MOVES["stop"], started_ms, FAR_MS, FAR_MS, NOTHING)
    assert (at_ms >= 5_000, await store.score(CODE, 1, "aa")) == (True, replace(NOTHING, time_ms=at_ms))


async def test_a_race_that_has_ended_takes_no_move(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    assert await add(store, 0, "stop", ends=True) is Added.MADE
    assert (await store.running(CODE, 1), await add(store, 1, "sa")) == (["bb", "cc"], Added.ENDED)


async def test_a_move_behind_the_limit_is_late_and_only_then_the_time_ends_a_race(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    tries = [("", FAR_MS), ("sa", 1), ("", 1), ("", 1)]
    added = [await add(store, 0, move, until_ms=until_ms) for move, until_ms in tries]
    assert added == [Added.EARLY, Added.LATE, Added.MADE, Added.ENDED]


async def test_a_race_that_its_time_has_ended_keeps_the_score_that_was_given(redis: BatchingRedis) -> None:
    store, score = TournamentStore(redis), AttemptScore(won=False, placed=9, direct=3, time_ms=1_200_000)
    await begin_races(store)
    assert (await store.add(CODE, 1, "bb", 0, None, 0, 1, FAR_MS, score))[0] is Added.MADE
    assert (await store.scores(CODE, 1), await store.score(CODE, 1, "aa")) == ({"bb": score}, None)


async def test_a_player_without_a_race_makes_no_move(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    assert await add(store, 0, "sa", player="eve") is Added.ENDED


async def test_a_move_whose_time_to_be_stored_is_over_changes_nothing(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    added, _ = await store.add(CODE, 1, "aa", 0, MOVES["sa"], 0, FAR_MS, 1, None)
    assert (added, await store.moves(CODE, 1, "aa")) == (Added.SLOW, ())


async def test_the_newest_count_of_placed_cards_is_kept_for_each_player(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    for player, placed in (("aa", 5), ("bb", 4), ("aa", 6)):
        await store.count_placed(CODE, 1, player, placed)
    assert (await store.placed(CODE, 1), await store.placed(CODE, 2)) == ({"aa": 6, "bb": 4}, {})


async def test_the_times_without_a_server_are_those_of_the_deployment(redis: BatchingRedis) -> None:
    await redis.rpush(keys.PAUSES, "1000-2000", "5000-9000")
    assert await TournamentStore(redis).gaps() == (Gap(1_000, 2_000), Gap(5_000, 9_000))


async def test_every_key_of_a_tournament_but_the_list_expires(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    await begin_races(store)
    await add(store, 0, "sa")
    await add(store, 0, "stop", ends=True, player="bb")
    await store.count_placed(CODE, 1, "aa", 4)
    kept = [
        tournament_keys.tournament(CODE),
        tournament_keys.running(CODE, 1),
        tournament_keys.scores(CODE, 1),
        tournament_keys.placed(CODE, 1),
        tournament_keys.moves(CODE, 1, "aa"),
    ]
    assert [await redis.ttl(key) > keys.RECORD_SECONDS - 60 for key in kept] == [True] * 5


async def test_a_tournament_that_ends_moves_to_those_that_have_ended(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    created = await create(store)
    assert (await store.active(), await store.ended()) == ([CODE], [])
    await store.change(created, newer(created, phase=TournamentPhase.CANCELLED), FAR_MS, ())
    assert (await store.active(), await store.ended()) == ([], [CODE])


async def test_the_thirty_tournaments_that_have_ended_last_are_listed(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    codes = [f"quiet-{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(MOST_ENDED + 2)]
    for code in codes:
        created = await create(store, code)
        assert await store.change(created, newer(created, phase=TournamentPhase.OVER), FAR_MS, ()) is Changed.MADE
    assert sorted(await store.ended()) == sorted(codes[2:])


async def test_older_tournaments_that_have_ended_leave_nothing_in_their_list(redis: BatchingRedis) -> None:
    store = TournamentStore(redis)
    for number in range(MOST_ENDED + 2):
        created = await create(store, f"quiet-{'a' * (number + 1)}")
        await store.change(created, newer(created, phase=TournamentPhase.OVER), FAR_MS, ())
    assert await redis.zcard(tournament_keys.ENDED) == MOST_ENDED


async def test_a_race_that_waits_for_its_start_is_not_begun_by_a_change(redis: BatchingRedis) -> None:
    store, cup = TournamentStore(redis), Cup(PLAYERS)
    cup.start()
    before = cup.at
    assert await store.change(None, before, FAR_MS, ()) is Changed.MADE
    cup.ready(PLAYERS)
    assert await store.change(before, newer(cup.at), FAR_MS, ()) is Changed.MADE
    assert await store.running(CODE, 1) == []


async def test_a_tournament_that_was_not_known_before_begins_no_race(redis: BatchingRedis) -> None:
    store, cup = TournamentStore(redis), Cup(PLAYERS)
    cup.start()
    cup.ready(PLAYERS)
    cup.reveal(PLAYERS)
    assert await store.change(None, cup.at, FAR_MS, ()) is Changed.MADE
    assert await store.running(CODE, 1) == []


async def test_ten_thousand_tournaments_are_active_at_most(redis: BatchingRedis) -> None:
    await redis.zadd(tournament_keys.ACTIVE, {f"quiet-{number}": number for number in range(10_001)})
    assert len(await TournamentStore(redis).active()) == 10_000


async def test_no_more_than_thirty_tournaments_that_have_ended_are_listed(redis: BatchingRedis) -> None:
    await redis.zadd(tournament_keys.ENDED, {f"quiet-{number}": number for number in range(31)})
    assert len(await TournamentStore(redis).ended()) == 30
