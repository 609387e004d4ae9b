"""An attempt at a daily deal: its clock, its moves, and what its player is shown."""

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.daily import LIMIT_MS
from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import VARIANTS, Rules
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.daily import DailyView
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.daily.attempt import (
    Attempt,
    Gap,
    begin,
    ends_ms,
    paused_ms,
    refusal_of,
    replay,
    show_all,
    show_move,
)
from tests.support.daily import careless_moves, sealed_deal

DAY = "2026-11-24"
CLASSIC = VARIANTS["classic"].rules
STARTED_MS = 1_000_000


def attempt_with(moves: list[str]) -> Attempt:
    timed = tuple(TimedMove(100 * number, MOVES[text]) for number, text in enumerate(moves, 1))
    return Attempt("ab" * 16, "p", "ann", STARTED_MS, timed)


def shown(rules: Rules, sealed: SealedDeal, moves: list[str]) -> bytes:
    """Return everything that the player is sent who has made these moves, as bytes."""
    entries = show_all(rules, sealed, attempt_with(moves), STARTED_MS + LIMIT_MS)
    view = DailyView(
        day=DAY, rules=rules.name, until_ms=0, now_ms=0, moves=len(moves), entries=entries, seal=None, result=None
    )
    return encode(view)


@dataclass(frozen=True, slots=True)
class SharedEnvelopes(SealedDeal):
    """A sealed deal behind the envelopes of another one."""

    shared: tuple[tuple[bytes, ...], ...] = field(default=(), kw_only=True)

    @property
    def envelopes(self) -> tuple[tuple[bytes, ...], ...]:
        return self.shared


def with_other_cards_to_come(sealed: SealedDeal, upto: Turn, seed: int) -> SealedDeal:
    """Return a deal with the same cards up to a turn of the first pass, and those behind it in another order.

    Envelopes and salts are those of `sealed`: hidden cards are in envelopes, which look alike.
    """
    deal = sealed.deal
    first = deal.orders[0]
    ahead = list(first[upto.position + 1 :])
    random.Random(seed).shuffle(ahead)
    orders = ((*first[: upto.position + 1], *ahead), *deal.orders[1:])
    other = replace(deal, orders=orders)
    return SharedEnvelopes(sealed.round_id, other, sealed.seed, [[b""] * len(first)], shared=sealed.envelopes)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_entries_of_an_attempt_fold_into_the_board_of_its_race(variant: str) -> None:
    rules = VARIANTS[variant].rules
    sealed = sealed_deal(rules, DAY)
    moves = careless_moves(begin(rules, sealed))
    scene = _new_scene(rules)
    for entry in show_all(rules, sealed, attempt_with(moves), STARTED_MS + LIMIT_MS):
        scene = scene.after(entry)
    assert scene.seats[0].board == replay(rules, sealed, attempt_with(moves).moves).racers[0].board


def _new_scene(rules: Rules) -> Scene:
    return Scene(options=RoomOptions(rules=rules.name).resolved())


@given(st.integers(0, 40), st.integers(0, 2**32))
def test_two_decks_that_agree_up_to_the_own_turn_look_the_same_in_every_byte(count: int, seed: int) -> None:
    sealed = sealed_deal(CLASSIC, DAY)
    moves = careless_moves(begin(CLASSIC, sealed), count)
    turn = replay(CLASSIC, sealed, attempt_with(moves).moves).racers[0].turn
    other = with_other_cards_to_come(sealed, turn, seed)
    assert shown(CLASSIC, sealed, moves) == shown(CLASSIC, other, moves)


def test_the_entries_of_the_moves_together_are_those_of_the_attempt() -> None:
    sealed = sealed_deal(CLASSIC, DAY)
    race = begin(CLASSIC, sealed)
    moves = careless_moves(race)
    together = list(show_all(CLASSIC, sealed, attempt_with([]), STARTED_MS + LIMIT_MS))
    for text in moves:
        after = race.play(0, MOVES[text])
        together += show_move(race, after, sealed)
        race = after
    assert tuple(together) == show_all(CLASSIC, sealed, attempt_with(moves), STARTED_MS + LIMIT_MS)


@pytest.mark.parametrize(
    ("number", "move", "refusal"),
    [
        (1, "sa", Refusal.NUMBER_OLD),
        (2, "sa", Refusal.NUMBER_REPEATED),
        (4, "sa", Refusal.NUMBER_FUTURE),
        (3, "resign", Refusal.WRONG_PHASE),
        (3, "ab", Refusal.PILE_TO_PILE),
        (3, "redeal", Refusal.NO_REDEAL_LEFT),
        (3, "sa", None),
        (3, "stop", None),
    ],
)
def test_a_move_is_refused_by_its_number_or_by_the_rules(number: int, move: str, refusal: Refusal | None) -> None:
    sealed = sealed_deal(CLASSIC, DAY)
    race = replay(CLASSIC, sealed, attempt_with(["sa", "sb"]).moves)
    assert refusal_of(race, number, MOVES[move]) == refusal


def test_a_move_behind_the_end_is_refused() -> None:
    race = replay(CLASSIC, sealed_deal(CLASSIC, DAY), attempt_with(["stop"]).moves)
    assert refusal_of(race, 2, MOVES["sa"]) is Refusal.RACE_OVER


GAPS = st.lists(
    st.tuples(st.integers(0, 2 * LIMIT_MS), st.integers(1, LIMIT_MS)).map(
        lambda pair: Gap(STARTED_MS + pair[0], STARTED_MS + pair[0] + pair[1])
    ),
    max_size=1,
)


@given(GAPS)
def test_the_time_of_an_attempt_without_the_gaps_is_the_limit(gaps: list[Gap]) -> None:
    until_ms = ends_ms(STARTED_MS, gaps)
    assert until_ms - STARTED_MS - paused_ms(STARTED_MS, until_ms, gaps) == LIMIT_MS


def test_a_gap_before_the_attempt_changes_nothing() -> None:
    assert ends_ms(STARTED_MS, [Gap(STARTED_MS - 9_000, STARTED_MS - 1)]) == STARTED_MS + LIMIT_MS


def test_an_attempt_that_began_within_a_gap_has_the_rest_of_it_more() -> None:
    assert ends_ms(STARTED_MS, [Gap(STARTED_MS - 9_000, STARTED_MS + 500)]) == STARTED_MS + LIMIT_MS + 500


def test_the_clock_stands_still_only_within_the_gap() -> None:
    gaps = [Gap(STARTED_MS + 1_000, STARTED_MS + 5_000)]
    assert paused_ms(STARTED_MS, STARTED_MS + 3_000, gaps) == 2_000
