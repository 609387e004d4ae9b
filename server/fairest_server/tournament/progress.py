"""How a tournament goes on by itself: when everybody has done what is due, or when the time for it is over. Pure.

    open -> filling -> gathering -> revealing -> racing -> gathering (next round) -> ... -> over

A round without two players who are ready is not dealt. A player who was not ready in time, or did not show the entropy,
has left the tournament.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.tournament import tournament_seed
from fairest_protocol.messages.rounds import (
    ChainedEnd,
    ChainedOpening,
    RoundEnd,
    describe_round,
    describe_tournament,
)
from fairest_protocol.messages.tournaments import TournamentFormat, TournamentPhase
from fairest_protocol.value import Value, replace
from fairest_server.daily.attempt import Gap, ends_ms
from fairest_server.tournament.pairing import pair_round, plan_rounds
from fairest_server.tournament.requests import wanted_rivals
from fairest_server.tournament.standings import rank_players, score_pair
from fairest_server.tournament.state import COUNTDOWN_MS, FILLING_SECONDS, REVEALING_SECONDS, Round, Tournament

OPEN_SECONDS: Final = 24 * 3600
"""A tournament that was not started for so long is cancelled."""


class Progress(Value):
    """A tournament that has gone on, and the entries for the chain of rounds, in order."""

    tournament: Tournament
    entries: tuple[str, ...] = ()


def phase_ends_ms(tournament: Tournament, gaps: Sequence[Gap]) -> int | None:
    """Return when the phase ends by itself, None if it does not; `gaps` in which no server ran make it later."""
    options = tournament.options
    match tournament.phase:
        case TournamentPhase.OPEN:
            return ends_ms(tournament.since_ms, gaps, OPEN_SECONDS * 1000)
        case TournamentPhase.FILLING:
            return ends_ms(tournament.since_ms, gaps, FILLING_SECONDS * 1000)
        case TournamentPhase.GATHERING:
            return ends_ms(tournament.since_ms, gaps, options.ready_seconds * 1000)
        case TournamentPhase.REVEALING:
            seconds = REVEALING_SECONDS + len(tournament.newest.promises)
            return ends_ms(tournament.since_ms, gaps, seconds * 1000)
        case TournamentPhase.RACING:
            return ends_ms(tournament.newest.started_ms, gaps, options.limit_seconds * 1000)
        case _:
            return None


def advance(
    tournament: Tournament,
    now_ms: int,
    gaps: Sequence[Gap],
    scores: Mapping[str, AttemptScore],
    draw_secret: Callable[[], bytes],
) -> Progress:
    """Return the tournament as far as it has come by now. `scores` are those of the races of the newest round that have
    ended; a race whose time is over has to be among them.
    """
    entries: tuple[str, ...] = ()
    while True:
        until_ms = phase_ends_ms(tournament, gaps)
        step = _step(tournament, now_ms, until_ms is not None and now_ms > until_ms, scores, draw_secret)
        if step is None:
            return Progress(tournament, entries)
        tournament, entries = step.tournament, entries + step.entries


def _step(
    tournament: Tournament,
    now_ms: int,
    is_due: bool,
    scores: Mapping[str, AttemptScore],
    draw_secret: Callable[[], bytes],
) -> Progress | None:
    """Return the tournament in its next phase; None while it stays where it is."""
    match tournament.phase:
        case TournamentPhase.OPEN if is_due:
            return Progress(replace(tournament, phase=TournamentPhase.CANCELLED))
        case TournamentPhase.FILLING if (
            is_due or tournament.options.rival_level is None or not wanted_rivals(tournament)
        ):
            return _begin(tournament, now_ms, draw_secret())
        case TournamentPhase.GATHERING if is_due or players_of(tournament) <= {
            p.name for p in tournament.newest.promises
        }:
            if len(tournament.newest.promises) < 2:
                return _end_round(tournament, now_ms, {}, draw_secret)
            return Progress(replace(tournament, phase=TournamentPhase.REVEALING, since_ms=now_ms))
        case TournamentPhase.REVEALING if is_due or _have_shown(tournament):
            if len(tournament.newest.racers) < 2:
                return _end_round(tournament, now_ms, {}, draw_secret)
            played = replace(tournament.newest, started_ms=now_ms + COUNTDOWN_MS)
            gone = _without_absent(_with_newest(tournament, played))
            return Progress(replace(gone, phase=TournamentPhase.RACING, since_ms=now_ms))
        case TournamentPhase.RACING if (players_of(tournament) & set(tournament.newest.racers)) <= scores.keys():
            return _end_round(tournament, now_ms, scores, draw_secret)
        case _:
            return None


def players_of(tournament: Tournament) -> set[str]:
    """Return the players of the newest round who have not left."""
    return {name for pair in tournament.newest.pairs for name in pair.names} & set(tournament.active)


def seed_of(tournament: Tournament, played: Round) -> bytes:
    """Return the seed of a round that was dealt."""
    return tournament_seed(played.secret, played.shown, tournament.round_id(played.number))


def opening_entry(tournament: Tournament, played: Round) -> str:
    """Return the entry of the chain of rounds by which a round is opened, without number and time."""
    rules = tournament.rules
    described = describe_tournament(rules.name, rules.piles, rules.redeals)
    opening = ChainedOpening(
        number=0, at_ms=0, type="opened", commitment=tournament.commitment(played), rules=described
    )
    return describe_round(opening)


def end_entry(tournament: Tournament, played: Round) -> str:
    """Return the end of a round for the chain of rounds: proved with its seed, or called off if it was never dealt."""
    is_dealt = played.started_ms > 0
    return describe_round(
        ChainedEnd(
            number=0,
            at_ms=0,
            type="ended",
            commitment=tournament.commitment(played),
            how=RoundEnd.PROVED if is_dealt else RoundEnd.VOIDED,
            why=None if is_dealt else "not_ready",
            endings=(Ending.ROUND_OVER, Ending.ROUND_OVER) if is_dealt else None,
            revealed=(is_dealt, is_dealt),
            seed=seed_of(tournament, played) if is_dealt else None,
        )
    )


def _begin(tournament: Tournament, now_ms: int, secret: bytes) -> Progress:
    """Draw the order of the players, by the secret of the first round, and open that round."""
    if len(tournament.entrants) < 2:
        return Progress(replace(tournament, phase=TournamentPhase.OPEN, since_ms=now_ms))
    drawn = sorted(tournament.entrants, key=lambda each: hashlib.sha256(secret + each.name.encode()).digest())
    options = tournament.options
    planned = plan_rounds(options.format, len(drawn), options.rounds)
    return _open_round(replace(tournament, entrants=tuple(drawn), rounds_planned=planned), now_ms, secret)


def _open_round(tournament: Tournament, now_ms: int, secret: bytes) -> Progress:
    drawn = [each.name for each in tournament.entrants]
    ranked = [row.name for row in rank_players(tournament) if not row.has_left]
    pairs = pair_round(tournament.options.format, drawn, tournament.active, ranked, tournament.rounds)
    opened = Round(len(tournament.rounds) + 1, secret, pairs)
    following = replace(
        tournament, phase=TournamentPhase.GATHERING, since_ms=now_ms, rounds=(*tournament.rounds, opened)
    )
    return Progress(following, (opening_entry(tournament, opened),))


def _end_round(
    tournament: Tournament, now_ms: int, scores: Mapping[str, AttemptScore], draw_secret: Callable[[], bytes]
) -> Progress:
    """Give the points of the round, and open the next one if there is one."""
    tournament = _without_absent(tournament)
    newest, kind = tournament.newest, tournament.options.format
    present = set(newest.racers) & set(tournament.active)
    counted = {name: score for name, score in scores.items() if name in present}
    pairs = tuple(score_pair(pair, counted, present, kind) for pair in newest.pairs)
    over = _with_newest(tournament, replace(newest, pairs=pairs, scores=counted, is_over=True))
    entries = (end_entry(over, over.newest),)
    left = set(over.active)
    if kind is TournamentFormat.KNOCKOUT:
        left &= {
            name for pair in pairs if pair.points for name, won in zip(pair.names, pair.points, strict=False) if won
        }
    if newest.number >= over.rounds_planned or len(left) < 2:
        return Progress(replace(over, phase=TournamentPhase.OVER, since_ms=now_ms), entries)
    following = _open_round(over, now_ms, draw_secret())
    return Progress(following.tournament, entries + following.entries)


def _have_shown(tournament: Tournament) -> bool:
    active = tournament.active
    return all(each.entropy is not None for each in tournament.newest.promises if each.name in active)


def _without_absent(tournament: Tournament) -> Tournament:
    """Return the tournament without the players of the round who were not ready, or did not show their entropy."""
    absent = players_of(tournament) - set(tournament.newest.racers)
    entrants = tuple(replace(each, has_left=each.has_left or each.name in absent) for each in tournament.entrants)
    return replace(tournament, entrants=entrants)


def _with_newest(tournament: Tournament, played: Round) -> Tournament:
    return replace(tournament, rounds=(*tournament.rounds[:-1], played))
