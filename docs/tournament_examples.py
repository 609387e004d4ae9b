"""Examples of the answers about tournaments, made by the functions of the server."""

from collections.abc import Iterator

from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.seal import commit_entrant
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.tournaments import (
    RunningCount,
    TournamentFormat,
    TournamentRace,
    TournamentTick,
)
from fairest_server.daily.attempt import show_start
from fairest_server.tournament.progress import Progress, advance, phase_ends_ms, seed_of
from fairest_server.tournament.requests import Answer, get_ready, join, reveal, start
from fairest_server.tournament.state import COUNTDOWN_MS, Entrant, Options, Tournament
from fairest_server.tournament.view import show_tournament

CODE = "quiet-green-heron"
NOW_MS = 1_795_483_200_000
_ENTROPIES = {"ann": bytes(range(32)), "bob": bytes(range(32, 64))}


def tournament_examples() -> Iterator[Message]:
    """Yield one example of each answer: of a tournament of two players, in its first race."""
    tournament = _racing()
    played, rules = tournament.newest, tournament.rules
    until_ms = phase_ends_ms(tournament, ())
    assert until_ms is not None
    yield show_tournament(tournament, until_ms, NOW_MS)
    counts = (RunningCount(name="ann", placed=3, ended=False), RunningCount(name="bob", placed=0, ended=False))
    yield TournamentTick(code=CODE, version=tournament.version, now_ms=NOW_MS, counts=counts)
    sealed = seal_deal(rules, seed_of(tournament, played), tournament.round_id(1))
    yield TournamentRace(
        code=CODE,
        round=1,
        until_ms=until_ms,
        now_ms=NOW_MS + COUNTDOWN_MS,
        moves=0,
        entries=show_start(rules, sealed, played.started_ms, until_ms),
        result=None,
    )


def _racing() -> Tournament:
    options = Options("classic", TournamentFormat.SWISS, 1, 16, None, 120, 1200)
    opened = Tournament(CODE, bytes(range(16)), "ann", options, NOW_MS, (Entrant("ann", "ann"),))
    tournament = _advanced(start(_taken(join(opened, "bob", "bob")), "ann", NOW_MS))
    for name, entropy in _ENTROPIES.items():
        tournament = _taken(get_ready(tournament, name, 1, commit_entrant(tournament.round_id(1), name, entropy)))
    tournament = _advanced(tournament)
    for name, entropy in _ENTROPIES.items():
        tournament = _taken(reveal(tournament, name, 1, entropy))
    return _advanced(tournament)


def _advanced(answer: Answer) -> Tournament:
    progress: Progress = advance(_taken(answer), NOW_MS, (), {}, lambda: bytes(32))
    return progress.tournament


def _taken(answer: Answer) -> Tournament:
    assert isinstance(answer, Tournament), answer
    return answer
