"""The attempts of players at daily deals: begun, played, shown, and recorded.

An answer holds nothing of another player's attempt but counts, and the rank of an attempt that has ended.
"""

import hashlib
import secrets
from collections import OrderedDict
from typing import Final

from fairest_protocol.calculation.daily import AttemptScore, day_of, score_attempt
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.daily import PAGE_ATTEMPTS, AttemptResult, DailyPage, DailyView, TableRow
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.value import Value, replace
from fairest_server.daily.attempt import Attempt, ends_ms, paused_ms, refusal_of, replay, show_all, show_move
from fairest_server.daily.calendar import is_over
from fairest_server.live.daily_deals import DailyDeals, commitment_of, rules_of, show_seal
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.signing import DeploymentKey
from fairest_server.store.daily import Added, DailyDeal, DailyName, DailyStore
from fairest_server.store.players import Player

CACHED_ATTEMPTS: Final = 1_000
"""Attempts that a process keeps, so that a move does not replay those before it."""
TRIES: Final = 5
"""Tries to add a move to an attempt that another process adds to as well."""


class _Known(Value):
    """An attempt as this process has seen it last, and its race."""

    attempt: Attempt
    race: Race


class DailyAttempts:
    """The attempts of all players. Every method raises RedisError, and is safe to call again and to cancel."""

    def __init__(self, deals: DailyDeals, clock: RedisClock, key: DeploymentKey) -> None:
        self._deals = deals
        self._store: Final[DailyStore] = deals.store
        self._clock = clock
        self._key = key
        self._known: OrderedDict[tuple[DailyName, str], _Known] = OrderedDict()

    async def begin(self, variant: str, day: str | None, player: Player, address: str) -> DailyView | Refusal:
        """Begin the attempt of a player, or come back to the one that it has. `day` None is today."""
        now_ms = self._clock.now_ms()
        name = DailyName(day or day_of(now_ms), variant)
        deal = await self._store.find(name)
        if deal is None or deal.beacon is None:
            return Refusal.NO_DAILY_DEAL
        attempt = await self._store.attempt(name, player.player_id)
        if attempt is None:
            window = self._clock.decision_window()
            if window is None:
                return Refusal.TRY_AGAIN
            if is_over(name.day, now_ms):
                return Refusal.NO_DAILY_DEAL
            hashed = hashlib.sha256(deal.secret + address.encode()).hexdigest()[:16]
            attempt_id = secrets.token_hex(16)
            begun = await self._store.begin(
                name, player.player_id, player.name, attempt_id, hashed, window.not_after_ms
            )
            if not isinstance(begun, Attempt):
                return Refusal.NO_DAILY_DEAL if begun is None else Refusal.TRY_AGAIN
            # Begun over another connection at the same time, it may have moves already.
            attempt = await self._store.attempt(name, player.player_id) or begun
        await self._deals.end_overdue(deal, attempt)
        until_ms = ends_ms(attempt.started_ms, await self._store.gaps())
        entries = show_all(rules_of(name), self._deals.sealed(deal), attempt, until_ms)
        return await self._show(deal, attempt, until_ms, entries, is_whole=True)

    async def play(self, variant: str, day: str, player_id: str, number: int, move: Move) -> DailyView | Refusal:
        """Make the move with this number in the attempt of a player. The last one sent again is answered as before."""
        name = DailyName(day, variant)
        for _ in range(TRIES):
            deal = await self._store.find(name)
            known = None if deal is None or deal.beacon is None else await self._know(deal, player_id)
            if deal is None or known is None:
                return Refusal.RACE_NOT_STARTED
            refusal = refusal_of(known.race, number, move)
            if refusal is not None:
                # It rests on the newest state only, and another process may have added to the attempt.
                self._known.pop((name, player_id), None)
                known = await self._know(deal, player_id) or known
                refusal = refusal_of(known.race, number, move)
            if refusal is Refusal.NUMBER_REPEATED and known.race.racers[0].last_move is move:
                return await self._repeat(deal, known)
            if refusal is not None:
                return refusal
            answer = await self._add(deal, known, move)
            if answer is not None:
                return answer
            self._known.pop((name, player_id), None)
        return Refusal.TRY_AGAIN

    async def page(self, variant: str, day: str, page: int) -> DailyPage | None:
        """Return what everybody may know of a deal, and the rows of a page of its table once it is opened."""
        deal = await self._store.find(DailyName(day, variant))
        if deal is None:
            return None
        begun, ended = await self._store.counts(deal.name)
        rows = await self._store.rows(deal.name, page * PAGE_ATTEMPTS, PAGE_ATTEMPTS) if deal.is_opened else []
        return DailyPage(
            day=day,
            rules=variant,
            begins_ms=deal.name.begins_ms,
            ends_ms=deal.name.ends_ms,
            now_ms=self._clock.now_ms(),
            commitment=commitment_of(deal),
            seal=show_seal(deal),
            begun=begun,
            ended=ended,
            opened=deal.is_opened,
            secret=deal.secret if deal.is_opened else None,
            page=page,
            pages=-(-ended // PAGE_ATTEMPTS) if deal.is_opened else 0,
            rows=tuple(
                TableRow(
                    rank=each.rank,
                    name=each.attempt.name,
                    attempt=each.attempt.attempt_id,
                    won=each.score.won,
                    placed=each.score.placed,
                    direct=each.score.direct,
                    time_ms=each.score.time_ms,
                    from_address=each.from_address,
                )
                for each in rows
            ),
        )

    async def record(self, attempt_id: str) -> str | None:
        """Return the signed record of an attempt; None if it is not known, or its deal is not opened yet."""
        found = await self._store.find_attempt(attempt_id)
        deal = None if found is None else await self._store.find(found[0])
        if found is None or deal is None or not deal.is_opened or deal.beacon is None:
            return None
        _, attempt = found
        standing = await self._store.standing(deal.name, attempt.player_id)
        if standing is None:
            return None
        return self._key.sign_attempt(_record(deal, attempt, standing[0])).text()

    async def _know(self, deal: DailyDeal, player_id: str) -> _Known | None:
        """Return the attempt of a player, as this process has it or as Redis does; None without one."""
        known = self._known.get((deal.name, player_id))
        if known is None:
            attempt = await self._store.attempt(deal.name, player_id)
            if attempt is None:
                return None
            known = _Known(attempt, replay(rules_of(deal.name), self._deals.sealed(deal), attempt.moves))
            self._keep(deal.name, known)
        return known

    def _keep(self, name: DailyName, known: _Known) -> None:
        key = name, known.attempt.player_id
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > CACHED_ATTEMPTS:
            self._known.popitem(last=False)

    async def _add(self, deal: DailyDeal, known: _Known, move: Move) -> DailyView | Refusal | None:
        """Add a legal move to an attempt; return None if Redis has other moves of it than this process knows."""
        attempt, gaps, window = known.attempt, await self._store.gaps(), self._clock.decision_window()
        if window is None:
            return Refusal.TRY_AGAIN
        until_ms = ends_ms(attempt.started_ms, gaps)
        paused = paused_ms(attempt.started_ms, window.now_ms, gaps)
        after = known.race.play(0, move)
        score = score_attempt(after, 0) if after.is_over else None
        added, at_ms = await self._store.add(deal.name, attempt, move, paused, until_ms, window.not_after_ms, score)
        match added:
            case Added.MADE:
                longer = replace(attempt, moves=(*attempt.moves, TimedMove(at_ms, move)))
                self._keep(deal.name, _Known(longer, after))
                shown = show_move(known.race, after, self._deals.sealed(deal))
                return await self._show(deal, longer, until_ms, shown)
            case Added.LATE:
                await self._deals.end_overdue(deal, attempt)
                return Refusal.RACE_OVER
            case Added.ENDED:
                return Refusal.RACE_OVER
            case Added.CONFLICT:
                return None
            case _:
                return Refusal.TRY_AGAIN

    async def _repeat(self, deal: DailyDeal, known: _Known) -> DailyView:
        """Return the answer to the last accepted move once more."""
        sealed: SealedDeal = self._deals.sealed(deal)
        before = replay(rules_of(deal.name), sealed, known.attempt.moves[:-1])
        until_ms = ends_ms(known.attempt.started_ms, await self._store.gaps())
        return await self._show(deal, known.attempt, until_ms, show_move(before, known.race, sealed))

    async def _show(
        self, deal: DailyDeal, attempt: Attempt, until_ms: int, entries: tuple[Entry, ...], *, is_whole: bool = False
    ) -> DailyView:
        name = deal.name
        standing = await self._store.standing(name, attempt.player_id)
        return DailyView(
            day=name.day,
            rules=name.variant,
            until_ms=until_ms,
            now_ms=self._clock.now_ms(),
            moves=len(attempt.moves),
            entries=entries,
            seal=show_seal(deal) if is_whole else None,
            result=None if standing is None else _show_result(rules_of(name).goal, *standing),
        )


def _show_result(goal: int, score: AttemptScore, rank: int, ended: int) -> AttemptResult:
    return AttemptResult(
        won=score.won,
        placed=score.placed,
        goal=goal,
        direct=score.direct,
        time_ms=score.time_ms,
        rank=rank,
        ended=ended,
    )


def _record(deal: DailyDeal, attempt: Attempt, score: AttemptScore) -> DailyRecord:
    assert deal.beacon is not None, "an attempt was begun"
    return DailyRecord(
        attempt=attempt.attempt_id,
        day=deal.name.day,
        rules=rules_of(deal.name),
        name=attempt.name,
        secret=deal.secret,
        beacon_number=deal.beacon_number,
        beacon=deal.beacon,
        drand=deal.drand or b"",
        moves=attempt.moves,
        score=score,
    )
