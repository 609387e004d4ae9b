"""Daily deals in a test's Redis: of a day that is under way, and of one that is over."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, cast

from redis.asyncio import Redis

from fairest_cli.model.daily_game import DailyGame, begin_daily
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.round_pages import fetch_summary
from fairest_protocol.calculation.daily import (
    DRAND_LEAD_MS,
    LIMIT_MS,
    AttemptScore,
    daily_round_id,
    daily_seed,
    day_of,
    next_day,
    score_attempt,
)
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import VARIANTS, Rules, find_variant
from fairest_protocol.calculation.seal import NO_ROUNDS, chain_round_line, commit_secret
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.daily import AttemptResult, DailySeal, DailyView
from fairest_protocol.messages.rounds import chained_line
from fairest_server.daily.attempt import Attempt, begin, replay, show_all
from fairest_server.live.daily_deals import end_entry, opening_entry
from fairest_server.store import daily_keys
from fairest_server.store.daily import DailyName, DailyStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.rounds import NewEntry, RoundStore
from tests.support.drand import NETWORK, sign_drand
from tests.support.waiting import until

SECRET: Final = bytes(range(32))
ANNOUNCED_BEFORE_MS: Final = DRAND_LEAD_MS + 3_600_000
"""How long before its day a deal is announced, which is early enough for either kind of beacon."""
LONG_AGO: Final = DailyName("2026-01-05", "classic")
"""A day that is over by every clock."""
FIRST_LINE: Final = chained_line(opening_entry(LONG_AGO, SECRET), 1, LONG_AGO.begins_ms - ANNOUNCED_BEFORE_MS)
"""The first entry of a chain of rounds, which announces the deal of that day."""
BEACON: Final = chain_round_line(NO_ROUNDS, FIRST_LINE)


async def deal_a_day(redis: Redis, variant: str = "classic", secret: bytes = SECRET) -> DailyName:
    """Announce and deal a day at which attempts may be begun for 24 hours at least, and return its name.

    It is tomorrow, with a beacon already: so a test does not depend on the time of the day.
    """
    name = DailyName(next_day(day_of(await read_clock(redis))), variant)
    await deal(redis, name, secret)
    return name


async def deal(redis: Redis, name: DailyName, secret: bytes = SECRET) -> None:
    """Announce and deal the day `name`."""
    store = DailyStore(redis)
    assert await store.announce(name, secret, opening_entry(name, secret))
    await store.keep_beacon(name, 1, BEACON)


def sealed_deal(rules: Rules, day: str, secret: bytes = SECRET) -> SealedDeal:
    """Return the sealed deal of a day that `deal` has dealt."""
    round_id = daily_round_id(day, rules)
    return seal_deal(rules, daily_seed(secret, BEACON, round_id), round_id)


def careless_moves(race: Race, count: int = 1_000) -> list[str]:
    """Return up to `count` moves of a careless player: to the first foundation that fits, else onto pile a."""
    moves: list[str] = []
    while not race.is_over and len(moves) < count:
        legal = [move.text for move in race.racers[0].board.legal_moves() if move.text not in ("stop", "resign")]
        chosen = next((text for text in legal if text[1:].isdigit()), "sa" if "sa" in legal else legal[0])
        race = race.play(0, MOVES[chosen])
        moves.append(chosen)
    return moves


async def store_attempt(
    redis: Redis, name: DailyName, player_id: str, moves: Sequence[str], address: str = "here", each_ms: int = 1_000
) -> AttemptScore:
    """Store an attempt that has ended, as the scripts write it: its moves, `each_ms` apart, and `stop` at the end."""
    rules = find_variant(name.variant).rules
    race = start_race(rules, sealed_deal(rules, name.day).deal, seats=1)
    for text in moves:
        race = race.play(0, MOVES[text])
    if not race.is_over:
        moves, race = [*moves, "stop"], race.play(0, MOVES["stop"])
    timed = [TimedMove(each_ms * number, MOVES[text]) for number, text in enumerate(moves, 1)]
    score = score_attempt(race, timed[-1].at_ms)
    attempt_id = player_id.encode().hex().ljust(32, "0")[:32]
    parts = name.day, name.variant
    await redis.hset(daily_keys.attempts(*parts), player_id, f"{name.begins_ms} {attempt_id} {player_id} {address}")
    await redis.hincrby(daily_keys.addresses(*parts), address, 1)
    await redis.set(daily_keys.attempt(attempt_id), f"{name.day} {name.variant} {player_id}")
    await redis.rpush(daily_keys.moves(*parts, player_id), *(f"{each.at_ms} {each.move.text}" for each in timed))
    await redis.zadd(daily_keys.table(*parts), {player_id: score.order})
    return score


def announce_secret(name: DailyName) -> tuple[str, ...]:
    """Return the entry with which an honest server announces a deal."""
    return (opening_entry(name, SECRET),)


def announce_by_drand(name: DailyName) -> tuple[str, ...]:
    """Return the entry with which an honest server announces a deal whose beacon will be a drand round."""
    return (opening_entry(name, SECRET, is_drand=True),)


async def deal_today(
    redis: Redis,
    server_url: str,
    variant: str = "classic",
    announce: Callable[[DailyName], Sequence[str]] = announce_secret,
    *,
    by_drand: bool = False,
) -> None:
    """Announce and deal today, and tomorrow as well, since a test may run over midnight; wait until the server's chain
    of rounds shows both. `announce` returns the entries that join the chain before a day; the last one is its beacon,
    or with `by_drand` the first drand round of the day is, of the network of the tests.
    """
    today = day_of(await read_clock(redis))
    for day in (today, next_day(today)):
        name = DailyName(day, variant)
        for entry in announce(name):
            number, chain = await _add_to_chain(redis, entry, name.begins_ms - ANNOUNCED_BEFORE_MS)
        # Not by `announce`, whose entry would join the chain a second time, between the announcement and the beacon.
        await redis.hset(daily_keys.deal(name.day, name.variant), "secret", SECRET)
        if by_drand:
            await redis.hset(daily_keys.deal(name.day, name.variant), "drand", "1")
        await redis.sadd(daily_keys.UNOPENED, f"{name.day} {name.variant}")
        if by_drand:
            await keep_drand(redis, name)
        else:
            await DailyStore(redis).keep_beacon(name, number, chain)
    await _shown(server_url, number)


async def keep_drand(redis: Redis, name: DailyName, number: int | None = None, signature: bytes | None = None) -> None:
    """Keep a drand round as the beacon of a deal: the first one of the day, and signed, if nothing else is given."""
    number = number or NETWORK.first_round(name.begins_ms)
    signature = signature or sign_drand(number)
    await DailyStore(redis).keep_beacon(name, number, drand_value(signature), signature)


async def open_long_ago_by_drand(redis: Redis, server_url: str) -> None:
    """Deal `LONG_AGO` by its first drand round, without attempts, and open it; wait until the server shows it."""
    (entry,) = announce_by_drand(LONG_AGO)
    await _add_to_chain(redis, entry, LONG_AGO.begins_ms - ANNOUNCED_BEFORE_MS)
    store = DailyStore(redis)
    assert await store.announce(LONG_AGO, SECRET, entry, is_drand=True)
    await keep_drand(redis, LONG_AGO)
    found = await store.find(LONG_AGO)
    assert found is not None
    assert await store.open(LONG_AGO, end_entry(found))
    await _shown(server_url, 1)


async def _shown(server_url: str, number: int) -> None:
    """Wait until the server shows the entry with this number: it reads the end of the chain now and then."""

    async def is_shown() -> bool:
        return (await asyncio.to_thread(fetch_summary, server_url)).head.number >= number

    await until(is_shown, "the server shows the entry")


async def _add_to_chain(redis: Redis, entry: str, at_ms: int) -> tuple[int, bytes]:
    """Add an entry to the chain of rounds with this time; return its number and its chain."""
    rounds = RoundStore(cast("BatchingRedis", redis), "test")
    while True:
        end = await rounds.read_end(0)
        line = chained_line(entry, end.number + 1, at_ms)
        chain = chain_round_line(end.chain, line)
        if await rounds.extend(end, [NewEntry(chain, line)], at_ms, 0):
            return end.number + 1, chain


async def open_long_ago(redis: Redis, server_url: str | None, **attempts: Sequence[str]) -> None:
    """Deal `LONG_AGO`, store these attempts at it, by their players, and open it.

    Wait until the server, if there is one, shows its chain.
    """
    assert await _add_to_chain(redis, opening_entry(LONG_AGO, SECRET), LONG_AGO.begins_ms - ANNOUNCED_BEFORE_MS) == (
        1,
        BEACON,
    )
    await deal(redis, LONG_AGO)
    for player, moves in attempts.items():
        await store_attempt(redis, LONG_AGO, player, moves)
    found = await DailyStore(redis).find(LONG_AGO)
    assert found is not None
    assert await DailyStore(redis).open(LONG_AGO, end_entry(found))
    if server_url is not None:
        await _shown(server_url, 1)


def long_ago_moves(count: int = 1_000) -> list[str]:
    """Return up to `count` moves of a careless player at the deal of `LONG_AGO`."""
    rules = find_variant(LONG_AGO.variant).rules
    return careless_moves(start_race(rules, sealed_deal(rules, LONG_AGO.day).deal, seats=1), count)


def staged_attempt(count: int | None = None) -> DailyGame:
    """Return an attempt of a careless player after `count` moves, None for one that is over, as its client knows it."""
    rules, day, started_ms = VARIANTS["classic"].rules, "2026-11-24", now_ms()
    sealed = sealed_deal(rules, day)
    moves = careless_moves(begin(rules, sealed), 1_000 if count is None else count)
    if count is None and not replay(rules, sealed, _timed(moves)).is_over:
        moves.append("stop")
    timed = _timed(moves)
    board = replay(rules, sealed, timed).racers[0].board
    result = AttemptResult(
        won=board.is_won, placed=board.placed, goal=board.goal, direct=board.direct, time_ms=312_400, rank=4, ended=17
    )
    until_ms = started_ms + LIMIT_MS
    attempt = Attempt("ab" * 16, "p", "ann", started_ms, timed)
    commitment = commit_secret(sealed.round_id, SECRET)
    shown = DailyView(
        day=day,
        rules=rules.name,
        until_ms=until_ms,
        now_ms=started_ms,
        moves=len(moves),
        entries=show_all(rules, sealed, attempt, until_ms),
        seal=DailySeal(round=sealed.round_id, commitment=commitment, beacon_number=7, beacon=BEACON),
        result=result if count is None else None,
    )
    return begin_daily(rules, shown, started_ms)


def _timed(moves: Sequence[str]) -> tuple[TimedMove, ...]:
    return tuple(TimedMove(number, MOVES[text]) for number, text in enumerate(moves, 1))
