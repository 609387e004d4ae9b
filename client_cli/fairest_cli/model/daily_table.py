"""The checks of a daily deal's table that is opened: its order, and that each record is that of its row. Pure."""

from collections.abc import Sequence

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.signature import is_signed
from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.seal import daily_statement
from fairest_protocol.messages.daily import AttemptResult, DailyPage, TableRow


def score_of(shown: TableRow | AttemptResult) -> AttemptScore:
    """Return the score that a row of the table, or a result, shows."""
    return AttemptScore(shown.won, shown.placed, shown.direct, shown.time_ms)


def check_table(rows: Sequence[TableRow]) -> None:
    """Check that the rows of a whole table are in order, and ranked by it. Raises `Cheated`."""
    for place, row in enumerate(rows, 1):
        before = rows[place - 2] if place > 1 else None
        if before is not None and score_of(before).order < score_of(row).order:
            raise Cheated(f"The table is not in order: {row.name} stands behind {before.name}.")
        is_equal = before is not None and score_of(before) == score_of(row)
        wanted = before.rank if before is not None and is_equal else place
        if row.rank != wanted:
            raise Cheated(f"{row.name} has rank {row.rank} in the table, where {wanted} is due.")


def check_own_row(rows: Sequence[TableRow], name: str, result: AttemptResult) -> TableRow:
    """Return the row of our attempt. Raises `Cheated` if the table has none with the score that we were shown."""
    for row in rows:
        if row.name == name and score_of(row) == score_of(result):
            return row
    raise Cheated("Your attempt is not in the table with the score that the server has shown to you.")


def check_row(page: DailyPage, row: TableRow, record: DailyRecord) -> None:
    """Check that a record is that of a row of the table, of this deal, and signed with its key. Raises `Cheated`.

    Its moves were replayed when it was read.
    """
    if (record.attempt, record.name, record.score) != (row.attempt, row.name, score_of(row)):
        raise Cheated(f"The record of {row.name} is of another attempt than the table shows.")
    deal = page.seal
    is_of_deal = deal is not None and (record.secret, record.beacon, record.beacon_number, record.drand) == (
        page.secret,
        deal.beacon,
        deal.beacon_number,
        deal.drand or b"",
    )
    if not is_of_deal or (record.day, record.rules.name) != (page.day, page.rules):
        raise Cheated(f"The record of {row.name} is of another deal than the table.")
    if not is_signed(daily_statement(record.statement()), record.signature, record.key):
        raise Cheated(f"The record of {row.name} is not signed with the key that it names.")
