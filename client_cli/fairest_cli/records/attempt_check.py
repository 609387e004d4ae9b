"""The proof of the record of an attempt at a daily deal, offline."""

from collections.abc import Iterator
from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.drand_beacon import check_drand, describe_drand
from fairest_cli.model.signature import is_signed
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.daily_record import parse_daily_record
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.seal import daily_statement

LIMITS_OF_ATTEMPT: Final = (
    "What a record alone cannot show: that the commitment stands in the server's chain of rounds before the day, and "
    "before the beacon if that is an entry of the chain. GET /rounds has that chain."
)


def checking_attempt(text: str, key: bytes | None = None) -> Iterator[str]:
    """Yield a sentence for each check that holds. `key` is the server's public key if it is known.

    Raises `WrongRecord` with the first one that fails.
    """
    try:
        record = parse_daily_record(text)
    except BadRecord as reason:
        raise WrongRecord(f"It does not prove itself: {reason}.") from reason
    yield f"Attempt of {clean(record.name)} at the daily deal of {record.day}, {record.rules.name}."
    if key is not None and key != record.key:
        raise WrongRecord(f"It names the key {record.key.hex()}, and not the one that was given.")
    if not is_signed(daily_statement(record.statement()), record.signature, record.key):
        raise WrongRecord("It is not signed with the key that it names.")
    yield f"It is signed with the key {record.key.hex()}."
    yield f"The secret belongs to the commitment {record.commitment.hex()}."
    if record.drand:
        try:
            check_drand(record.day, record.beacon_number, record.beacon, record.drand)
        except Cheated as reason:
            raise WrongRecord(str(reason)) from reason
        yield describe_drand(record.beacon_number)
    source = "" if record.drand else f", entry {record.beacon_number}"
    yield f"The deck follows from the secret and from the beacon{source}: {record.beacon.hex()}."
    yield f"The seed is {record.seed.hex()}."
    score = record.score
    yield (
        f"All {len(record.moves)} moves were within the rules and the limit, and lead to the score: "
        f"{score.placed} cards, {score.direct} of them straight from the stock, in {score.time_ms // 100 / 10:.1f} s."
    )
