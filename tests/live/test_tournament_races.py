"""Races of tournaments: over processes, to their end by time, and without a trace of another race on the same deal."""

from fairest_protocol.calculation.tournament_record import parse_tournament_record
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import TournamentPhase, TournamentRace
from fairest_protocol.value import replace
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.tournaments import Changed, TournamentStore
from tests.live.tournament_process import FOUR, Process, a_process, begin_races
from tests.tournament.cup import CODE


async def test_a_race_is_played_over_two_processes(redis: BatchingRedis) -> None:
    await begin_races(redis)
    first, second = await a_process(redis), await a_process(redis)
    for number, process in enumerate([first, second, first], 1):
        assert isinstance(await process.play("aa", number, "sa"), TournamentRace)
    answer = await second.play("aa", 4, "stop")
    assert isinstance(answer, TournamentRace) and answer.result is not None and answer.moves == 4


async def test_the_last_move_sent_again_is_answered_by_the_same_entries(redis: BatchingRedis) -> None:
    await begin_races(redis)
    process = await a_process(redis)
    first = await process.play("aa", 1, "sa")
    again = await (await a_process(redis)).play("aa", 1, "sa")
    assert isinstance(first, TournamentRace) and isinstance(again, TournamentRace)
    assert (again.entries, again.moves) == (first.entries, 1)


async def test_the_move_that_ended_a_race_sent_again_is_answered_by_the_same_entries(redis: BatchingRedis) -> None:
    await begin_races(redis)
    process = await a_process(redis)
    await process.play("aa", 1, "sa")
    first, again = [await process.play("aa", 2, "stop") for _ in range(2)]
    assert isinstance(first, TournamentRace) and isinstance(again, TournamentRace)
    assert (again.entries, again.result) == (first.entries, first.result)


async def test_a_player_without_a_part_in_the_round_has_no_race(redis: BatchingRedis) -> None:
    await begin_races(redis)
    assert await (await a_process(redis)).races.race(CODE, 1, "stranger") is Refusal.NOT_ENTERED


async def test_no_card_is_shown_before_the_races_start(redis: BatchingRedis) -> None:
    cup = await begin_races(redis)
    early = Process(redis, cup.at.newest.started_ms - 2_000)
    assert await early.races.race(CODE, 1, "aa") is Refusal.RACE_NOT_STARTED


async def test_the_round_is_over_when_all_races_have_ended(redis: BatchingRedis) -> None:
    await begin_races(redis)
    process = await a_process(redis)
    for player in FOUR:
        assert (await process.show()).phase is TournamentPhase.RACING
        await process.play(player, 1, "stop")
    shown = await process.show()
    assert shown.phase is TournamentPhase.OVER and shown.played[0].secret is not None


async def test_races_end_when_their_time_is_over(redis: BatchingRedis) -> None:
    cup = await begin_races(redis, limit_seconds=30)
    await (await a_process(redis)).play("aa", 1, "sa")
    late = await begin_races(redis, code="late-green-heron", limit_seconds=30)
    store = TournamentStore(redis)
    overdue = replace(late.at.newest, started_ms=cup.at.newest.started_ms - 31_000)
    following = replace(late.at, rounds=(overdue,), version=late.at.version + 1)
    assert await store.change(late.at, following, cup.now_ms + 60_000, ()) is Changed.MADE
    process = await a_process(redis)
    await process.tournaments.advance()
    over, going_on = await process.show("late-green-heron"), await process.show()
    assert (over.phase, going_on.phase) == (TournamentPhase.OVER, TournamentPhase.RACING)
    scores = [score for pair in over.played[0].pairs for score in pair.scores]
    assert [score.time_ms for score in scores if score is not None] == [30_000] * 4


async def test_the_record_of_a_race_is_there_when_the_round_is_over_and_proves_itself(redis: BatchingRedis) -> None:
    await begin_races(redis)
    process = await a_process(redis)
    await process.play("aa", 1, "sa")
    for player in FOUR:
        assert await process.races.record(CODE, 1, "aa") is None
        await process.play(player, 2 if player == "aa" else 1, "stop")
    text = await process.races.record(CODE, 1, "aa")
    assert text is not None
    assert [timed.move.text for timed in parse_tournament_record(text).moves] == ["sa", "stop"]
