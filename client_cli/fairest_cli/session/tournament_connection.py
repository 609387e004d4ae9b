"""A tournament as a player or a spectator follows it: asked for once a second, over any number of sockets.

Every request may be sent again: to enter, to get ready and to show the entropy lead to the same state, and a move has
its number. The entropy of a round is drawn here and kept in memory: a client that is started again between getting
ready and the deal, some seconds, misses the round.
"""

import asyncio
import secrets
from pathlib import Path
from typing import Final

from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.model.tournament_game import TournamentGame, after_race, begin_race
from fairest_cli.session.identity import Identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.request_connection import RequestConnection, RequestRefused
from fairest_cli.session.tournament_receipts import TournamentReceipts
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.seal import SECRET_BYTES, commit_entrant
from fairest_protocol.messages.capabilities import TOURNAMENTS
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    PlayTournament,
    RaceTournament,
    ReadyTournament,
    RevealTournament,
    RunningCount,
    StartTournament,
    Tournament,
    TournamentNews,
    TournamentPhase,
    TournamentRace,
    TournamentTick,
    WatchTournament,
)

LACKING: Final = "This server has no tournaments."
Entering = CreateTournament | JoinTournament | WatchTournament
"""The first request about a tournament."""
_TOO_LATE: Final = (Refusal.WRONG_PHASE, Refusal.WRONG_ROUND, Refusal.NOT_ENTERED)
_EARLY_SECONDS: Final = 0.5
"""Time until a race is asked for again that has not started by the server's clock."""


class TournamentConnection(RequestConnection):
    """A tournament, and our race in it. `known` is None before the first answer.

    A player's receipt is kept in the folder `receipts`. One that cannot be written is no reason to end a race, and
    `problem` says so.
    """

    def __init__(self, server: str, identity: Identity, name: str | None = None, receipts: Path | None = None) -> None:
        super().__init__(server, identity, name, TOURNAMENTS, LACKING)
        self._receipts = TournamentReceipts(server, receipts)
        self.known: KnownTournament | None = None
        self.counts: tuple[RunningCount, ...] = ()
        """The counts of the races under way."""
        self.game: TournamentGame | None = None
        """Our race in the newest round in which we have begun one."""
        self._ahead_ms = 0
        self._drawn: dict[int, bytes] = {}

    async def enter(self, entering: Entering) -> Tournament:
        """Create, enter or watch a tournament. Raises `Rejected` and `Cheated`, as all requests."""
        if isinstance(entering, WatchTournament):
            return await self.watch(entering.tournament)
        return self._take(await self.ask(entering, Tournament))

    async def join(self, code: str) -> Tournament:
        """Enter a tournament; for a player of it, come back."""
        return self._take(await self.ask(JoinTournament(tournament=code), Tournament))

    async def leave(self) -> None:
        """Leave the tournament for good."""
        await self.ask(LeaveTournament(tournament=self._entered.shown.code), Tournament)

    async def start(self) -> Tournament:
        """Start the tournament, which we have created."""
        return self._take(await self.ask(StartTournament(tournament=self._entered.shown.code), Tournament))

    async def watch(self, code: str | None = None) -> Tournament:
        """Ask for the tournament; the first time with its code. Show our entropy if that is due."""
        version = 0 if self.known is None else self.known.shown.version
        request = WatchTournament(tournament=code or self._entered.shown.code, version=version)
        news = await self.ask(request, TournamentNews)
        if isinstance(news, TournamentTick):
            self.counts = news.counts
        elif isinstance(news, Tournament):
            self.counts = ()
            self._take(news)
        entropy = self._entered.due_entropy
        if entropy is not None:
            shown = self._entered.shown
            reveal = RevealTournament(tournament=shown.code, round=self._entered.newest.number, entropy=entropy)
            await self._ask_in_time(reveal)
        return self._entered.shown

    async def get_ready(self) -> None:
        """Get ready for the round under way, bound to new entropy; do nothing if it is too late."""
        known, newest = self._entered, self._entered.newest
        entropy = self._drawn.setdefault(newest.number, secrets.token_bytes(SECRET_BYTES))
        promised = commit_entrant(newest.round, self.name, entropy)
        request = ReadyTournament(tournament=known.shown.code, round=newest.number, entropy_hash=promised)
        await self._ask_in_time(request, entropy)

    async def race(self) -> TournamentGame:
        """Begin our race in the round under way, or come back to it."""
        known, number = self._entered, self._entered.newest.number
        answer = await self._ask_race(RaceTournament(tournament=known.shown.code, round=number))
        before = self.game if self.game is not None and self.game.number == number else None
        self.game = begin_race(known.shown, known.witnesses[number], answer, now_ms(), before)
        self.known = self._entered.with_race(self.game)
        self.problem = self._receipts.keep(self.known, self._identity.server_key) or self.problem
        return self.game

    async def play(self, move: Move) -> TournamentGame:
        """Make a legal move in our race."""
        game = self.game
        assert game is not None, "a race is begun first"
        number = game.own.moves + 1
        request = PlayTournament(tournament=game.code, round=game.number, number=number, move=move)
        try:
            answer = await self.ask(request, TournamentRace)
        except RequestRefused as refused:
            if refused.code in (Refusal.RACE_OVER, Refusal.NUMBER_REPEATED, Refusal.NUMBER_OLD):
                # The time is over, or another terminal of ours has made a move.
                return await self.race()
            raise
        self.game = after_race(game, answer)
        self.known = self._entered.with_race(self.game)
        if self.game.result is not None:
            self.problem = self._receipts.keep(self.known, self._identity.server_key) or self.problem
        return self.game

    @property
    def is_race_due(self) -> bool:
        """Whether our race in the newest round has started, and we have not begun it here."""
        known = self.known
        if known is None or known.shown.phase is not TournamentPhase.RACING or known.pair is None:
            return False
        is_begun = self.game is not None and self.game.number == known.newest.number
        started_ms = known.newest.started_ms
        return started_ms is not None and not is_begun and not self.seconds_until(started_ms)

    def seconds_until(self, at_ms: int) -> float:
        """Return the seconds until a time on the server's clock, 0 if it is over."""
        return max(0.0, (at_ms + self._ahead_ms - now_ms()) / 1000)

    @property
    def _entered(self) -> KnownTournament:
        assert self.known is not None, "the first request names the tournament"
        return self.known

    async def _ask_race(self, request: RaceTournament) -> TournamentRace:
        while True:
            try:
                return await self.ask(request, TournamentRace)
            except RequestRefused as refused:
                if refused.code != Refusal.RACE_NOT_STARTED:
                    raise
                await asyncio.sleep(_EARLY_SECONDS)

    async def _ask_in_time(self, request: ReadyTournament | RevealTournament, entropy: bytes | None = None) -> None:
        """Ask what may be asked for a time only; do nothing if it was over. `entropy` is ours if its hash is taken."""
        try:
            shown = await self.ask(request, Tournament)
        except RequestRefused as refused:
            if refused.code not in _TOO_LATE:
                raise
            return
        if entropy is not None:
            self.known = self._entered.with_entropy(request.round, entropy)
        self._take(shown)

    def _take(self, shown: Tournament) -> Tournament:
        """Take what the server shows of the tournament. Raises `Cheated`."""
        self._ahead_ms = now_ms() - shown.now_ms
        key = self._identity.server_key
        before = self.known or self._receipts.begin(self.name, shown, key)
        self.known = before.after(shown)
        if self.known.witnesses != before.witnesses:
            self.problem = self._receipts.keep(self.known, key) or self.problem
        return self.known.shown
