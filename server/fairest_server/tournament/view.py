"""What everybody is shown of a tournament. Pure: of the races under way, nothing but counts, which come separately."""

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.messages.tournaments import (
    ListedTournament,
    RaceScore,
    ReadyEntrant,
    TournamentPair,
    TournamentPhase,
    TournamentRound,
)
from fairest_protocol.messages.tournaments import Tournament as ShownTournament
from fairest_server.tournament.requests import wanted_rivals
from fairest_server.tournament.standings import rank_players
from fairest_server.tournament.state import Pair, Round, Tournament


def show_tournament(tournament: Tournament, until_ms: int | None, now_ms: int) -> ShownTournament:
    """Return a tournament as everybody is shown it: no secret and no score of a round before it is over."""
    options = tournament.options
    return ShownTournament(
        code=tournament.code,
        tournament=tournament.tournament_id.hex(),
        version=tournament.version,
        phase=tournament.phase,
        creator=tournament.creator,
        rules=options.rules,
        format=options.format,
        rounds=tournament.rounds_planned or None,
        most_players=options.most_players,
        rival_level=options.rival_level,
        wanted=wanted_rivals(tournament),
        ready_seconds=options.ready_seconds,
        limit_seconds=options.limit_seconds,
        until_ms=until_ms,
        now_ms=now_ms,
        standings=rank_players(tournament),
        played=tuple(_show_round(tournament, played) for played in tournament.rounds),
    )


def list_tournament(tournament: Tournament) -> ListedTournament:
    """Return the row of a tournament in the list."""
    options = tournament.options
    return ListedTournament(
        code=tournament.code,
        phase=tournament.phase,
        creator=tournament.creator,
        rules=options.rules,
        format=options.format,
        players=len(tournament.entrants),
        most_players=options.most_players,
        round=len(tournament.rounds),
        wanted=wanted_rivals(tournament),
        rival_level=options.rival_level,
        winners=_winners(tournament),
    )


def show_score(score: AttemptScore) -> RaceScore:
    """Return the score of a race as the wire has it."""
    return RaceScore(won=score.won, placed=score.placed, direct=score.direct, time_ms=score.time_ms)


def _winners(tournament: Tournament) -> tuple[str, ...]:
    if tournament.phase is not TournamentPhase.OVER:
        return ()
    return tuple(row.name for row in rank_players(tournament) if row.rank == 1)


def _show_round(tournament: Tournament, played: Round) -> TournamentRound:
    is_newest = played is tournament.newest
    return TournamentRound(
        number=played.number,
        round=tournament.round_id(played.number),
        commitment=tournament.commitment(played),
        pairs=tuple(_show_pair(pair, played) for pair in played.pairs),
        ready=tuple(
            ReadyEntrant(name=each.name, entropy_hash=each.entropy_hash, entropy=each.entropy)
            for each in (played.promises if is_newest else ())
        ),
        started_ms=(played.started_ms or None) if is_newest else None,
        secret=played.secret if played.is_over else None,
    )


def _show_pair(pair: Pair, played: Round) -> TournamentPair:
    first, second = (played.scores.get(name) if name is not None else None for name in (pair.first, pair.second))
    return TournamentPair(
        names=(pair.first, pair.second),
        points=pair.points,
        scores=(show_score(first) if first else None, show_score(second) if second else None),
    )
