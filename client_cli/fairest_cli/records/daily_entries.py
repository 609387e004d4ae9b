"""The entries of a chain of rounds that a daily deal rests on: its announcement, and without drand its beacon. Pure."""

from collections.abc import Sequence
from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.chain_audit import BrokenChain
from fairest_protocol.calculation.daily import DRAND_LEAD_MS, EARLIEST_MS, day_start_ms
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import chain_round_line
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import ChainedOpening, RoundsHead, RoundsPage, describe_daily, parse_chained

LATE_MS: Final = 600_000
"""An entry joins the chain a minute after its time at the latest, and later if the node of the chain was away."""


class DailyEntries:
    """Reads the pages of a chain in order, from one before the announcement of a deal up to the head."""

    def __init__(self, rules: Rules, day: str, seal: DailySeal) -> None:
        is_drand = seal.drand is not None
        self._rules = describe_daily(rules.name, rules.piles, rules.redeals, is_drand=is_drand)
        self._other_rules = describe_daily(rules.name, rules.piles, rules.redeals, is_drand=not is_drand)
        self._begins_ms = day_start_ms(day)
        self._seal = seal
        self._number: int | None = None
        self._chain = b""
        self._openings: list[ChainedOpening] = []
        """The entries that announce this deal: one, and a second one if Redis lost the first."""
        self._has_begun = False
        """Whether an entry of the day, or of a later one, stands before the first of them."""
        self._others: set[bytes] = set()
        """Other commitments that were announced for the same day."""
        self._beacon: tuple[bytes, int] | None = None
        """The chain of the beacon's entry, and its time."""
        self._next_ms: int | None = None
        """The time of the entry behind the beacon."""

    def add_page(self, page: RoundsPage, page_lines: int, last: int) -> None:
        """Take the next page, up to the entry `last`. Raises `BrokenChain`."""
        first = page.page * page_lines + 1
        if self._number is None:
            self._number, self._chain = first - 1, page.before
        if first != self._number + 1 or page.before != self._chain:
            raise BrokenChain(f"Page {page.page} does not follow the page before it.")
        for number, line in enumerate(page.lines[: last - self._number], first):
            self._add_line(number, line)

    def _add_line(self, number: int, line: str) -> None:
        self._number, self._chain = number, chain_round_line(self._chain, line)
        try:
            entry = parse_chained(line)
        except ValueError:
            raise BrokenChain(f"Entry {number} is not an entry of a chain of rounds.") from None
        if entry.number != number:
            raise BrokenChain(f"Entry {number} says that it is entry {entry.number}.")
        if number == self._seal.beacon_number:
            self._beacon = self._chain, entry.at_ms
        elif number == self._seal.beacon_number + 1:
            self._next_ms = entry.at_ms
        self._has_begun |= not self._openings and entry.at_ms >= self._begins_ms
        if not isinstance(entry, ChainedOpening):
            return
        is_in_time = self._begins_ms - EARLIEST_MS <= entry.at_ms < self._begins_ms
        if entry.commitment == self._seal.commitment:
            self._openings.append(entry)
        elif entry.rules in (self._rules, self._other_rules) and is_in_time:
            self._others.add(entry.commitment)

    def check(self, head: RoundsHead, known: Sequence[RoundsHead] = ()) -> str:
        """Return in a sentence what the chain proves of the deal, once all pages were added.

        `known` are heads of this chain that were shown before.

        Raises `BrokenChain` if the chain does not end with its head, and `Cheated` if the deal does not rest on it.
        """
        if (self._number, self._chain) != (head.number, head.chain):
            raise BrokenChain("The list of rounds does not end with the hash that the server has signed.")
        if self._seal.drand is None:
            self._check_beacon()
        if not self._openings:
            raise Cheated("The commitment of the daily deal is not in the server's list of rounds.")
        for opening in self._openings:
            if opening.rules != self._rules:
                raise Cheated(f"The commitment of the daily deal is in the list of rounds for {opening.rules}.")
        announced = self._openings[0]
        if announced.at_ms < self._begins_ms - EARLIEST_MS:
            raise Cheated("The commitment of the daily deal joined the list of rounds more than a day before its day.")
        if self._seal.drand is not None:
            self._check_time(announced, known)
        elif announced.number > self._seal.beacon_number:
            raise Cheated("The commitment of the daily deal joined the list of rounds behind its beacon.")
        if self._others:
            return (
                f"Beware: {len(self._others) + 1} commitments were announced for this day and variant, "
                "so the server could choose among them."
            )
        where = f"The commitment is entry {announced.number} of the server's list of rounds"
        is_entry = self._seal.drand is None
        return f"{where}, {f'the beacon entry {self._seal.beacon_number}' if is_entry else 'from before the day'}."

    def _check_time(self, announced: ChainedOpening, known: Sequence[RoundsHead]) -> None:
        """Check that a deal was announced before its drand round. Raises `Cheated`.

        The time of an entry is the server's word. The entries before it, and heads that the server has signed, may
        contradict it.
        """
        if announced.at_ms > self._begins_ms - DRAND_LEAD_MS:
            raise Cheated(
                "The commitment of the daily deal joined the list of rounds less than twelve hours before its day."
            )
        if self._has_begun:
            raise Cheated("The commitment of the daily deal stands behind entries of its day in the list of rounds.")
        if any(head.number < announced.number and head.at_ms > announced.at_ms + LATE_MS for head in known):
            raise Cheated(
                "The commitment of the daily deal joined the list of rounds later than it says: this machine was shown "
                "the list without it."
            )

    def _check_beacon(self) -> None:
        """Check that the beacon is the chain of the last entry before the day. Raises `Cheated`."""
        number, beacon = self._seal.beacon_number, self._beacon
        if beacon is None or beacon[0] != self._seal.beacon:
            raise Cheated(
                f"The beacon of the daily deal is not the hash of entry {number} of the server's list of rounds."
            )
        if beacon[1] >= self._begins_ms:
            raise Cheated(f"The beacon of the daily deal, entry {number}, is not from before its day.")
        if self._next_ms is not None and self._next_ms < self._begins_ms:
            raise Cheated(f"The beacon of the daily deal, entry {number}, is not the last entry before its day.")


def may_begin_at(page: RoundsPage, day: str) -> bool:
    """Return whether no announcement of a deal of this day can be on a page before this one.

    Raises `BrokenChain` for lines that are no entries.
    """
    try:
        entries = [parse_chained(line) for line in page.lines]
    except ValueError:
        raise BrokenChain(f"Page {page.page} has lines that are not entries of a chain of rounds.") from None
    return not entries or entries[0].at_ms < day_start_ms(day) - EARLIEST_MS
