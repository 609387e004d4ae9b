"""A daily deal that is opened: its table, proved as far as this machine can, and the attempts that it names."""

from collections.abc import Iterator, Sequence

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.daily_game import check_opening
from fairest_cli.model.daily_table import check_own_row, check_row, check_table
from fairest_cli.model.drand_beacon import check_beacon, describe_drand
from fairest_cli.records.daily_notes import DailyNote, daily_folder, load_notes
from fairest_cli.session.daily_chain import look_up_daily
from fairest_cli.session.daily_pages import fetch_attempt, fetch_daily, fetch_table
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.daily import describe_page, describe_table
from fairest_cli.text.narration import describe_broken_seal
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.daily import daily_round_id, day_of, next_day
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.daily import DailyPage, TableRow
from fairest_protocol.value import Value


class OpenedDaily(Value):
    """A deal that is opened, with its whole table, our own row if we raced it, and what was proved, in sentences."""

    page: DailyPage
    rows: tuple[TableRow, ...]
    own: TableRow | None
    proofs: tuple[str, ...]

    def find(self, rank: int | None) -> TableRow:
        """Return the first row with a rank; without one our own, else the best one. Raises `PageUnreadable`."""
        if not self.rows:
            raise PageUnreadable("Nobody raced this deal.")
        if rank is None:
            return self.own or self.rows[0]
        for row in self.rows:
            if row.rank == rank:
                return row
        raise PageUnreadable(f"No attempt has rank {rank}; there are {len(self.rows)}.")


def open_daily(server: str, rules: Rules, day: str, name: str | None = None) -> OpenedDaily | DailyPage:
    """Return a deal that is opened, or its page if it is not. `name` is our player's, None for any of this machine.

    Raises `PageUnreadable`, and `Cheated` if the deal or the table is not what the server has shown before. Blocks.
    """
    page = fetch_daily(server, rules.name, day)
    if page.seal is not None:
        check_beacon(day, page.seal)
    if not page.opened:
        return page
    rows = fetch_table(server, page)
    check_table(rows)
    if page.secret is None or page.seal is None:
        if rows:
            raise Cheated("The table is opened, but the server does not show the secret of its deal.")
        return OpenedDaily(page, (), None, ("It was never dealt: no server was running, or none could reach drand.",))
    if page.seal.round != daily_round_id(day, rules) or page.seal.commitment != page.commitment:
        raise Cheated("The seal of the daily deal is not that of its day and its variant.")
    note = _own_note(server, rules.name, day, name)
    check_opening(page.seal, rules, page.secret, note.envelopes if note else ())
    proofs = ["The secret belongs to the commitment.", look_up_daily(server, rules, day, page.seal)]
    if page.seal.drand is not None:
        proofs.append(describe_drand(page.seal.beacon_number))
    own = None
    if note is not None:
        if note.seal != page.seal:
            raise Cheated("The daily deal has another seal now than when you raced it.")
        proofs.append("The deck is the one in the envelopes that you were shown.")
        if note.result is not None:
            own = check_own_row(rows, note.name, note.result)
            proofs.append("Your attempt stands in the table with your score.")
    return OpenedDaily(page, tuple(rows), own, tuple(proofs))


def fetch_row(server: str, opened: OpenedDaily, row: TableRow) -> DailyRecord:
    """Return the record of a row, proved. Raises `PageUnreadable` and `Cheated`. Blocks on the network."""
    try:
        record = fetch_attempt(server, row.attempt)
    except BadRecord as reason:
        raise Cheated(f"The record of {row.name} does not prove itself: {reason}.") from reason
    check_row(opened.page, row, record)
    return record


def describe_yesterday(server: str, rules: Rules) -> list[str]:
    """Return the table of yesterday's deal for people, or why there is none. Blocks on the network."""
    day = next_day(day_of(now_ms()), -1)
    try:
        opened = open_daily(server, rules, day)
    except PageUnreadable as reason:
        return [clean(str(reason))]
    except Cheated as reason:
        return list(describe_broken_seal(reason, daily_folder()))
    return list(describe_opened(opened))


def describe_opened(opened: OpenedDaily | DailyPage) -> Iterator[str]:
    """Yield a deal with its table and what was proved, or the page of one that is not opened yet."""
    if not isinstance(opened, OpenedDaily):
        yield from describe_page(opened)
        return
    yield from describe_page(opened.page)
    yield from describe_table(opened.rows, opened.own)
    yield describe_proofs(opened.proofs)


def describe_proofs(proofs: Sequence[str]) -> str:
    """Return what was proved, in one line."""
    return "Checked: " + " ".join(proofs)


def _own_note(server: str, variant: str, day: str, name: str | None) -> DailyNote | None:
    for note in load_notes(server, variant):
        if note.day == day and (name is None or note.name.lower() == name.lower()):
            return note
    return None
