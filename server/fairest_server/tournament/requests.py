"""What players ask of a tournament: to enter, to leave, to start it, to get ready, and to show an entropy. Pure.

Each function returns the tournament after the request, the very same one if nothing changes, or the refusal.
"""

from fairest_protocol.calculation.seal import commit_entrant
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.rivals import is_bot_name
from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_protocol.value import replace
from fairest_server.tournament.state import Entrant, Promise, Tournament

Answer = Tournament | Refusal


def wanted_rivals(tournament: Tournament) -> int:
    """Return how many rivals may enter now."""
    is_filling = tournament.phase is TournamentPhase.FILLING
    return tournament.options.most_players - len(tournament.entrants) if is_filling else 0


def join(tournament: Tournament, player_id: str, name: str) -> Answer:
    """Enter a tournament that is open, or, for a rival, one that is being filled."""
    if tournament.entrant_of(player_id) is not None:
        return tournament
    is_rival = is_bot_name(name) and wanted_rivals(tournament) > 0
    if tournament.phase is not TournamentPhase.OPEN and not is_rival:
        return Refusal.WRONG_PHASE
    if len(tournament.entrants) >= tournament.options.most_players:
        return Refusal.TOURNAMENT_FULL
    if any(each.name == name for each in tournament.entrants):
        return Refusal.NAME_TAKEN
    return replace(tournament, entrants=(*tournament.entrants, Entrant(player_id, name)))


def leave(tournament: Tournament, player_id: str) -> Answer:
    """Leave a tournament. The creator of one that has not begun is then the player who entered next."""
    entrant = tournament.entrant_of(player_id)
    if entrant is None:
        return Refusal.NOT_ENTERED
    if entrant.has_left:
        return tournament
    if tournament.phase not in (TournamentPhase.OPEN, TournamentPhase.FILLING):
        entrants = tuple(replace(each, has_left=each.has_left or each == entrant) for each in tournament.entrants)
        return replace(tournament, entrants=entrants)
    left = tuple(each for each in tournament.entrants if each != entrant)
    if not left:
        return replace(tournament, phase=TournamentPhase.CANCELLED)
    creator = left[0].name if tournament.creator == entrant.name else tournament.creator
    return replace(tournament, entrants=left, creator=creator)


def start(tournament: Tournament, player_id: str, now_ms: int) -> Answer:
    """Start a tournament: rivals enter it for a time, if it wants some."""
    entrant = tournament.entrant_of(player_id)
    if entrant is None or entrant.name != tournament.creator:
        return Refusal.NOT_CREATOR
    if tournament.phase is not TournamentPhase.OPEN:
        return tournament
    if len(tournament.entrants) < 2 and tournament.options.rival_level is None:
        return Refusal.WRONG_PHASE
    return replace(tournament, phase=TournamentPhase.FILLING, since_ms=now_ms)


def get_ready(tournament: Tournament, player_id: str, number: int, entropy_hash: bytes) -> Answer:
    """Get ready for the round under way."""
    entrant = tournament.entrant_of(player_id)
    refusal = _round_refusal(tournament, entrant, number)
    if refusal is not None or entrant is None:
        return refusal or Refusal.NOT_ENTERED
    newest = tournament.newest
    promised = next((each for each in newest.promises if each.name == entrant.name), None)
    if promised is not None:
        return tournament if promised.entropy_hash == entropy_hash else Refusal.ALREADY_READY
    if tournament.phase is not TournamentPhase.GATHERING:
        return Refusal.WRONG_PHASE
    promises = (*newest.promises, Promise(entrant.name, entropy_hash))
    return replace(tournament, rounds=(*tournament.rounds[:-1], replace(newest, promises=promises)))


def reveal(tournament: Tournament, player_id: str, number: int, entropy: bytes) -> Answer:
    """Show the entropy to which a player is bound."""
    entrant = tournament.entrant_of(player_id)
    refusal = _round_refusal(tournament, entrant, number)
    if refusal is not None or entrant is None:
        return refusal or Refusal.NOT_ENTERED
    newest = tournament.newest
    promised = next((each for each in newest.promises if each.name == entrant.name), None)
    if promised is not None and promised.entropy == entropy:
        return tournament
    if tournament.phase is not TournamentPhase.REVEALING or promised is None:
        return Refusal.WRONG_PHASE
    if commit_entrant(tournament.round_id(number), entrant.name, entropy) != promised.entropy_hash:
        return Refusal.WRONG_ENTROPY
    promises = tuple(replace(each, entropy=entropy) if each is promised else each for each in newest.promises)
    return replace(tournament, rounds=(*tournament.rounds[:-1], replace(newest, promises=promises)))


def _round_refusal(tournament: Tournament, entrant: Entrant | None, number: int) -> Refusal | None:
    """Return why this player has no part in the round under way, None if it has."""
    if not tournament.rounds or tournament.newest.number != number or tournament.newest.is_over:
        return Refusal.WRONG_ROUND
    is_paired = entrant is not None and any(entrant.name in pair.names for pair in tournament.newest.pairs)
    return None if is_paired and entrant is not None and not entrant.has_left else Refusal.NOT_ENTERED
