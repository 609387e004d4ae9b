"""The audit of a chain of rounds against servers that lie: in its entries, its hashes, or by leaving rounds out."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from fairest_cli.records.chain_audit import MAX_LOSSES, MAX_VARIANTS, BrokenChain, ChainReader, compare_known
from fairest_cli.records.findings import MAX_NOTES, Findings
from fairest_cli.records.receipt_rounds import SeenRound
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsHead, RoundsPage
from tests.support.lying_chain import KEY, START_MS, MadeChain, MadeRound


def rounds(count: int, seed: int = 1) -> list[MadeRound]:
    chance = random.Random(seed)
    return [MadeRound(chance) for _ in range(count)]


def chain_of(made: Sequence[MadeRound]) -> MadeChain:
    chain = MadeChain()
    for each in made:
        chain.play(each)
    return chain


def audit(
    chain: MadeChain,
    seen: Sequence[SeenRound] = (),
    heads: Sequence[RoundsHead] = (),
    pages: Sequence[RoundsPage] | None = None,
    head: RoundsHead | None = None,
    age_ms: int = 0,
) -> Findings:
    head = head or chain.head(600_000)
    reader = ChainReader(head, frozenset(each.commitment for each in seen), heads)
    for page in chain.pages() if pages is None else pages:
        reader.add_page(page, PAGE_LINES)
    findings = reader.finish()
    compare_known(reader, head, heads, seen, head.at_ms + age_ms)
    return findings


def test_a_right_chain_raises_no_alarm() -> None:
    made = rounds(300)
    chain = chain_of(made)
    heads = [chain.head()]
    findings = audit(chain, [each.seen(START_MS) for each in made[:5]], heads)
    assert (findings.alarms, findings.ends["proved"], findings.proved_share) == ([], 300, 1.0)
    assert (findings.own_rounds, findings.own_heads, findings.decks["classic"].decks) == (5, 1, 300)


def test_a_chain_without_entries_is_right() -> None:
    findings = audit(MadeChain())
    assert (findings.entries, findings.alarms, findings.proved_share) == (0, [], 1.0)


@pytest.mark.parametrize("place", [0, 249, 250, 599])
def test_an_altered_entry_breaks_the_chain(place: int) -> None:
    chain = chain_of(rounds(300))
    line = chain.lines[place]
    chain.lines[place] = line.replace('"at_ms": 1', '"at_ms": 2')
    with pytest.raises(BrokenChain):
        audit(chain)


def test_an_entry_that_is_left_out_breaks_the_chain() -> None:
    chain = chain_of(rounds(3))
    del chain.lines[2]
    with pytest.raises(BrokenChain):
        audit(chain, head=signed_head(6, chain))


def test_entries_that_change_places_break_the_chain() -> None:
    chain = chain_of(rounds(3))
    chain.lines[0], chain.lines[2] = chain.lines[2], chain.lines[0]
    with pytest.raises(BrokenChain):
        audit(chain)


def test_a_number_that_is_given_twice_breaks_the_chain() -> None:
    chain = chain_of(rounds(1))
    chain.add_line(chain.lines[-1])
    with pytest.raises(BrokenChain, match="says that it is entry 2"):
        audit(chain)


def test_a_page_that_does_not_follow_breaks_the_chain() -> None:
    one, other = chain_of(rounds(150)), chain_of(rounds(150, seed=2))
    with pytest.raises(BrokenChain, match="does not follow"):
        audit(one, pages=[other.page(0), one.page(1)])


def test_a_line_that_is_no_entry_breaks_the_chain() -> None:
    chain = MadeChain()
    chain.add_line('{"number":1,"at_ms":1,"type":"opened"}')
    with pytest.raises(BrokenChain, match="not an entry"):
        audit(chain)


def test_a_first_entry_that_follows_another_one_is_not_the_first() -> None:
    chain = chain_of(rounds(1))
    page = chain.page(0).model_copy(update={"before": bytes([1]) * 32})
    with pytest.raises(BrokenChain, match="follows another one"):
        audit(chain, pages=[page])


def test_a_round_of_a_receipt_that_is_not_in_the_chain_is_an_alarm() -> None:
    made = rounds(5)
    findings = audit(chain_of(made[:4]), [made[4].seen(START_MS + 2000)])
    assert len(findings.alarms) == 1
    assert "is not in the chain, although the server has committed itself to it" in findings.alarms[0]


def test_rounds_from_before_a_server_had_a_chain_are_not_missed() -> None:
    (made,) = rounds(1)
    findings = audit(MadeChain(), [made.seen(START_MS - 3_600_000)])
    assert (findings.alarms, len(findings.notes)) == ([], 1)


def test_a_chain_that_stays_empty_after_its_first_head_misses_rounds() -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    assert audit(chain, [made.seen(START_MS + 1000)], heads=[chain.head()]).alarms


def test_a_round_of_a_receipt_that_is_younger_than_the_promise_is_not_missed_yet() -> None:
    made = rounds(2)
    chain = chain_of(made[:1])
    assert audit(chain, [made[1].seen(chain.now_ms)], head=chain.head(30_000)).alarms == []


def test_a_round_of_a_receipt_that_has_ended_without_an_end_in_the_chain_is_an_alarm() -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    chain.open(made)
    (alarm,) = audit(chain, [made.seen(START_MS)]).alarms
    assert "has ended, and has no end in the chain" in alarm


LIES: list[tuple[dict[str, Any], str]] = [
    ({"seed": "00" * 32}, "has another deck there"),
    ({"endings": ["round_over", "won"]}, "ended as won and round_over, and there as round_over and won"),
    (
        {"how": "broken_off", "endings": ["not_revealed", "round_over"], "revealed": [False, True], "seed": None},
        "lacks there the bytes that were shown for seat 1",
    ),
    (
        {"how": "voided", "why": "left", "endings": None, "revealed": [False, False], "seed": None},
        "is called off there, although both players were bound to it",
    ),
]


@pytest.mark.parametrize(("changes", "wanted"), LIES)
def test_a_round_that_ended_otherwise_than_its_player_was_shown_is_an_alarm(
    changes: dict[str, Any], wanted: str
) -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    chain.open(made)
    chain.end(made, **changes)
    assert any(wanted in alarm for alarm in audit(chain, [made.seen(START_MS)]).alarms)


def test_a_round_that_was_opened_for_other_rules_is_an_alarm() -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    chain.add({"type": "opened", "commitment": made.commitment, "rules": "easy 5 0"})
    chain.end(made)
    (alarm,) = audit(chain, [made.seen(START_MS)]).alarms
    assert "was opened for classic 4 0, and is in the chain for easy 5 0" in alarm


IMPOSSIBLE: list[dict[str, Any]] = [
    {"seed": None},
    {"revealed": [True, False]},
    {"how": "broken_off"},
    {"how": "voided"},
    {"endings": None},
    {"why": "left"},
]


@pytest.mark.parametrize("changes", IMPOSSIBLE)
def test_an_end_that_no_round_can_have_is_an_alarm(changes: dict[str, Any]) -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    chain.open(made)
    chain.end(made, **changes)
    assert audit(chain).alarms


def test_a_round_that_ends_in_two_ways_is_an_alarm() -> None:
    (made,) = rounds(1)
    chain = chain_of([made])
    chain.break_off(made)
    (alarm,) = audit(chain).alarms
    assert "ends a round in another way" in alarm


def test_an_end_that_joined_the_chain_twice_counts_once() -> None:
    (made,) = rounds(1)
    chain = chain_of([made])
    chain.end(made)
    findings = audit(chain)
    assert (findings.alarms, findings.ends["proved"]) == ([], 1)


def test_a_round_without_an_end_for_four_hours_never_ended() -> None:
    one, other = rounds(2)
    chain = MadeChain()
    chain.open(one)
    chain.now_ms += 4 * 3_600_000
    chain.open(other)
    findings = audit(chain)
    assert (findings.ends["never_ended"], findings.ends["open"], findings.proved_share) == (1, 1, 0.0)


@pytest.mark.parametrize(("later_ms", "end"), [(0, "open"), (1, "never_ended")])
def test_a_round_may_take_four_hours_to_the_millisecond(later_ms: int, end: str) -> None:
    (made,) = rounds(1)
    chain = MadeChain()
    chain.open(made)
    assert audit(chain, head=chain.head(4 * 3_600_000 + later_ms)).ends[end] == 1


def test_a_head_of_another_chain_is_an_alarm() -> None:
    """A server that shows one chain to a player and another one to the public."""
    made = rounds(4)
    shown = chain_of([*made[:2], made[3]]).head()
    (alarm,) = audit(chain_of(made[:3]), heads=[shown]).alarms
    assert f"Entry 6, whose signed hash {shown.chain.hex()[:16]} you were shown, is not in the chain." in alarm


def test_a_head_behind_the_end_of_the_chain_is_an_alarm() -> None:
    """The chain has gone back."""
    chain = chain_of(rounds(4))
    shown = chain.head()
    chain.cut(4)
    (alarm,) = audit(chain, heads=[shown]).alarms
    assert "is behind its end, entry 4" in alarm


def test_a_head_that_was_read_a_moment_later_by_another_process_is_not_an_alarm() -> None:
    made = rounds(3)
    chain = chain_of(made[:2])
    head = chain.head()
    chain.play(made[2])
    later = chain.head()
    chain.cut(4)
    assert audit(chain, heads=[later], head=head).alarms == []


def test_a_head_of_an_hour_ago_is_an_alarm() -> None:
    """Otherwise a server that shows the same head for ever would never miss a round."""
    (alarm,) = audit(chain_of(rounds(1)), age_ms=3_600_000).alarms
    assert "The head of the chain is 60 minutes old" in alarm


def test_a_loss_that_the_server_has_declared_is_told_and_not_an_alarm() -> None:
    made = rounds(4)
    chain = chain_of(made[:3])
    shown = chain.head()
    chain.cut(4)
    chain.add({"type": "lost", "lost_number": 6, "lost_chain": shown.chain.hex()})
    chain.play(made[3])
    findings = audit(chain, [made[2].seen(START_MS + 4000)], heads=[shown])
    assert (findings.alarms, len(findings.losses)) == ([], 1)
    assert any("as it says, lost entries" in note for note in findings.notes)


def test_a_loss_does_not_excuse_heads_from_before_it_or_behind_it() -> None:
    made = rounds(4)
    chain = chain_of(made[:3])
    old, late = chain_of(rounds(1, seed=9)).head(), chain_of(rounds(5, seed=9)).head()
    chain.cut(4)
    chain.add({"type": "lost", "lost_number": 6, "lost_chain": "00" * 32})
    chain.play(made[3])
    assert len(audit(chain, heads=[old, late]).alarms) == 2


def test_a_chain_whose_beginning_was_dropped_is_read_from_its_first_page() -> None:
    made = rounds(300)
    chain = chain_of(made)
    old, middle = chain_of(made[:10]).head(), chain_of(made[:200]).head()
    findings = audit(chain, [made[0].seen(START_MS - 10_000)], heads=[old, middle], pages=chain.pages()[1:])
    assert findings.alarms == []
    assert (findings.first, findings.own_heads) == (251, 1)
    assert any("1 heads that you were shown are older" in note for note in findings.notes)


def test_a_variant_that_this_client_does_not_know_is_told() -> None:
    (made,) = rounds(1)
    made.rules = "future 4 0"
    findings = audit(chain_of([made]))
    assert findings.alarms == []
    assert any("does not know the rules future" in note for note in findings.notes)


# What a server that does not like three of five decks can do, and what shows it.


def discarded(made: Sequence[MadeRound]) -> list[MadeRound]:
    return [each for number, each in enumerate(made) if number % 5 >= 2]


def chain_with_discarded(made: Sequence[MadeRound]) -> MadeChain:
    """The chain of a server that breaks off the rounds that it discards."""
    chain = MadeChain()
    for each in made:
        chain.open(each)
        if each in discarded(made):
            chain.break_off(each)
        else:
            chain.end(each)
    return chain


def test_a_server_that_ends_three_of_five_rounds_as_not_revealed_is_seen_in_the_proved_share() -> None:
    made = rounds(100)
    findings = audit(chain_with_discarded(made))
    assert findings.proved_share == pytest.approx(0.4)
    assert findings.reasons["broken_off: not_revealed"] == 60


def test_the_receipts_of_its_players_say_that_they_have_revealed() -> None:
    made = rounds(5)
    chain = chain_with_discarded(made)
    endings = ["not_revealed", "not_revealed"]
    seen = [each.seen(START_MS, endings=endings) for each in discarded(made)]
    assert len(audit(chain, seen).alarms) == 6


def test_a_server_that_leaves_them_out_is_found_out_by_any_player_of_one() -> None:
    made = rounds(100)
    dropped = discarded(made)
    chain = chain_of([each for each in made if each not in dropped])
    assert audit(chain).alarms == []
    assert audit(chain, [dropped[0].seen(START_MS + 5000, how="", secret=None, endings=None)]).alarms


def test_a_server_that_never_ends_them_is_seen_by_everybody() -> None:
    made, chain = rounds(100), MadeChain()
    for each in made:
        chain.open(each)
        if each not in discarded(made):
            chain.end(each)
    chain.now_ms += 5 * 3_600_000
    chain.play(rounds(1, seed=8)[0])
    findings = audit(chain)
    assert findings.ends["never_ended"] == 60
    assert findings.proved_share < 0.41


def signed_head(number: int, chain: MadeChain) -> RoundsHead:
    """Return the head of the chain as it was before an entry was taken out."""
    return KEY.sign_head(number, chain.chains[number], chain.now_ms)


def test_certified_decks_are_counted_and_not_tested_to_be_uniform() -> None:
    chance = random.Random(1)
    findings = audit(chain_of([MadeRound(chance, "classic-certified 4 0") for _ in range(3)]))
    assert (findings.alarms, findings.decks, findings.certified, findings.ends["proved"]) == ([], {}, 3, 3)
    assert findings.notes == ["Certified decks, which are not tested to be uniform: 3."]


def test_daily_deals_are_no_rounds_and_may_last_for_days() -> None:
    chance = random.Random(5)
    chain = chain_of([MadeRound(chance, "classic-daily 4 0")])
    still_open = MadeRound(chance, "senior-daily 4 0")
    chain.add({"type": "opened", "commitment": still_open.commitment, "rules": still_open.rules})
    chain.now_ms += 3 * 86_400_000
    findings = audit(chain)
    assert (findings.alarms, findings.opened, findings.dailies, sum(findings.ends.values())) == ([], 0, 2, 0)


def test_a_certified_round_has_in_the_chain_the_seed_of_the_step_that_its_player_was_shown() -> None:
    made = MadeRound(random.Random(1), "classic-certified 4 0")
    chain = MadeChain()
    chain.open(made)
    chain.end(made, seed=make_step_seed(made.seed, 1).hex())
    assert audit(chain, [made.seen(START_MS, step=1)]).alarms == []
    [alarm] = audit(chain, [made.seen(START_MS, step=0)]).alarms
    assert alarm.endswith("has another deck there.")


def test_a_head_of_the_future_is_an_alarm() -> None:
    assert "Entry 20 was signed 60 minutes in the future" in audit(chain_of(rounds(10)), age_ms=-3_600_000).alarms[0]


def test_a_chain_that_went_back_behind_a_head_of_the_future_is_an_alarm() -> None:
    chain = chain_of(rounds(10))
    ahead = KEY.sign_head(20, chain.chains[20], START_MS + 10**12)
    chain.cut(18)
    assert "Entry 20 was signed" in audit(chain, heads=[ahead]).alarms[0]


def test_a_server_that_loses_entries_without_end_is_wrong() -> None:
    chain = MadeChain()
    for _ in range(MAX_LOSSES + 1):
        chain.add({"type": "lost", "lost_number": 1, "lost_chain": bytes(32).hex()})
    with pytest.raises(BrokenChain, match="says more than 1000 times that it has lost entries"):
        audit(chain)


def test_notes_are_bounded() -> None:
    chain, (made,) = MadeChain(), rounds(1)
    for _ in range(MAX_NOTES + 10):
        chain.open(made)
    assert len(audit(chain).notes) == MAX_NOTES


def test_variants_are_bounded() -> None:
    chain, chance = MadeChain(), random.Random(1)
    for number in range(MAX_VARIANTS + 1):
        chain.play(MadeRound(chance, f"made-up-{number} 4 0"))
    with pytest.raises(BrokenChain, match="more than 100 variants"):
        audit(chain)
