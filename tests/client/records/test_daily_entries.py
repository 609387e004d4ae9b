"""What a chain of rounds proves of a daily deal, and each way in which it can contradict one."""

from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.chain_audit import BrokenChain
from fairest_cli.records.daily_entries import DailyEntries, may_begin_at
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import PAGE_LINES
from tests.support.lying_chain import MadeChain

DAY = "2026-11-24"
START_MS = day_start_ms(DAY)
RULES = VARIANTS["classic"].rules
COMMITMENT, OTHER = bytes([1]) * 32, bytes([2]) * 32


class Made:
    """A chain whose entries have chosen times, before the start of the day or behind it."""

    def __init__(self) -> None:
        self.chain = MadeChain()

    def open(self, before_ms: int, commitment: bytes = OTHER, rules: str = "classic 4 0") -> int:
        """Open a round so long before the day; return the number of its entry."""
        self.chain.now_ms = START_MS - before_ms - 1000
        self.chain.add({"type": "opened", "commitment": commitment.hex(), "rules": rules})
        return len(self.chain.lines)

    def announce(self, before_ms: int = 3_600_000, **changes: Any) -> int:
        return self.open(before_ms, **{"commitment": COMMITMENT, "rules": "classic-daily 4 0", **changes})

    def check(self, number: int, beacon: bytes | None = None) -> str:
        """Read the whole chain, with the beacon at this number."""
        seal = DailySeal(
            round=bytes(16),
            commitment=COMMITMENT,
            beacon_number=number,
            beacon=self.chain.chains[number] if beacon is None else beacon,
        )
        entries, head = DailyEntries(RULES, DAY, seal), self.chain.head()
        for page in self.chain.pages():
            entries.add_page(page, PAGE_LINES, head.number)
        return entries.check(head)


def test_the_entries_of_an_honest_deal_are_named() -> None:
    made = Made()
    made.announce()
    number = made.open(5)
    made.open(-5)
    assert made.check(number) == "The commitment is entry 1 of the server's list of rounds, the beacon entry 2."


def test_an_announcement_on_an_earlier_page_is_found() -> None:
    made = Made()
    made.announce()
    for _ in range(2 * PAGE_LINES):
        number = made.open(5)
    assert "is entry 1 of" in made.check(number)


def test_a_commitment_that_is_not_in_the_list_is_an_alarm() -> None:
    made = Made()
    made.announce(commitment=OTHER)
    with pytest.raises(Cheated, match="is not in the server's list of rounds"):
        made.check(1)


def test_a_commitment_for_other_rules_is_an_alarm() -> None:
    made = Made()
    made.announce(rules="senior-daily 8 0")
    with pytest.raises(Cheated, match="for senior-daily 8 0"):
        made.check(1)


def test_a_commitment_behind_its_beacon_is_an_alarm() -> None:
    made = Made()
    made.open(10)
    made.announce(-5)
    with pytest.raises(Cheated, match="behind its beacon"):
        made.check(1)


def test_a_beacon_that_is_not_the_hash_of_its_entry_is_an_alarm() -> None:
    made = Made()
    made.announce()
    with pytest.raises(Cheated, match="not the hash of entry 1"):
        made.check(1, bytes(32))


def test_a_beacon_from_after_midnight_is_an_alarm() -> None:
    made = Made()
    made.announce()
    number = made.open(0)
    with pytest.raises(Cheated, match="not from before its day"):
        made.check(number)


def test_a_beacon_that_was_not_the_last_entry_before_midnight_is_an_alarm() -> None:
    made = Made()
    made.announce()
    made.open(1)
    with pytest.raises(Cheated, match="not the last entry before its day"):
        made.check(1)


def test_two_commitments_for_one_day_are_said() -> None:
    made = Made()
    made.announce(commitment=OTHER)
    number = made.announce()
    assert made.check(number).startswith("Beware: 2 commitments were announced for this day")


def test_the_announcement_of_the_day_before_is_not_another_one() -> None:
    made = Made()
    made.announce(25 * 3_600_000, commitment=OTHER)
    number = made.announce()
    assert "Beware" not in made.check(number)


def test_a_chain_that_ends_otherwise_than_its_head_is_broken() -> None:
    made = Made()
    made.announce()
    made.chain.chains[1] = bytes(32)
    with pytest.raises(BrokenChain, match="does not end with the hash"):
        made.check(1, bytes(32))


def test_a_changed_entry_is_not_the_one_that_was_hashed() -> None:
    made = Made()
    made.announce()
    made.open(5)
    made.chain.lines[0] = made.chain.lines[0].replace("classic-daily", "reverse-daily")
    with pytest.raises(BrokenChain):
        made.check(2)


@pytest.mark.parametrize(
    ("commitment", "before_ms", "expected"), [(1, 5, True), (2, 5, False), (2, 25 * 3_600_000, True)]
)
def test_the_search_for_the_announcement_ends(commitment: int, before_ms: int, expected: bool) -> None:
    made = Made()
    made.open(before_ms, bytes([commitment]) * 32)
    assert may_begin_at(made.chain.page(0), DAY, COMMITMENT) is expected


def test_the_search_for_the_announcement_refuses_lines_that_are_no_entries() -> None:
    made = Made()
    made.chain.add_line("{}")
    with pytest.raises(BrokenChain, match="not entries"):
        may_begin_at(made.chain.page(0), DAY, COMMITMENT)
