"""The races of a pair in a tournament as a match. Pure."""

from fairest_cli.records.solo_match import SoloDeal, SoloRun, match_of_runs
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.seal import mix_entropies
from fairest_protocol.calculation.tournament_record import TournamentRecord


def races_as_match(record: TournamentRecord, other: TournamentRecord | None = None) -> Record:
    """Return a race, and another one on the same deal beside it, as a match of one round (`match_of_runs`)."""
    mix = mix_entropies(record.round_id, record.entropies)
    limit_ms = record.limit_seconds * 1000
    deal = SoloDeal(record.rules, record.round_id, record.secret, mix, limit_ms, record.code)
    second = None if other is None else SoloRun(other.name, other.moves)
    return match_of_runs(deal, SoloRun(record.name, record.moves), second)
