"""The audit of a chain to the millisecond, to the number and to the word: where an excuse ends and an alarm begins."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from fairest_cli.records.chain_audit import MAX_LOSSES, MAX_VARIANTS
from fairest_cli.records.receipt_rounds import SeenRound
from fairest_protocol.messages.rounds import RoundsHead
from tests.client.records.test_chain_audit import audit, chain_of, rounds
from tests.support.lying_chain import KEY, START_MS, MadeChain, MadeRound

MINUTE_MS = 60_000
TWO_MINUTES_MS = 120_000
"""Twice the time in which a round joins the chain."""
FOUR_HOURS_MS = 4 * 3_600_000


def opened(made: MadeRound) -> MadeChain:
    """Return a chain in which this round was opened, at `START_MS` + 1 s, and has no end."""
    chain = MadeChain()
    chain.open(made)
    return chain


def ended(made: MadeRound, **changes: Any) -> MadeChain:
    """Return a chain in which this round was opened and ended."""
    chain = opened(made)
    chain.end(made, **changes)
    return chain


def shown(made: MadeRound, **changes: Any) -> SeenRound:
    """Return what a receipt has of a round of `opened`, by default without its end."""
    return made.seen(START_MS + 1000, **{"how": "", "secret": None, "endings": None, **changes})


# Heads, and the clock of this machine.


@pytest.mark.parametrize(
    ("age_ms", "minutes"),
    [(600_000, []), (600_001, [10]), (3_600_000, [60]), (3_599_999, [59])],
)
def test_a_head_may_be_ten_minutes_old(age_ms: int, minutes: list[int]) -> None:
    wanted = [
        f"The head of the chain is {each} minutes old, by this machine's clock: "
        "rounds that were opened since are not in it."
        for each in minutes
    ]
    assert audit(chain_of(rounds(1)), age_ms=age_ms).alarms == wanted


@pytest.mark.parametrize(
    ("ahead_ms", "minutes"),
    [(600_000, []), (600_001, [10]), (3_600_000, [60]), (3_599_999, [59])],
)
def test_a_head_may_be_ten_minutes_ahead(ahead_ms: int, minutes: list[int]) -> None:
    wanted = [
        f"Entry 2 was signed {each} minutes in the future, by this machine's clock: an older head of the chain would "
        "pass as one that was signed later."
        for each in minutes
    ]
    assert audit(chain_of(rounds(1)), age_ms=-ahead_ms).alarms == wanted


def head_at(chain: MadeChain, number: int, at_ms: int) -> RoundsHead:
    """Return a head that the chain had at this number, signed at another time."""
    return KEY.sign_head(number, chain.chains[number], at_ms)


@pytest.mark.parametrize(("earlier_ms", "is_alarm"), [(4_999, False), (5_000, True), (60_000, True)])
def test_a_head_that_went_ahead_may_have_been_signed_five_seconds_before_ours(earlier_ms: int, is_alarm: bool) -> None:
    chain = chain_of(rounds(2))
    head = head_at(chain, 2, chain.now_ms)
    ahead = head_at(chain, 4, head.at_ms - earlier_ms)
    chain.cut(2)
    assert bool(audit(chain, heads=[ahead], head=head).alarms) == is_alarm


def test_each_head_that_was_shown_is_looked_at() -> None:
    """One that was read a moment later and one of another chain, in this order."""
    chain, other = chain_of(rounds(2)), chain_of(rounds(2, seed=2))
    head, ahead = head_at(chain, 2, chain.now_ms), head_at(chain, 4, chain.now_ms)
    chain.cut(2)
    assert len(audit(chain, heads=[ahead, head_at(other, 1, START_MS)], head=head).alarms) == 1


def test_a_head_at_the_end_of_the_chain_that_differs_is_not_in_the_chain() -> None:
    chain, other = chain_of(rounds(1)), chain_of(rounds(1, seed=2))
    assert "you were shown, is not in the chain." in audit(chain, heads=[other.head()]).alarms[0]


def test_the_head_of_a_chain_without_entries_is_in_each_chain() -> None:
    chain = chain_of(rounds(1))
    findings = audit(chain, heads=[head_at(chain, 0, START_MS)])
    assert (findings.own_heads, findings.alarms) == (1, [])


@pytest.mark.parametrize(("number", "in_chain", "older"), [(249, 0, 1), (250, 1, 0), (251, 1, 0)])
def test_a_head_just_before_the_first_entry_is_in_the_chain_and_an_earlier_one_is_older(
    number: int, in_chain: int, older: int
) -> None:
    chain = chain_of(rounds(150))
    findings = audit(chain, heads=[head_at(chain, number, START_MS)], pages=chain.pages()[1:])
    notes = [note for note in findings.notes if "1 heads that you were shown are older" in note]
    assert (findings.own_heads, len(notes), findings.alarms) == (in_chain, older, [])


@pytest.mark.parametrize(("number", "is_excused"), [(4, False), (5, True), (6, True), (7, False)])
def test_a_loss_excuses_the_heads_from_its_entry_to_the_last_that_was_lost(number: int, is_excused: bool) -> None:
    made = rounds(6)
    chain, other = chain_of(made[:2]), chain_of(rounds(6, seed=2))
    chain.add({"type": "lost", "lost_number": 6, "lost_chain": bytes(32).hex()})
    chain.play(made[3])
    chain.play(made[4])
    assert bool(audit(chain, heads=[head_at(other, number, START_MS)]).alarms) != is_excused


# Rounds of this machine's receipts.


@pytest.mark.parametrize(("later_ms", "is_alarm"), [(TWO_MINUTES_MS, False), (TWO_MINUTES_MS + 1, True)])
def test_a_round_is_missed_two_minutes_after_it_was_shown(later_ms: int, is_alarm: bool) -> None:
    made = rounds(2)
    chain = chain_of(made[:1])
    head = chain.head(later_ms)
    assert bool(audit(chain, [made[1].seen(chain.now_ms)], head=head).alarms) == is_alarm


@pytest.mark.parametrize(("later_ms", "is_alarm"), [(TWO_MINUTES_MS, False), (TWO_MINUTES_MS + 1, True)])
def test_an_end_is_missed_two_minutes_after_its_round_was_shown(later_ms: int, is_alarm: bool) -> None:
    (made,) = rounds(1)
    chain = opened(made)
    assert bool(audit(chain, [shown(made, how="finished")], head=chain.head(later_ms)).alarms) == is_alarm


@pytest.mark.parametrize(
    ("later_ms", "ready", "is_alarm"),
    [(FOUR_HOURS_MS, {0, 1}, False), (FOUR_HOURS_MS + 1, {0, 1}, True), (FOUR_HOURS_MS + 1, {0}, False)],
)
def test_a_round_to_which_both_were_bound_ends_within_four_hours(
    later_ms: int, ready: set[int], is_alarm: bool
) -> None:
    (made,) = rounds(1)
    chain = opened(made)
    assert bool(audit(chain, [shown(made, ready=ready)], head=chain.head(later_ms)).alarms) == is_alarm


@pytest.mark.parametrize(("before_ms", "notes"), [(TWO_MINUTES_MS, 0), (TWO_MINUTES_MS + 1, 1)])
def test_a_round_is_older_than_the_chain_two_minutes_before_its_first_entry(before_ms: int, notes: int) -> None:
    made = rounds(2)
    chain = chain_of(made[:1])
    findings = audit(chain, [made[0].seen(START_MS), made[1].seen(START_MS + 1000 - before_ms)])
    found = [note for note in findings.notes if "1 rounds of your receipts are older" in note]
    assert (len(found), len(findings.alarms)) == (notes, 1 - notes)


def test_a_round_in_the_chain_is_compared_however_old_it_is() -> None:
    (made,) = rounds(1)
    findings = audit(chain_of([made]), [made.seen(START_MS - 10 * FOUR_HOURS_MS, endings=["won", "won"])])
    assert (len(findings.alarms), findings.notes) == (1, [])


def test_a_round_of_which_the_chain_has_the_end_alone_is_compared() -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    chain.end(made)
    findings = audit(chain, [made.seen(START_MS - FOUR_HOURS_MS)])
    assert (findings.own_rounds, findings.alarms) == (1, [])


def test_a_round_that_differs_does_not_count_as_one_of_ours_in_the_chain() -> None:
    made = rounds(2)
    seen = [made[0].seen(START_MS), made[1].seen(START_MS, endings=["won", "won"])]
    findings = audit(chain_of(made), seen)
    assert (findings.own_rounds, len(findings.alarms)) == (1, 1)


def test_a_receipt_that_does_not_know_the_rules_contradicts_none() -> None:
    (made,) = rounds(1)
    assert audit(chain_of([made]), [made.seen(START_MS, rules="")]).alarms == []


def test_an_alarm_names_the_round_by_sixteen_digits_and_its_file() -> None:
    made = rounds(2)
    (alarm,) = audit(chain_of(made[:1]), [made[1].seen(START_MS + 2000)]).alarms
    assert alarm.startswith(f"The round {made[1].round_id.hex()[:16]} of receipt.jsonl is not in the chain")


@pytest.mark.parametrize(
    ("seen_ms", "is_excused"),
    [
        (-TWO_MINUTES_MS - 1, False),
        (-TWO_MINUTES_MS, True),
        (10_000 + TWO_MINUTES_MS, True),
        (10_000 + TWO_MINUTES_MS + 1, False),
    ],
)
def test_a_loss_excuses_the_rounds_from_two_minutes_before_to_two_minutes_after_it(
    seen_ms: int, is_excused: bool
) -> None:
    """`seen_ms` counts from the entry before the loss, which comes ten seconds later."""
    made = rounds(2)
    chain = MadeChain(START_MS - FOUR_HOURS_MS)
    chain.play(made[0])
    chain.now_ms = START_MS - 1000
    chain.play(rounds(1, seed=9)[0])
    last_ms = chain.now_ms
    chain.now_ms += 9_000
    chain.add({"type": "lost", "lost_number": 9, "lost_chain": bytes(32).hex()})
    findings = audit(chain, [made[1].seen(last_ms + seen_ms)])
    notes = [note for note in findings.notes if note.endswith("was opened when the server, as it says, lost entries.")]
    assert (len(notes), len(findings.alarms)) == (is_excused, not is_excused)


# Counts, notes and words.


def test_all_entries_are_counted() -> None:
    assert audit(chain_of(rounds(3))).entries == 6


def test_entries_that_joined_the_chain_behind_the_head_are_not_read() -> None:
    chain = chain_of(rounds(3))
    assert audit(chain, head=head_at(chain, 4, chain.now_ms)).entries == 4


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seed": None}, "is proved without a deck"),
        ({"revealed": [True, False]}, "is proved without a deck"),
        ({"how": "broken_off"}, "holds a deck, and is not proved"),
        ({"how": "voided"}, "holds a deck, and is not proved"),
        ({"endings": None}, "cannot end as proved in this way"),
        ({"endings": None, "why": "left"}, "cannot end as proved in this way"),
        ({"why": "left"}, "cannot end as proved in this way"),
        (
            {"how": "broken_off", "why": "left", "revealed": [False, False], "seed": None},
            "cannot end as broken off in this way",
        ),
        ({"how": "voided", "revealed": [False, False], "seed": None}, "cannot end as voided in this way"),
        (
            {"how": "voided", "endings": None, "revealed": [False, True], "seed": None},
            "cannot end as voided in this way",
        ),
    ],
)
def test_an_end_that_no_round_can_have_is_named(changes: dict[str, Any], problem: str) -> None:
    assert audit(ended(rounds(1)[0], **changes)).alarms == [f"Entry 2 {problem}."]


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, ["proved: won"]),
        ({"endings": ["stuck", "stopped"]}, ["proved: stopped", "proved: stuck"]),
        ({"endings": ["round_over", "round_over"]}, ["proved: round_over"]),
        (
            {"how": "voided", "why": "away", "endings": None, "revealed": [False, False], "seed": None},
            ["voided: away"],
        ),
        ({"how": "voided", "endings": None, "revealed": [False, False], "seed": None}, ["voided: no reason"]),
    ],
)
def test_the_reasons_of_an_end_are_counted(changes: dict[str, Any], reasons: Sequence[str]) -> None:
    assert audit(ended(rounds(1)[0], **changes)).reasons == Counter(reasons)


BEFORE_THE_CHAIN = "ends a round that was opened before the chain began."


def test_a_round_of_before_the_chain_is_told() -> None:
    chain = MadeChain()
    chain.end(rounds(1)[0])
    assert audit(chain).notes == [f"Entry 1 {BEFORE_THE_CHAIN}"]


def test_a_round_whose_opening_was_lost_or_dropped_needs_no_note() -> None:
    lost, made = MadeChain(), rounds(126)
    lost.add({"type": "lost", "lost_number": 3, "lost_chain": bytes(32).hex()})
    lost.end(made[0])
    dropped = chain_of(made[:125])
    dropped.end(made[125])
    assert (audit(lost).notes, audit(dropped, pages=dropped.pages()[1:]).notes) == ([], [])


def test_an_opening_that_joined_the_chain_twice_is_told_and_counts_once() -> None:
    (made,) = rounds(1)
    chain = opened(made)
    chain.open(made)
    chain.end(made)
    chain.open(made)
    findings = audit(chain)
    wanted = ["Entry 2 opens a round a second time.", "Entry 4 opens a round a second time."]
    assert (findings.notes, findings.opened, findings.ends) == (wanted, 1, Counter(proved=1))


def test_the_decks_of_tournaments_count_with_those_of_their_variant() -> None:
    chance = random.Random(1)
    made = [MadeRound(chance), MadeRound(chance, "classic-tournament 4 0")]
    assert {name: decks.decks for name, decks in audit(chain_of(made)).decks.items()} == {"classic": 2}


def test_decks_that_are_the_same_again_and_again_are_an_alarm() -> None:
    chain = MadeChain()
    for made in rounds(20):
        chain.open(made)
        chain.end(made, seed=bytes(32).hex())
    (alarm,) = audit(chain).alarms
    result = audit(chain).decks["classic"]
    assert alarm == (
        f"The decks of classic are not uniform: chi-square {result.chi_square:.0f} with {result.freedom} degrees of "
        f"freedom over 20 decks, p = {result.p_value:.1e}."
    )


def test_the_end_of_a_round_that_was_opened_before_counts_for_no_deck() -> None:
    chain = MadeChain()
    chain.end(rounds(1)[0])
    assert audit(chain).decks == {}


def test_as_many_variants_as_the_bound_are_taken() -> None:
    chain, chance = MadeChain(), random.Random(1)
    for number in range(MAX_VARIANTS):
        chain.play(MadeRound(chance, f"made-up-{number} 4 0"))
    chain.play(MadeRound(chance, "made-up-0 4 0"))
    assert audit(chain).opened == MAX_VARIANTS + 1


def test_as_many_losses_as_the_bound_are_taken() -> None:
    chain = MadeChain()
    for _ in range(MAX_LOSSES):
        chain.add({"type": "lost", "lost_number": 1, "lost_chain": bytes(32).hex()})
    assert len(audit(chain).losses) == MAX_LOSSES


def test_daily_deals_are_noted_with_their_number() -> None:
    chance = random.Random(5)
    chain = chain_of([MadeRound(chance, "classic-daily 4 0") for _ in range(2)])
    assert audit(chain).notes == ["Daily deals that were announced: 2."]


def test_daily_deals_that_were_called_off_are_counted() -> None:
    chance = random.Random(5)
    chain = chain_of([MadeRound(chance, "classic-drand-daily 4 0")])
    called_off = MadeRound(chance, "classic-drand-daily 4 0")
    chain.open(called_off)
    chain.end(called_off, how="voided", why="closed", endings=None, revealed=[False, False], seed=None)
    findings = audit(chain)
    assert (findings.alarms, findings.notes) == (
        [],
        ["Daily deals that were announced: 2; called off: 1."],
    )


def test_a_variant_that_is_not_known_does_not_hide_the_others() -> None:
    chance = random.Random(1)
    findings = audit(chain_of([MadeRound(chance, "a-later-one 4 0"), MadeRound(chance)]))
    assert list(findings.decks) == ["classic"]
