"""The races of players in tournaments: shown, played, and recorded.

An answer holds nothing of another player's race: so nobody is shown a card, or a decision, before it was due at the own
table, however many race on the same deal.
"""

from collections import OrderedDict
from typing import Final

from fairest_protocol.calculation.daily import AttemptScore, score_attempt
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import TournamentRace
from fairest_protocol.value import Value
from fairest_server.daily.attempt import Attempt, ends_ms, paused_ms, refusal_of, replay, show_all, show_move
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.round_deals import RoundDeals
from fairest_server.live.signing import DeploymentKey
from fairest_server.live.tournaments import Tournaments
from fairest_server.store.daily import Added
from fairest_server.tournament.state import Round, Tournament
from fairest_server.tournament.view import show_score

CACHED_RACES: Final = 1_000
"""Races under way that a process keeps, so that a move does not replay those before it."""
TRIES: Final = 5
"""Tries to add a move to a race that another process adds to as well."""


class _Seat(Value):
    """A player's part in a round that was dealt."""

    tournament: Tournament
    played: Round
    player_id: str

    @property
    def key(self) -> tuple[str, int, str]:
        """The race among all races."""
        return self.tournament.code, self.played.number, self.player_id


class _Known(Value):
    """A race as this process has seen it last."""

    seat: _Seat
    moves: tuple[TimedMove, ...]
    race: Race


class TournamentRaces:
    """The races of all players. Every method raises RedisError, and is safe to call again and to cancel."""

    def __init__(self, tournaments: Tournaments, clock: RedisClock, deals: RoundDeals, key: DeploymentKey) -> None:
        self._tournaments = tournaments
        self._store: Final = tournaments.store
        self._clock = clock
        self._deals = deals
        self._key = key
        self._known: OrderedDict[tuple[str, int, str], _Known] = OrderedDict()

    async def race(self, code: str, number: int, player_id: str) -> TournamentRace | Refusal:
        """Show the race of a player in a round, with all that it has been shown so far."""
        seat = await self._find(code, number, player_id)
        if isinstance(seat, Refusal):
            return seat
        moves = await self._store.moves(code, number, player_id)
        until_ms = await self._until_ms(seat)
        rules, sealed = seat.tournament.rules, self._deals.sealed(seat.tournament, seat.played)
        attempt = Attempt("", player_id, "", seat.played.started_ms, moves)
        return await self._show(seat, moves, until_ms, show_all(rules, sealed, attempt, until_ms))

    async def play(
        self, code: str, number: int, player_id: str, move_number: int, move: Move
    ) -> TournamentRace | Refusal:
        """Make the move with this number in the race of a player. The last one sent again is answered as before."""
        for _ in range(TRIES):
            known = await self._know(code, number, player_id)
            if isinstance(known, Refusal):
                return known
            refusal = refusal_of(known.race, move_number, move)
            if refusal is not None:
                # It rests on the newest state only, and another process may have added to the race.
                self._known.pop(known.seat.key, None)
                known = await self._know(code, number, player_id)
                if isinstance(known, Refusal):
                    return known
                refusal = refusal_of(known.race, move_number, move)
            if refusal is Refusal.NUMBER_REPEATED and known.race.racers[0].last_move is move:
                return await self._repeat(known)
            if refusal is not None:
                return refusal
            answer = await self._add(known, move)
            if answer is not None:
                return answer
            self._known.pop(known.seat.key, None)
        return Refusal.TRY_AGAIN

    async def record(self, code: str, number: int, name: str) -> str | None:
        """Return the signed record of a player's race in a round that is over; None without one."""
        found = await self._store.find(code)
        played = None if found is None else next((each for each in found.rounds if each.number == number), None)
        if found is None or played is None or not played.is_over or name not in played.scores:
            return None
        record = TournamentRecord(
            tournament=found.tournament_id,
            code=code,
            number=number,
            rules=found.rules,
            limit_seconds=found.options.limit_seconds,
            name=name,
            secret=played.secret,
            entropies=played.shown,
            moves=await self._store.moves(code, number, found.player_id_of(name)),
            score=played.scores[name],
        )
        return self._key.sign_race(record).text()

    async def _find(self, code: str, number: int, player_id: str) -> _Seat | Refusal:
        """Return the part of a player in a round whose races have started."""
        found = await self._store.find(code)
        if found is None:
            return Refusal.NO_SUCH_TOURNAMENT
        played = next((each for each in found.rounds if each.number == number), None)
        if played is None:
            return Refusal.WRONG_ROUND
        entrant = found.entrant_of(player_id)
        if entrant is None or (played.started_ms and entrant.name not in played.racers):
            return Refusal.NOT_ENTERED
        if not played.started_ms or self._clock.now_ms() < played.started_ms:
            return Refusal.RACE_NOT_STARTED
        return _Seat(found, played, player_id)

    async def _know(self, code: str, number: int, player_id: str) -> _Known | Refusal:
        """Return the race of a player, as this process has it or as Redis does."""
        known = self._known.get((code, number, player_id))
        if known is not None:
            return known
        seat = await self._find(code, number, player_id)
        if isinstance(seat, Refusal):
            return seat
        moves = await self._store.moves(code, number, player_id)
        race = replay(seat.tournament.rules, self._deals.sealed(seat.tournament, seat.played), moves)
        known = _Known(seat, moves, race)
        self._keep(known)
        return known

    def _keep(self, known: _Known) -> None:
        self._known[known.seat.key] = known
        self._known.move_to_end(known.seat.key)
        if len(self._known) > CACHED_RACES:
            self._known.popitem(last=False)

    async def _add(self, known: _Known, move: Move) -> TournamentRace | Refusal | None:
        """Add a legal move to a race; return None if Redis has other moves of it than this process knows."""
        seat, gaps, window = known.seat, await self._store.gaps(), self._clock.decision_window()
        if window is None:
            return Refusal.TRY_AGAIN
        started_ms, limit_ms = seat.played.started_ms, seat.tournament.options.limit_seconds * 1000
        until_ms = ends_ms(started_ms, gaps, limit_ms)
        after = known.race.play(0, move)
        score = score_attempt(after, 0, limit_ms) if after.is_over else None
        counts_from_ms = started_ms + paused_ms(started_ms, window.now_ms, gaps)
        added, at_ms = await self._store.add(
            *seat.key, len(known.moves), move, counts_from_ms, until_ms, window.not_after_ms, score
        )
        match added:
            case Added.MADE:
                longer = _Known(seat, (*known.moves, TimedMove(at_ms, move)), after)
                if after.is_over:
                    # Each holds its tournament as it was; a repeated last move is answered from Redis.
                    self._known.pop(seat.key, None)
                else:
                    self._keep(longer)
                await self._after_move(longer)
                shown = show_move(known.race, after, self._deals.sealed(seat.tournament, seat.played))
                return await self._show(seat, longer.moves, until_ms, shown)
            case Added.LATE:
                await self._tournaments.go_on(seat.tournament.code)
                return Refusal.RACE_OVER
            case Added.ENDED:
                return Refusal.RACE_OVER
            case Added.CONFLICT:
                return None
            case _:
                return Refusal.TRY_AGAIN

    async def _after_move(self, known: _Known) -> None:
        """Count the cards that are placed, and let the tournament go on if the race has ended."""
        await self._store.count_placed(*known.seat.key, known.race.racers[0].board.placed)
        if known.race.is_over:
            await self._tournaments.go_on(known.seat.tournament.code)

    async def _repeat(self, known: _Known) -> TournamentRace:
        """Return the answer to the last accepted move once more."""
        sealed = self._deals.sealed(known.seat.tournament, known.seat.played)
        before = replay(known.seat.tournament.rules, sealed, known.moves[:-1])
        shown = show_move(before, known.race, sealed)
        return await self._show(known.seat, known.moves, await self._until_ms(known.seat), shown)

    async def _until_ms(self, seat: _Seat) -> int:
        limit_ms = seat.tournament.options.limit_seconds * 1000
        return ends_ms(seat.played.started_ms, await self._store.gaps(), limit_ms)

    async def _show(
        self, seat: _Seat, moves: tuple[TimedMove, ...], until_ms: int, entries: tuple[Entry, ...]
    ) -> TournamentRace:
        code, number, player_id = seat.key
        score: AttemptScore | None = await self._store.score(code, number, player_id)
        return TournamentRace(
            code=code,
            round=number,
            until_ms=until_ms,
            now_ms=self._clock.now_ms(),
            moves=len(moves),
            entries=entries,
            result=None if score is None else show_score(score),
        )
