"""The proof of the record of a race in a tournament, offline."""

from collections.abc import Iterator
from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.signature import is_signed
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.seal import tournament_statement
from fairest_protocol.calculation.tournament_record import TournamentRecord, parse_tournament_record
from fairest_protocol.messages.tournaments import RaceScore, Tournament, TournamentRound

LIMITS_OF_TOURNAMENT_RACE: Final = (
    "What a record alone cannot show: that these are the entropies of all who were ready, and that the commitment "
    "stands in the server's chain of rounds, which GET /rounds has, before any of them was shown."
)


def checking_tournament_race(text: str, key: bytes | None = None) -> Iterator[str]:
    """Yield a sentence for each check that holds. `key` is the server's public key if it is known.

    Raises `WrongRecord` with the first one that fails.
    """
    try:
        record = parse_tournament_record(text)
    except BadRecord as reason:
        raise WrongRecord(f"It does not prove itself: {reason}.") from reason
    yield f"Race of {clean(record.name)} in round {record.number} of the tournament {clean(record.code)}."
    if key is not None and key != record.key:
        raise WrongRecord(f"It names the key {record.key.hex()}, and not the one that was given.")
    if not is_signed(tournament_statement(record.statement()), record.signature, record.key):
        raise WrongRecord("It is not signed with the key that it names.")
    yield f"It is signed with the key {record.key.hex()}."
    yield f"The secret belongs to the commitment {record.commitment.hex()}."
    yield f"The deck follows from the secret and from the entropies of {len(record.entropies)} players."
    yield f"The seed is {record.seed.hex()}."
    score = record.score
    yield (
        f"All {len(record.moves)} moves were within the rules and the limit, and lead to the score: "
        f"{score.placed} cards, {score.direct} of them straight from the stock, in {score.time_ms // 100 / 10:.1f} s."
    )


def check_race(
    shown: Tournament, played: TournamentRound, name: str, score: RaceScore, record: TournamentRecord
) -> None:
    """Check that a record is that of the race that a tournament shows with this score, and signed with its key.

    Its moves were replayed when it was read. Raises `Cheated`.
    """
    if (record.tournament.hex(), record.code, record.number, record.name) != (
        shown.tournament,
        shown.code,
        played.number,
        name,
    ) or not is_score(score, record):
        raise Cheated(f"The record of {name} is of another race than the tournament shows.")
    if (record.rules.name, record.limit_seconds, record.secret, record.commitment) != (
        shown.rules,
        shown.limit_seconds,
        played.secret,
        played.commitment,
    ):
        raise Cheated(f"The record of {name} is of another deal than the tournament shows.")
    if not is_signed(tournament_statement(record.statement()), record.signature, record.key):
        raise Cheated(f"The record of {name} is not signed with the key that it names.")


def is_score(shown: RaceScore, record: TournamentRecord) -> bool:
    """Return whether the server has shown the score of a record."""
    score = record.score
    return (shown.won, shown.placed, shown.direct, shown.time_ms) == (
        score.won,
        score.placed,
        score.direct,
        score.time_ms,
    )
