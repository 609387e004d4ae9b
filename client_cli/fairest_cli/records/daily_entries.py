"""The entries of a chain of rounds that a daily deal rests on: its announcement, and its beacon. Pure."""

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.chain_audit import BrokenChain
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import chain_round_line
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import ChainedOpening, RoundsHead, RoundsPage, describe_daily, parse_chained

DAY_MS = 24 * 3600 * 1000
"""A deal is announced while the day before is under way, so at most this long before its own day."""


class DailyEntries:
    """Reads the pages of a chain in order, from one before the announcement of a deal up to the head."""

    def __init__(self, rules: Rules, day: str, seal: DailySeal) -> None:
        self._rules = describe_daily(rules.name, rules.piles, rules.redeals)
        self._begins_ms = day_start_ms(day)
        self._seal = seal
        self._number: int | None = None
        self._chain = b""
        self._announced: ChainedOpening | None = None
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
        if not isinstance(entry, ChainedOpening):
            return
        if entry.commitment == self._seal.commitment:
            self._announced = self._announced or entry
        elif entry.rules == self._rules and self._begins_ms - DAY_MS <= entry.at_ms < self._begins_ms:
            self._others.add(entry.commitment)

    def check(self, head: RoundsHead) -> str:
        """Return in a sentence what the chain proves of the deal, once all pages were added.

        Raises `BrokenChain` if the chain does not end with its head, and `Cheated` if the deal does not rest on it.
        """
        if (self._number, self._chain) != (head.number, head.chain):
            raise BrokenChain("The list of rounds does not end with the hash that the server has signed.")
        number, announced, beacon = self._seal.beacon_number, self._announced, self._beacon
        if beacon is None or beacon[0] != self._seal.beacon:
            raise Cheated(
                f"The beacon of the daily deal is not the hash of entry {number} of the server's list of rounds."
            )
        if beacon[1] >= self._begins_ms:
            raise Cheated(f"The beacon of the daily deal, entry {number}, is not from before its day.")
        if self._next_ms is not None and self._next_ms < self._begins_ms:
            raise Cheated(f"The beacon of the daily deal, entry {number}, is not the last entry before its day.")
        if announced is None:
            raise Cheated("The commitment of the daily deal is not in the server's list of rounds.")
        if announced.rules != self._rules:
            raise Cheated(f"The commitment of the daily deal is in the list of rounds for {announced.rules}.")
        if announced.number > number:
            raise Cheated("The commitment of the daily deal joined the list of rounds behind its beacon.")
        if self._others:
            return (
                f"Beware: {len(self._others) + 1} commitments were announced for this day and variant, "
                "so the server could choose among them."
            )
        return f"The commitment is entry {announced.number} of the server's list of rounds, the beacon entry {number}."


def may_begin_at(page: RoundsPage, day: str, commitment: bytes) -> bool:
    """Return whether the announcement of a deal is on this page, or can be on no earlier one.

    Raises `BrokenChain` for lines that are no entries.
    """
    try:
        entries = [parse_chained(line) for line in page.lines]
    except ValueError:
        raise BrokenChain(f"Page {page.page} has lines that are not entries of a chain of rounds.") from None
    if any(isinstance(entry, ChainedOpening) and entry.commitment == commitment for entry in entries):
        return True
    return not entries or entries[0].at_ms < day_start_ms(day) - DAY_MS
