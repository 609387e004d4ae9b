"""What a chain of rounds proves of a daily deal, and each way in which it can contradict one."""

from contextlib import nullcontext
from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.chain_audit import BrokenChain
from fairest_cli.records.daily_entries import LATE_MS, DailyEntries, may_begin_at
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsHead, RoundsPage
from tests.support.drand import NETWORK, sign_drand
from tests.support.lying_chain import MadeChain

DAY = "2026-11-24"
START_MS = day_start_ms(DAY)
RULES = VARIANTS["classic"].rules
COMMITMENT, OTHER = bytes([1]) * 32, bytes([2]) * 32
BY_DRAND = "classic-drand-daily 4 0"
HOUR_MS = 3_600_000
LEAD_MS = 12 * HOUR_MS
FIRST_DRAND = NETWORK.first_round(START_MS)


class Made:
    """A chain whose entries have chosen times, before the start of the day or behind it."""

    def __init__(self) -> None:
        self.chain = MadeChain()

    def open(self, before_ms: int, commitment: bytes = OTHER, rules: str = "classic 4 0") -> int:
        """Open a round so long before the day; return the number of its entry."""
        self.chain.now_ms = START_MS - before_ms - 1000
        self.chain.add({"type": "opened", "commitment": commitment.hex(), "rules": rules})
        return len(self.chain.lines)

    def announce(self, before_ms: int = LEAD_MS, **changes: Any) -> int:
        return self.open(before_ms, **{"commitment": COMMITMENT, "rules": "classic-daily 4 0", **changes})

    def check_drand(self, known: tuple[RoundsHead, ...] = ()) -> str:
        """Read the whole chain of a deal by drand; `known` are heads that were shown before."""
        number = FIRST_DRAND
        signature = sign_drand(number)
        seal = DailySeal(
            round=bytes(16),
            commitment=COMMITMENT,
            beacon_number=number,
            beacon=drand_value(signature),
            drand=signature,
        )
        return self._read(DailyEntries(RULES, DAY, seal), known)

    def entries(self, number: int, beacon: bytes | None = None) -> DailyEntries:
        """Return a reader for a deal with its beacon at this number."""
        shown = self.chain.chains[number] if beacon is None else beacon
        seal = DailySeal(round=bytes(16), commitment=COMMITMENT, beacon_number=number, beacon=shown)
        return DailyEntries(RULES, DAY, seal)

    def problem(self, number: int, beacon: bytes | None = None) -> str:
        """Return the sentence with which the whole chain is refused, or nothing."""
        try:
            self.check(number, beacon)
        except Cheated as reason:
            return str(reason)
        return ""

    def check(self, number: int, beacon: bytes | None = None) -> str:
        """Read the whole chain, with the beacon at this number."""
        return self._read(self.entries(number, beacon))

    def _read(self, entries: DailyEntries, known: tuple[RoundsHead, ...] = ()) -> str:
        head = self.chain.head()
        for page in self.chain.pages():
            entries.add_page(page, PAGE_LINES, head.number)
        return entries.check(head, known)


def test_the_entries_of_an_honest_deal_are_named() -> None:
    made = Made()
    made.announce()
    number = made.open(5)
    made.open(-5)
    assert made.check(number) == "The commitment is entry 1 of the server's list of rounds, the beacon entry 2."


def test_an_honest_deal_by_drand_is_named_with_its_drand_round() -> None:
    made = Made()
    made.announce(rules=BY_DRAND)
    made.open(-5)
    assert made.check_drand() == "The commitment is entry 1 of the server's list of rounds, from before the day."


def test_a_drand_round_for_a_deal_that_was_announced_without_one_is_an_alarm() -> None:
    made = Made()
    made.announce()
    with pytest.raises(Cheated, match="for classic-daily 4 0"):
        made.check_drand()


def test_an_entry_for_a_deal_that_was_announced_for_a_drand_round_is_an_alarm() -> None:
    made = Made()
    number = made.announce(rules=BY_DRAND)
    with pytest.raises(Cheated, match="for classic-drand-daily 4 0"):
        made.check(number)


@pytest.mark.parametrize(("before_ms", "is_late"), [(LEAD_MS, False), (LEAD_MS - 1, True), (0, True)])
def test_a_deal_by_drand_is_announced_twelve_hours_before_its_day(before_ms: int, is_late: bool) -> None:
    made = Made()
    made.announce(before_ms, rules=BY_DRAND)
    with pytest.raises(Cheated, match="less than twelve hours before its day") if is_late else nullcontext():
        made.check_drand()


def test_a_commitment_behind_entries_of_its_day_was_added_when_drand_was_known() -> None:
    made = Made()
    made.open(0)
    made.announce(13 * HOUR_MS, rules=BY_DRAND)
    with pytest.raises(Cheated, match="stands behind entries of its day"):
        made.check_drand()


def test_a_second_announcement_of_the_same_deal_may_follow_when_redis_has_lost_the_first() -> None:
    made = Made()
    made.announce(13 * HOUR_MS, rules=BY_DRAND)
    made.open(0)
    made.announce(-5, rules=BY_DRAND)
    assert "is entry 1 of" in made.check_drand()


@pytest.mark.parametrize(("later_ms", "is_contradicted"), [(LATE_MS, False), (LATE_MS + 1, True)])
def test_a_head_that_this_machine_was_shown_contradicts_a_commitment_that_was_added_later(
    later_ms: int, is_contradicted: bool
) -> None:
    made = Made()
    made.open(14 * HOUR_MS)
    shown = made.chain.head(START_MS - 13 * HOUR_MS + later_ms - made.chain.now_ms)
    made.announce(13 * HOUR_MS, rules=BY_DRAND)
    with pytest.raises(Cheated, match="later than it says") if is_contradicted else nullcontext():
        made.check_drand(known=(shown,))


def test_a_head_that_has_the_commitment_contradicts_nothing() -> None:
    made = Made()
    made.announce(13 * HOUR_MS, rules=BY_DRAND)
    assert "is entry 1 of" in made.check_drand(known=(made.chain.head(HOUR_MS),))


@pytest.mark.parametrize("rules", ["classic-daily 4 0", BY_DRAND])
@pytest.mark.parametrize(("before_ms", "is_early"), [(86_460_000, False), (86_460_001, True)])
def test_a_commitment_from_more_than_a_day_before_is_an_alarm(rules: str, before_ms: int, is_early: bool) -> None:
    """Otherwise a server could announce many, on days at which nobody looks."""
    made = Made()
    number = made.announce(before_ms, rules=rules)
    with pytest.raises(Cheated, match="more than a day before its day") if is_early else nullcontext():
        made.check_drand() if rules == BY_DRAND else made.check(number)


def test_a_commitment_for_both_kinds_of_beacon_is_an_alarm() -> None:
    made = Made()
    made.announce(13 * HOUR_MS, rules=BY_DRAND)
    made.announce(13 * HOUR_MS)
    with pytest.raises(Cheated, match="for classic-daily 4 0"):
        made.check_drand()


@pytest.mark.parametrize("other", ["classic-daily 4 0", "classic-drand-daily 4 0"])
def test_two_commitments_of_either_kind_are_said(other: str) -> None:
    made = Made()
    made.announce(commitment=OTHER, rules=other)
    made.announce(rules=BY_DRAND)
    assert made.check_drand().startswith("Beware: 2 commitments were announced for this day")


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


@pytest.mark.parametrize(("before_ms", "expected"), [(86_460_000, False), (86_460_001, True)])
def test_the_search_for_the_announcement_ends_a_day_and_a_minute_before_the_day(before_ms: int, expected: bool) -> None:
    made = Made()
    made.open(before_ms)
    made.open(5)
    assert may_begin_at(made.chain.page(0), DAY) is expected


def test_the_search_goes_on_behind_the_announcement_since_there_may_be_another_one() -> None:
    made = Made()
    made.announce()
    assert not may_begin_at(made.chain.page(0), DAY)


def test_the_search_for_the_announcement_refuses_lines_that_are_no_entries() -> None:
    made = Made()
    made.chain.add_line("{}")
    with pytest.raises(BrokenChain, match="not entries"):
        may_begin_at(made.chain.page(0), DAY)


@pytest.mark.parametrize(
    ("beacon_ms", "next_ms", "problem"),
    [
        (1, 0, ""),
        (0, -1, "The beacon of the daily deal, entry 2, is not from before its day."),
        (2, 1, "The beacon of the daily deal, entry 2, is not the last entry before its day."),
    ],
)
def test_a_beacon_is_the_last_entry_before_midnight_to_the_millisecond(
    beacon_ms: int, next_ms: int, problem: str
) -> None:
    made = Made()
    made.announce()
    number = made.open(beacon_ms)
    made.open(next_ms)
    assert made.problem(number) == problem


@pytest.mark.parametrize(("before_ms", "is_another"), [(86_460_001, False), (86_460_000, True), (1, True)])
def test_another_announcement_counts_from_the_beginning_of_the_day_before(before_ms: int, is_another: bool) -> None:
    made = Made()
    made.announce(commitment=OTHER, before_ms=before_ms)
    number = made.announce(1)
    assert made.check(number).startswith("Beware: 2 commitments") == is_another


def test_another_announcement_after_midnight_is_too_late_to_choose_it() -> None:
    made = Made()
    number = made.announce()
    made.announce(0, commitment=OTHER)
    assert "Beware" not in made.check(number)


def test_another_announcement_for_other_rules_is_not_one_to_choose() -> None:
    made = Made()
    made.announce(commitment=OTHER, rules="senior-daily 8 0")
    number = made.announce()
    assert "Beware" not in made.check(number)


def test_the_warning_of_two_commitments_says_what_they_allow() -> None:
    made = Made()
    made.announce(commitment=OTHER)
    number = made.announce()
    assert made.check(number) == (
        "Beware: 2 commitments were announced for this day and variant, so the server could choose among them."
    )


def test_an_announcement_that_joined_the_chain_twice_is_the_first_of_the_two() -> None:
    made = Made()
    made.announce()
    number = made.announce()
    assert made.check(number).startswith("The commitment is entry 1 of ")


@pytest.mark.parametrize(
    ("beacon_number", "beacon"),
    [(2, None), (1, bytes(32)), (9, bytes(32))],
    ids=["another entry's hash", "no hash", "no entry"],
)
def test_a_beacon_that_the_chain_does_not_have_is_named_with_its_number(
    beacon_number: int, beacon: bytes | None
) -> None:
    made = Made()
    made.announce()
    made.open(5)
    shown = made.chain.chains[1] if beacon is None else beacon
    assert made.problem(beacon_number, shown) == (
        f"The beacon of the daily deal is not the hash of entry {beacon_number} of the server's list of rounds."
    )


def test_the_announcement_may_be_the_beacon_itself() -> None:
    made = Made()
    number = made.announce(1)
    assert made.check(number) == "The commitment is entry 1 of the server's list of rounds, the beacon entry 1."


def test_a_page_that_does_not_follow_breaks_the_chain() -> None:
    made, other = Made(), Made()
    made.announce()
    other.announce(commitment=OTHER)
    for _ in range(PAGE_LINES):
        made.open(5)
        other.open(5)
    entries = made.entries(1)
    entries.add_page(made.chain.page(0), PAGE_LINES, PAGE_LINES + 1)
    with pytest.raises(BrokenChain, match=r"^Page 1 does not follow the page before it.$"):
        entries.add_page(other.chain.page(1), PAGE_LINES, PAGE_LINES + 1)


def test_a_page_that_is_left_out_breaks_the_chain() -> None:
    made = Made()
    for _ in range(2 * PAGE_LINES + 1):
        made.open(5)
    entries = made.entries(1)
    entries.add_page(made.chain.page(0), PAGE_LINES, 501)
    with pytest.raises(BrokenChain, match=r"^Page 2 does not follow the page before it.$"):
        entries.add_page(made.chain.page(2).model_copy(update={"before": made.chain.chains[250]}), PAGE_LINES, 501)


def test_entries_that_joined_the_chain_behind_the_head_are_not_read() -> None:
    made = Made()
    number = made.announce(1)
    head = made.chain.head()
    made.announce(0, commitment=OTHER)
    entries = made.entries(number)
    entries.add_page(made.chain.page(0), PAGE_LINES, head.number)
    assert entries.check(head).endswith("the beacon entry 1.")


@pytest.mark.parametrize(
    ("line", "problem"),
    [("{}", "Entry 1 is not an entry of a chain of rounds."), ("", "Entry 1 says that it is entry 2.")],
)
def test_a_line_that_is_not_the_next_entry_breaks_the_chain(line: str, problem: str) -> None:
    made, other = Made(), Made()
    other.announce()
    other.announce()
    made.chain.add_line(line or other.chain.lines[1])
    with pytest.raises(BrokenChain, match=f"^{problem}$"):
        made.check(1, bytes(32))


def test_the_search_for_the_announcement_ends_at_an_empty_page() -> None:
    page = RoundsPage(page=0, before=bytes(32), lines=())
    assert may_begin_at(page, DAY)


def test_a_list_of_no_pages_does_not_end_with_its_head() -> None:
    made = Made()
    made.announce()
    with pytest.raises(BrokenChain, match="does not end with the hash"):
        made.entries(1).check(made.chain.head())
