"""The tournaments of a deployment: changed as their players ask, and by themselves when something is due.

Any process takes any step: it reads the tournament, decides, and writes it back unless it was changed meanwhile.
The secret of a round is drawn here and leaves Redis only when the round is over.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final
from weakref import WeakValueDictionary

from fairest_protocol.calculation.daily import AttemptScore, score_attempt
from fairest_protocol.calculation.seal import SECRET_BYTES
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    ListedTournament,
    RunningCount,
    TournamentList,
    TournamentPhase,
    TournamentTick,
)
from fairest_protocol.messages.tournaments import Tournament as ShownTournament
from fairest_protocol.value import replace
from fairest_server.daily.attempt import Gap, replay
from fairest_server.live.redis_clock import DecisionWindow, RedisClock
from fairest_server.live.round_deals import RoundDeals
from fairest_server.live.tournament_reports import report_change
from fairest_server.store.players import Player
from fairest_server.store.tournaments import Changed, TournamentStore
from fairest_server.tournament.progress import Progress, advance, phase_ends_ms
from fairest_server.tournament.requests import Answer
from fairest_server.tournament.state import Entrant, Options, Tournament
from fairest_server.tournament.view import list_tournament, show_tournament

TRIES: Final = 20
"""Attempts to change a tournament that other processes change at the same time."""
ID_BYTES: Final = 16
MOST_LISTED: Final = 100
LISTED_SECONDS: Final = 1.0
"""The list is read once in this time, however many ask for it."""


class Tournaments:
    """The tournaments. Every method raises RedisError, and is safe to call again and to cancel."""

    def __init__(self, store: TournamentStore, clock: RedisClock, deals: RoundDeals) -> None:
        self.store: Final = store
        self._clock = clock
        self._deals = deals
        self._listed, self._listed_at = TournamentList(tournaments=()), -LISTED_SECONDS
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One lock for each tournament: requests of this process take turns, and need not try again."""

    async def create(
        self, message: CreateTournament, variant: str, code: str, player: Player
    ) -> ShownTournament | Refusal:
        """Create a tournament under this code, or return the one that there is, which the same player has created."""
        window = self._clock.decision_window()
        if window is None:
            return Refusal.TRY_AGAIN
        options = Options(
            variant,
            message.format,
            message.rounds or 0,
            message.most_players,
            message.rival_level,
            message.ready_seconds,
            message.limit_seconds,
        )
        entrant = Entrant(player.player_id, player.name)
        drawn = secrets.token_bytes(ID_BYTES)
        created = Tournament(code, drawn, player.name, options, window.now_ms, (entrant,))
        changed = await self.store.change(None, created, window.not_after_ms, ())
        if changed is Changed.MADE:
            report_change(None, created)
        return Refusal.TRY_AGAIN if changed is Changed.SLOW else await self.show(code)

    async def change(self, code: str, request: Callable[[Tournament, int], Answer]) -> ShownTournament | Refusal:
        """Change a tournament as `request` does, and as is due then; `request` is given the time on Redis' clock."""
        lock = self._locks.setdefault(code, asyncio.Lock())
        async with lock:
            for _ in range(TRIES):
                window, before = self._clock.decision_window(), await self.store.find(code)
                if window is None:
                    return Refusal.TRY_AGAIN
                if before is None:
                    return Refusal.NO_SUCH_TOURNAMENT
                answer, gaps = request(before, window.now_ms), await self.store.gaps()
                if isinstance(answer, Refusal):
                    return answer
                after, changed = await self._write(before, answer, window, gaps)
                if changed is Changed.MADE:
                    report_change(before, after)
                    return show_tournament(after, phase_ends_ms(after, gaps), self._clock.now_ms())
                if changed is Changed.SLOW:
                    break
        return Refusal.TRY_AGAIN

    async def advance(self) -> None:
        """Let all tournaments go on in which something is due."""
        for code in await self.store.active():
            await self.go_on(code)

    async def go_on(self, code: str) -> None:
        """Let a tournament go on if something is due in it."""
        await self.change(code, lambda tournament, _: tournament)

    async def show(self, code: str) -> ShownTournament | Refusal:
        """Return a tournament as everybody is shown it."""
        found = await self.store.find(code)
        if found is None:
            return Refusal.NO_SUCH_TOURNAMENT
        return show_tournament(found, phase_ends_ms(found, await self.store.gaps()), self._clock.now_ms())

    async def watch(self, code: str, version: int) -> ShownTournament | TournamentTick | Refusal:
        """Return a tournament, or only the counts of its races if the `version` that is known is the newest one."""
        found = await self.store.find(code)
        if found is None:
            return Refusal.NO_SUCH_TOURNAMENT
        if found.version > version:
            return show_tournament(found, phase_ends_ms(found, await self.store.gaps()), self._clock.now_ms())
        counts = await self._counts(found) if found.phase is TournamentPhase.RACING else ()
        return TournamentTick(code=code, version=found.version, now_ms=self._clock.now_ms(), counts=counts)

    async def list(self) -> TournamentList:
        """Return the tournaments that are not over, and those that have ended last, at most LISTED_SECONDS old."""
        if time.monotonic() - self._listed_at >= LISTED_SECONDS:
            self._listed = TournamentList(
                tournaments=await self._rows(await self.store.active(MOST_LISTED)),
                ended=await self._rows(await self.store.ended()),
            )
            self._listed_at = time.monotonic()
        return self._listed

    async def _rows(self, codes: Sequence[str]) -> tuple[ListedTournament, ...]:
        """Return the rows of those tournaments that are kept."""
        found = [await self.store.find(code) for code in codes]
        return tuple(list_tournament(each) for each in found if each)

    async def _write(
        self, before: Tournament, after: Tournament, window: DecisionWindow, gaps: tuple[Gap, ...]
    ) -> tuple[Tournament, Changed]:
        """Let a tournament go on, and keep it if it is not as it was before."""
        progress = await self._go_on(after, window, gaps)
        if progress.tournament == before:
            return before, Changed.MADE
        following = replace(progress.tournament, version=before.version + 1)
        return following, await self.store.change(before, following, window.not_after_ms, progress.entries)

    async def _go_on(self, tournament: Tournament, window: DecisionWindow, gaps: tuple[Gap, ...]) -> Progress:
        scores: dict[str, AttemptScore] = {}
        if tournament.phase is TournamentPhase.RACING:
            until_ms = phase_ends_ms(tournament, gaps)
            if until_ms is not None and window.now_ms > until_ms:
                await self._end_overdue(tournament, until_ms, window)
            by_player = await self.store.scores(tournament.code, tournament.newest.number)
            names = {each.player_id: each.name for each in tournament.entrants}
            scores = {names[player_id]: score for player_id, score in by_player.items() if player_id in names}
        return advance(tournament, window.now_ms, gaps, scores, lambda: secrets.token_bytes(SECRET_BYTES))

    async def _end_overdue(self, tournament: Tournament, until_ms: int, window: DecisionWindow) -> None:
        """End the races of the newest round, whose time is over."""
        code, played = tournament.code, tournament.newest
        limit_ms = tournament.options.limit_seconds * 1000
        for player_id in await self.store.running(code, played.number):
            moves = await self.store.moves(code, played.number, player_id)
            race = replay(tournament.rules, self._deals.sealed(tournament, played), moves)
            score = score_attempt(race, moves[-1].at_ms if moves else 0, limit_ms)
            await self.store.add(
                code, played.number, player_id, len(moves), None, 0, until_ms, window.not_after_ms, score
            )

    async def _counts(self, tournament: Tournament) -> tuple[RunningCount, ...]:
        code, played = tournament.code, tournament.newest
        placed, running = await self.store.placed(code, played.number), await self.store.running(code, played.number)
        return tuple(
            RunningCount(name=each.name, placed=placed.get(each.player_id, 0), ended=each.player_id not in running)
            for each in tournament.entrants
            if each.name in played.racers
        )
