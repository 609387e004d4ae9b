"""The daily deals of a deployment: announced the day before, dealt at midnight, opened when the day is over.

Any process does what is due, once a second, and two that do the same do no harm: what was kept first stays. The secret
of a deal is drawn here and leaves Redis only when the deal is opened.
"""

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import structlog

from fairest_protocol.calculation.daily import LIMIT_MS, daily_round_id, daily_seed, score_attempt
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.rules import Rules, find_variant
from fairest_protocol.calculation.seal import SECRET_BYTES, commit_secret
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import ChainedEnd, ChainedOpening, RoundEnd, describe_daily, describe_round
from fairest_server.daily.attempt import Attempt, ends_ms, replay
from fairest_server.daily.calendar import day_to_announce, day_to_deal, is_over
from fairest_server.live.drand_relay import DrandRelay, DrandUnavailable
from fairest_server.live.redis_clock import RedisClock
from fairest_server.ops.events import Event
from fairest_server.store.daily import Added, DailyDeal, DailyName, DailyStore
from fairest_server.store.rounds import RoundStore

DRAND_RETRY_MS: Final = 10_000
"""A process waits this long before it asks its relay again for a drand round that was not shown."""
CACHED_DEALS: Final = 32
"""Sealed deals that a process keeps: those of two days and all variants, and some of older days."""


_LOG = structlog.get_logger(__name__)


class DailyDeals:
    """The daily deals of these variants; with none, a process announces and opens nothing.

    With a `relay`, a drand round is the beacon of the deals that are announced from now on.
    """

    def __init__(
        self,
        store: DailyStore,
        rounds: RoundStore,
        clock: RedisClock,
        variants: Sequence[Rules],
        relay: DrandRelay | None = None,
    ) -> None:
        self.store: Final = store
        self._rounds = rounds
        self._clock = clock
        self._variants = tuple(variants)
        self._relay = relay
        self._drand: tuple[int, bytes] | None = None
        """The newest drand round that was shown: its number and its signature. All deals of a day have the same."""
        self._relay_from_ms = 0
        """The relay is asked nothing before this time."""
        self._announced = ""
        """The newest day whose deals are known to be announced."""
        self._sealed: OrderedDict[DailyName, SealedDeal] = OrderedDict()

    async def advance(self) -> None:
        """Announce, deal, end and open what is due. Raises RedisError; safe to call again, and to cancel."""
        window = self._clock.decision_window()
        if not self._variants or window is None:
            return
        await self._announce(day_to_announce(window.now_ms, is_drand=self._relay is not None))
        for deal in await self.store.unopened():
            if deal.beacon is None and deal.name.day == day_to_deal(window.now_ms):
                await self._deal(deal)
            for player_id in await self.store.running(deal.name, window.now_ms - LIMIT_MS):
                attempt = await self.store.attempt(deal.name, player_id)
                if attempt is not None:
                    await self.end_overdue(deal, attempt)
            if is_over(deal.name.day, window.now_ms):
                await self.store.open(deal.name, end_entry(deal))

    async def end_overdue(self, deal: DailyDeal, attempt: Attempt) -> None:
        """End an attempt whose time is over; do nothing to any other one. Raises RedisError."""
        until_ms = ends_ms(attempt.started_ms, await self.store.gaps())
        window = self._clock.decision_window()
        if window is None or window.now_ms <= until_ms:
            return
        race = replay(rules_of(deal.name), self.sealed(deal), attempt.moves)
        score = score_attempt(race, attempt.last_move_ms)
        added = await self.store.add(deal.name, attempt, None, 0, until_ms, window.not_after_ms, score)
        assert added[0] is not Added.LATE, "only a move can be late"

    def sealed(self, deal: DailyDeal) -> SealedDeal:
        """Return the sealed deal, whose beacon is known."""
        assert deal.beacon is not None, "the day has begun"
        sealed = self._sealed.get(deal.name)
        if sealed is None:
            rules, round_id = rules_of(deal.name), round_id_of(deal.name)
            sealed = seal_deal(rules, daily_seed(deal.secret, deal.beacon, round_id), round_id)
            self._sealed[deal.name] = sealed
            if len(self._sealed) > CACHED_DEALS:
                self._sealed.popitem(last=False)
        return sealed

    async def _announce(self, day: str | None) -> None:
        if day is None or day == self._announced:
            return
        for rules in self._variants:
            name, secret = DailyName(day, rules.name), secrets.token_bytes(SECRET_BYTES)
            is_drand = self._relay is not None
            entry = opening_entry(name, secret, is_drand=is_drand)
            await self.store.announce(name, secret, entry, is_drand=is_drand)
        self._announced = day

    async def _deal(self, deal: DailyDeal) -> None:
        """Keep the beacon: the chain of the last entry before the day, or the first drand round of the day.

        There is no way from one kind to the other: a server could choose between their decks.
        """
        if deal.is_drand:
            found_round = await self._find_drand(deal.name.begins_ms)
            # The answer may have taken until the day is over.
            if found_round is not None and not is_over(deal.name.day, self._clock.now_ms()):
                number, signature = found_round
                await self.store.keep_beacon(deal.name, number, drand_value(signature), signature)
            return
        found = await self._rounds.last_before(deal.name.begins_ms)
        if found is not None:
            await self.store.keep_beacon(deal.name, *found)

    async def _find_drand(self, begins_ms: int) -> tuple[int, bytes] | None:
        """Return the first drand round of the day, or None while the relay does not show it."""
        if self._clock.now_ms() < self._relay_from_ms:
            return None
        try:
            if self._relay is None:
                raise DrandUnavailable("this process has no --daily-drand")
            number = self._relay.network.first_round(begins_ms)
            if self._drand is None or self._drand[0] != number:
                self._drand = number, await self._relay.fetch(number)
        except DrandUnavailable as reason:
            _LOG.warning(Event.DRAND_UNAVAILABLE, reason=str(reason))
            self._relay_from_ms = self._clock.now_ms() + DRAND_RETRY_MS
            return None
        return self._drand


def rules_of(name: DailyName) -> Rules:
    """Return the rules of a daily deal: those of its variant, with its own parameters."""
    return find_variant(name.variant).rules


def round_id_of(name: DailyName) -> bytes:
    """Return the round id of a daily deal."""
    return daily_round_id(name.day, rules_of(name))


def commitment_of(deal: DailyDeal) -> bytes:
    """Return the commitment to the secret of a daily deal."""
    return commit_secret(round_id_of(deal.name), deal.secret)


def show_seal(deal: DailyDeal) -> DailySeal | None:
    """Return what everybody may know of a deal's seal while its day is under way; None before it has begun."""
    if deal.beacon is None:
        return None
    return DailySeal(
        round=round_id_of(deal.name),
        commitment=commitment_of(deal),
        beacon_number=deal.beacon_number,
        beacon=deal.beacon,
        drand=deal.drand,
    )


def opening_entry(name: DailyName, secret: bytes, *, is_drand: bool = False) -> str:
    """Return the entry of the chain of rounds that announces a daily deal, without number and time."""
    rules = rules_of(name)
    return describe_round(
        ChainedOpening(
            number=0,
            at_ms=0,
            type="opened",
            commitment=commit_secret(round_id_of(name), secret),
            rules=describe_daily(rules.name, rules.piles, rules.redeals, is_drand=is_drand),
        )
    )


def end_entry(deal: DailyDeal) -> str:
    """Return the end of a daily deal for the chain of rounds: proved with its seed, or called off if never dealt."""
    is_dealt = deal.beacon is not None
    seed = daily_seed(deal.secret, deal.beacon, round_id_of(deal.name)) if deal.beacon is not None else None
    return describe_round(
        ChainedEnd(
            number=0,
            at_ms=0,
            type="ended",
            commitment=commitment_of(deal),
            how=RoundEnd.PROVED if is_dealt else RoundEnd.VOIDED,
            why=None if is_dealt else "closed",
            endings=(Ending.ROUND_OVER, Ending.ROUND_OVER) if is_dealt else None,
            revealed=(is_dealt, is_dealt),
            seed=seed,
        )
    )
