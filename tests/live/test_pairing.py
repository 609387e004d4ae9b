"""Which waiting players race one another, and how two of them get into one room."""

from collections import Counter
from random import Random

from fairest_protocol.value import replace
from fairest_server.live.pairing import (
    ANY_SECONDS,
    PARTNER_MS,
    WINDOW,
    WINDOW_PER_SECOND,
    NextStep,
    Position,
    choose_pairs,
    choosing_pairs,
    next_step,
)
from fairest_server.store.tickets import Ticket

NOW_MS = 1_000_000


def ticket(player: str, *, waited_ms: int = 0, rating: float = 0.0, last: str = "", rules: str = "classic") -> Ticket:
    since_ms = NOW_MS - waited_ms
    return Ticket(f"t-{player}", player, "p", rules, since_ms, rating=rating, last_opponent=last)


def pairs_of(*tickets: Ticket) -> list[str]:
    return [f"{first.player_id}-{second.player_id}" for first, second in choose_pairs(tickets, NOW_MS)]


def test_two_that_wait_are_paired_the_older_first() -> None:
    assert pairs_of(ticket("new"), ticket("old", waited_ms=1)) == ["old-new"]


def test_one_alone_waits() -> None:
    assert pairs_of(ticket("ann")) == []


def test_players_of_different_variants_are_not_paired() -> None:
    assert pairs_of(ticket("ann"), ticket("bob", rules="easy")) == []


def test_a_paired_ticket_is_not_paired_again() -> None:
    assert pairs_of(replace(ticket("ann"), partner="eve"), ticket("bob")) == []


def test_the_nearest_rating_is_chosen() -> None:
    far, near = ticket("far", rating=90), ticket("near", rating=-10)
    assert pairs_of(ticket("ann", waited_ms=1), far, near) == ["ann-near"]


def test_a_difference_beyond_the_window_waits() -> None:
    assert pairs_of(ticket("ann"), ticket("bob", rating=WINDOW + 1)) == []


def test_the_window_grows_with_the_time() -> None:
    rating = WINDOW + 2 * WINDOW_PER_SECOND
    assert pairs_of(ticket("ann", waited_ms=2000), ticket("bob", waited_ms=2000, rating=rating)) == ["ann-bob"]


def test_both_must_accept_the_difference() -> None:
    patient = ticket("ann", waited_ms=int(ANY_SECONDS * 1000))
    assert pairs_of(patient, ticket("bob", rating=10_000)) == []


def test_after_a_while_everybody_is_accepted() -> None:
    waited_ms = int(ANY_SECONDS * 1000)
    assert pairs_of(ticket("ann", waited_ms=waited_ms), ticket("bob", waited_ms=waited_ms, rating=1e9)) == ["ann-bob"]


def test_the_same_two_are_not_paired_again_while_another_waits() -> None:
    ann, bob = ticket("ann", waited_ms=2, last="bob"), ticket("bob", waited_ms=1, last="ann")
    assert pairs_of(ann, bob, ticket("cat", rating=50)) == ["ann-cat"]


def test_the_same_two_wait_for_the_next_look_while_others_are_paired() -> None:
    ann, bob = ticket("ann", waited_ms=2, last="bob"), ticket("bob", waited_ms=1, last="ann")
    cat, dan = ticket("cat", waited_ms=4, rating=50), ticket("dan", waited_ms=3, rating=50)
    assert pairs_of(ann, bob, cat, dan) == ["cat-dan"]


def test_the_same_two_are_paired_again_if_nobody_else_waits() -> None:
    assert pairs_of(ticket("ann", waited_ms=1, last="bob"), ticket("bob", last="ann")) == ["ann-bob"]


def paired_at_random(seed: int) -> list[str]:
    """Return the players of all pairs, of two hundred with random ratings."""
    chance = Random(seed)
    names = [f"p{number}" for number in range(200)]
    tickets = [
        ticket(name, waited_ms=chance.randrange(40_000), rating=chance.gauss(0, 400), last=chance.choice(names))
        for name in names
    ]
    return [each.player_id for pair in choose_pairs(tickets, NOW_MS) for each in pair]


def test_nobody_is_paired_twice_or_with_himself() -> None:
    counts = {seed: Counter(paired_at_random(seed)) for seed in range(20)}
    twice = [(seed, name) for seed, count in counts.items() for name, times in count.items() if times > 1]
    assert twice == []


def test_of_an_even_number_that_accept_everybody_none_is_left() -> None:
    waited_ms = int(ANY_SECONDS * 1000)
    tickets = [ticket(f"p{number}", waited_ms=waited_ms, rating=number * 300.0) for number in range(100)]
    assert len(choose_pairs(tickets, NOW_MS)) == 50


def test_a_slice_looks_at_one_ticket() -> None:
    """A thousand players who accept nobody take 10 ms together."""
    tickets = [ticket(f"p{number}", rating=number * 10_000.0) for number in range(100)]
    slices = 0
    for _ in choosing_pairs(tickets, NOW_MS):
        slices += 1
    assert slices >= len(tickets)


HOST = replace(ticket("ann"), partner="bob", paired_ms=NOW_MS, is_host=True)
GUEST = replace(ticket("bob"), partner="ann", paired_ms=NOW_MS)
NAMED = replace(HOST, room="a-b")
LATE_MS = NOW_MS + PARTNER_MS + 1
STEPS: list[tuple[Ticket, Ticket | None, Position, int, NextStep]] = [
    (ticket("ann"), None, Position.OUTSIDE, NOW_MS, NextStep.WAIT),
    (ticket("ann"), None, Position.ALONE, NOW_MS, NextStep.REQUEUE),
    (ticket("ann"), None, Position.TOGETHER, NOW_MS, NextStep.SETTLE),
    (ticket("ann"), None, Position.OPEN, NOW_MS, NextStep.WAIT),
    (HOST, GUEST, Position.OPEN, NOW_MS, NextStep.LEAVE),
    (GUEST, NAMED, Position.OPEN, NOW_MS, NextStep.LEAVE),
    (GUEST, None, Position.OPEN, LATE_MS, NextStep.LEAVE),
    (HOST, GUEST, Position.OUTSIDE, NOW_MS, NextStep.OPEN_ROOM),
    (HOST, GUEST, Position.ON_THE_WAY, NOW_MS, NextStep.WAIT),
    (HOST, GUEST, Position.ON_THE_WAY, LATE_MS, NextStep.WAIT),
    (HOST, GUEST, Position.ALONE, NOW_MS, NextStep.NAME_ROOM),
    (NAMED, GUEST, Position.ALONE, NOW_MS, NextStep.WAIT),
    (NAMED, GUEST, Position.TOGETHER, NOW_MS, NextStep.SETTLE),
    (NAMED, None, Position.TOGETHER, LATE_MS, NextStep.SETTLE),
    (NAMED, GUEST, Position.OUTSIDE, NOW_MS, NextStep.REQUEUE),
    (NAMED, None, Position.ALONE, NOW_MS, NextStep.REQUEUE),
    (NAMED, GUEST, Position.ALONE, LATE_MS, NextStep.REQUEUE),
    (NAMED, replace(GUEST, partner="eve"), Position.ALONE, NOW_MS, NextStep.REQUEUE),
    (HOST, GUEST, Position.OUTSIDE, LATE_MS, NextStep.REQUEUE),
    (GUEST, HOST, Position.OUTSIDE, NOW_MS, NextStep.WAIT),
    (GUEST, NAMED, Position.OUTSIDE, NOW_MS, NextStep.JOIN),
    (GUEST, NAMED, Position.ON_THE_WAY, NOW_MS, NextStep.WAIT),
    (GUEST, NAMED, Position.TOGETHER, NOW_MS, NextStep.SETTLE),
    (GUEST, None, Position.TOGETHER, NOW_MS, NextStep.SETTLE),
    (GUEST, NAMED, Position.ALONE, NOW_MS, NextStep.REQUEUE),
    (GUEST, None, Position.OUTSIDE, NOW_MS, NextStep.REQUEUE),
    (GUEST, HOST, Position.OUTSIDE, LATE_MS, NextStep.REQUEUE),
]
"""Our ticket, that of the partner, where we are, the time, and our next step."""


def test_each_step_of_a_pair() -> None:
    wrong = [
        (step, expected, position, own, partner)
        for own, partner, position, now_ms, expected in STEPS
        if (step := next_step(own, partner, position, now_ms)) is not expected
    ]
    assert wrong == []
