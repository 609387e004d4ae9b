"""Daily deals in a test's Redis: of a day that is under way, and of one that is over."""

from collections.abc import Sequence
from typing import Final

from redis.asyncio import Redis

from fairest_cli.model.daily_game import DailyGame, begin_daily
from fairest_cli.session.own_clock import now_ms
from fairest_protocol.calculation.daily import (
    LIMIT_MS,
    AttemptScore,
    daily_round_id,
    daily_seed,
    day_of,
    next_day,
    score_attempt,
)
from fairest_protocol.calculation.daily_record import TimedMove
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import VARIANTS, Rules, find_variant
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.daily import AttemptResult, DailySeal, DailyView
from fairest_server.daily.attempt import Attempt, begin, replay, show_all
from fairest_server.live.daily_deals import end_entry, opening_entry
from fairest_server.store import daily_keys
from fairest_server.store.daily import DailyName, DailyStore
from fairest_server.store.redis.clock import read_clock

SECRET: Final = bytes(range(32))
BEACON: Final = bytes(range(32, 64))
LONG_AGO: Final = DailyName("2026-01-05", "classic")
"""A day that is over by every clock."""


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


async def deal_today(redis: Redis, variant: str = "classic") -> None:
    """Announce and deal today, and tomorrow as well, since a test may run over midnight."""
    today = day_of(await read_clock(redis))
    for day in (today, next_day(today)):
        await deal(redis, DailyName(day, variant))


async def open_long_ago(redis: Redis, **attempts: Sequence[str]) -> None:
    """Deal `LONG_AGO`, store these attempts at it, by their players, and open it."""
    await deal(redis, LONG_AGO)
    for player, moves in attempts.items():
        await store_attempt(redis, LONG_AGO, player, moves)
    found = await DailyStore(redis).find(LONG_AGO)
    assert found is not None
    assert await DailyStore(redis).open(LONG_AGO, end_entry(found))


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
