"""The output of `fairest verify`, which the full screen shows too, word for word."""

from collections.abc import Iterable, Iterator
from itertools import chain

from fairest_cli.records.attempt_check import LIMITS_OF_ATTEMPT, checking_attempt
from fairest_cli.records.receipt_replay import BadReceipt, judge_receipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import LIMITS_OF_RECEIPT, LIMITS_OF_RECORD, WrongRecord, verify_record
from fairest_cli.records.tournament_against_receipt import (
    LIMITS_OF_TOURNAMENT_RECEIPT,
    compare_tournament_receipt,
    judge_tournament_receipt,
)
from fairest_cli.records.tournament_check import LIMITS_OF_TOURNAMENT_RACE, checking_tournament_race
from fairest_cli.records.tournament_receipt import (
    TournamentReceipt,
    is_tournament_receipt,
    parse_tournament_receipt,
)
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.daily_record import is_daily_record
from fairest_protocol.calculation.tournament_record import is_tournament_record, parse_tournament_record
from fairest_protocol.value import Value


class Verification(Value):
    """The lines about a record or a receipt, and whether everything that can be checked is right."""

    lines: tuple[str, ...]
    is_right: bool


def verify(record_text: str | None, key: bytes | None = None, receipt: Iterable[str] | None = None) -> Verification:
    """Check a record, a receipt, or both against each other; `key` is the server's public key if it is known.

    Raises OSError and `BadReceipt`, if reading `receipt` does; `BadReceipt` also for one that is of another kind than
    the record.
    """
    receipt, of_tournament = _look_into(receipt)
    if record_text is not None and is_daily_record(record_text):
        if receipt is not None:
            raise BadReceipt("an attempt at a daily deal has none: fairest daily --day compares it with your note")
        return _verify_alone(checking_attempt(record_text, key), LIMITS_OF_ATTEMPT)
    if record_text is not None and is_tournament_record(record_text):
        return _verify_race(record_text, key, receipt, of_tournament)
    if of_tournament is not None:
        if record_text is not None:
            raise BadReceipt("it is that of a tournament, and the record is that of a match")
        return _verify_alone(judge_tournament_receipt(of_tournament), LIMITS_OF_TOURNAMENT_RECEIPT)
    lines: list[str] = []
    try:
        if record_text is None:
            lines.extend(judge_receipt(iter(receipt or ())))
        else:
            record, checks = verify_record(record_text, key)
            shown = compare_receipt(record, iter(receipt)) if receipt is not None else ()
            # One by one: a check that fails must not lose those before it.
            for sentence in chain(checks, shown):
                lines.append(sentence)  # noqa: PERF402
    except WrongRecord as reason:
        return Verification((*lines, describe_wrong(reason)), is_right=False)
    limits = LIMITS_OF_RECORD if receipt is None else LIMITS_OF_RECEIPT
    return Verification((*lines, "Everything that can be checked is right.", *limits.split("\n")), is_right=True)


def _look_into(receipt: Iterable[str] | None) -> tuple[Iterable[str] | None, TournamentReceipt | None]:
    """Return the lines of a receipt, and what it says if it is that of a tournament. Raises `BadReceipt`."""
    if receipt is None:
        return None, None
    lines = iter(receipt)
    first = next(lines, None)
    if first is None:
        return (), None
    of_tournament = parse_tournament_receipt(first) if is_tournament_receipt(first) else None
    return chain((first,), lines), of_tournament


def _verify_race(
    text: str, key: bytes | None, receipt: Iterable[str] | None, of_tournament: TournamentReceipt | None
) -> Verification:
    """Check the record of a race in a tournament, and compare it with the player's receipt. Raises `BadReceipt`."""
    if receipt is None:
        return _verify_alone(checking_tournament_race(text, key), LIMITS_OF_TOURNAMENT_RACE)
    if of_tournament is None:
        raise BadReceipt("it is not that of a tournament")
    checks = chain(checking_tournament_race(text, key), _comparing(text, of_tournament))
    return _verify_alone(checks, LIMITS_OF_TOURNAMENT_RECEIPT)


def _comparing(text: str, receipt: TournamentReceipt) -> Iterator[str]:
    """Compare a record that was proved with a receipt."""
    yield from compare_tournament_receipt(parse_tournament_record(text), receipt)


def _verify_alone(checks: Iterator[str], limits: str) -> Verification:
    """Make all checks of the record of a race without a room; `limits` is what they cannot show."""
    lines: list[str] = []
    try:
        for sentence in checks:
            lines.append(sentence)  # noqa: PERF402 (a check that fails must not lose those before it)
    except WrongRecord as reason:
        return Verification((*lines, describe_wrong(reason)), is_right=False)
    return Verification((*lines, "Everything that can be checked is right.", limits), is_right=True)


def describe_wrong(reason: WrongRecord) -> str:
    """Return the line about a check that failed."""
    return f"WRONG: {clean(str(reason))}"
