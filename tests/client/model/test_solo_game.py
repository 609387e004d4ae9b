"""A race of one player alone: honest entries lead to its board, and each kind of lie is named."""

from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.solo_game import SoloGame, after_deal, after_entries, check_start, empty_scene
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.value import replace
from fairest_server.daily.attempt import Attempt, begin, show_all
from tests.support.daily import careless_moves

RULES = VARIANTS["redeal"].rules
ROUND = bytes(range(16))
SEALED = seal_deal(RULES, bytes(32), ROUND)
NEW = SoloGame(RULES, ROUND, empty_scene(RULES), 60_000, 5_000)


def shown(*moves: str) -> list[Entry]:
    """Return the entries of a race with these moves."""
    timed = tuple(TimedMove(number, MOVES[text]) for number, text in enumerate(moves, 1))
    return list(show_all(RULES, SEALED, Attempt("ab" * 16, "p", "ann", 0, timed), 60_000))


MOVED = shown("sa", "sb")
"""The deal, the start, the first card; a move and a card; a move and a card."""


def changed(place: int, **changes: Any) -> list[Entry]:
    return [*MOVED[:place], MOVED[place].model_copy(update=changes), *MOVED[place + 1 :]]


def at_turn(turn: Turn) -> SoloGame:
    """Return the game after its first card was laid, with this turn shown last, and the redeal made that it needs."""
    game = after_entries(NEW, MOVED[:3])
    board = replace(game.board, turned=None, redeals=1 - turn.pass_number)
    seats = (game.own.model_copy(update={"turn": turn, "board": board}), game.scene.seats[1])
    return replace(game, scene=game.scene.model_copy(update={"seats": seats}))


def turned(turn: Turn) -> entries.Turned:
    """Return the entry that shows the card at a place, as an honest server would; a card of none is made up."""
    number = min(turn.pass_number, 1)
    if turn.position >= len(SEALED.deal.orders[number]):
        return entries.Turned(seat=0, turn=turn, card=SEALED.deal.orders[0][0], salt=bytes(32))
    card = SEALED.deal.orders[number][turn.position]
    return entries.Turned(seat=0, turn=turn, card=card, salt=SEALED.salt(*turn))


def test_a_race_is_followed_through_its_redeal() -> None:
    moves = careless_moves(begin(RULES, SEALED), 200)
    race = begin(RULES, SEALED)
    for text in moves:
        race = race.play(0, MOVES[text])
    assert (after_entries(NEW, shown(*moves)).board, "redeal" in moves) == (race.racers[0].board, True)


def test_a_game_knows_the_envelopes_of_its_deal() -> None:
    assert after_entries(NEW, MOVED).envelopes == SEALED.envelopes


@pytest.mark.parametrize(("now_ms", "seconds"), [(5_000, 60.0), (64_500, 0.5), (65_000, 0.0), (90_000, 0.0)])
def test_the_time_that_is_left_counts_by_our_clock_and_is_never_below_zero(now_ms: int, seconds: float) -> None:
    assert NEW.seconds_left(now_ms) == seconds


@pytest.mark.parametrize(
    "lie", [MOVED[:2], [], MOVED[1:], [MOVED[1], MOVED[0], MOVED[2]], [MOVED[0], MOVED[1], MOVED[3]]]
)
def test_a_race_begins_with_its_deal_its_start_and_a_card(lie: list[Entry]) -> None:
    with pytest.raises(Cheated, match=r"^The server does not begin the deal with its cards\.$"):
        check_start(RULES, lie, "the deal")


def test_an_honest_beginning_is_accepted() -> None:
    check_start(RULES, MOVED, "the deal")


@pytest.mark.parametrize("changes", [{"piles": 5}, {"redeals": 2}])
def test_the_piles_and_redeals_are_those_of_the_variant(changes: dict[str, int]) -> None:
    with pytest.raises(Cheated, match=r"^The piles and redeals of the deal are not those of its variant\.$"):
        check_start(RULES, changed(0, **changes), "the deal")


def test_the_layout_is_that_of_the_rules() -> None:
    with pytest.raises(Cheated, match=r"^Starters, steps or markers are not those of the rules\.$"):
        check_start(RULES, changed(0, starters=SEALED.deal.starters[::-1]), "the deal")


@pytest.mark.parametrize("place", [0, 1])
def test_the_cards_are_dealt_once(place: int) -> None:
    with pytest.raises(Cheated, match=r"^The server deals the deal a second time\.$"):
        after_deal(NEW, [MOVED[3], MOVED[place]])


def test_the_entries_of_a_move_change_nothing_before_they_are_read() -> None:
    assert after_deal(NEW, MOVED[3:]) is NEW


def test_an_entry_of_a_later_server_is_passed_over() -> None:
    game = after_entries(NEW, MOVED)
    assert after_entries(game, [entries.UnknownEntry(), entries.Detached(seat=0, until_ms=1)]) is game


NO_MOVE = "The server shows a move of ours that cannot be made: "


LIES: list[tuple[list[Entry], str]] = [
    (changed(3, seat=1), "The server shows the seat of another player in the deal."),
    (changed(4, seat=1), "The server shows the seat of another player in the deal."),
    (changed(3, number=2), "The server shows our move 2 behind move 0."),
    (changed(5, number=1), "The server shows our move 1 behind move 1."),
    (changed(3, card="AD"), NO_MOVE + "sa."),
    (changed(3, move=MOVES["b1"]), NO_MOVE + "b1."),
    (changed(3, move=MOVES["resign"], card=None), NO_MOVE + "resign."),
    (changed(3, move=MOVES["stop"]), NO_MOVE + "stop."),
    (changed(4, turn=Turn(0, 0)), "The card at position 1 was turned out of its order."),
    (changed(4, turn=Turn(0, 2)), "The card at position 3 was turned, and not the one before it."),
    (changed(2, turn=Turn(0, 1)), "The card at position 2 was turned, and not the one before it."),
    (changed(4, salt=bytes(32)), "The card at position 2 does not belong to its envelope."),
    (changed(4, card=SEALED.deal.orders[0][9]), "The card at position 2 does not belong to its envelope."),
]
"""Entries, and the alarm that they raise."""


def alarm_of(lie: list[Entry]) -> str:
    """Return the sentence of the alarm that these entries raise, empty if they raise none."""
    try:
        after_entries(NEW, lie)
    except Cheated as alarm:
        return str(alarm)
    return ""


def test_a_lie_about_a_move_or_a_card_is_named() -> None:
    assert [alarm_of(lie) for lie, _ in LIES] == [sentence for _, sentence in LIES]


@pytest.mark.parametrize(
    ("before", "turn", "sentence"),
    [
        (Turn(0, 47), Turn(0, 48), "There is no card at position 49."),
        (Turn(1, 3), Turn(1, 48), "There is no card at position 49 of redeal 1."),
        (Turn(1, 3), Turn(1, 3), "The card at position 4 of redeal 1 was turned out of its order."),
        (Turn(1, 3), Turn(1, 2), "The card at position 3 of redeal 1 was turned out of its order."),
    ],
)
def test_a_card_that_cannot_come_next_is_named(before: Turn, turn: Turn, sentence: str) -> None:
    with pytest.raises(Cheated) as alarm:
        after_entries(at_turn(before), [turned(turn)])
    assert str(alarm.value) == sentence


def test_a_card_that_is_turned_beside_another_one_is_named() -> None:
    with pytest.raises(Cheated, match=r"^The card at position 2 was turned while there is none to turn\.$"):
        after_entries(NEW, [*MOVED[:3], MOVED[4]])


@pytest.mark.parametrize("turn", [Turn(1, 4), Turn(1, 7)])
def test_cards_may_be_skipped_in_a_redeal_which_has_those_of_the_piles_only(turn: Turn) -> None:
    assert after_entries(at_turn(Turn(1, 3)), [turned(turn)]).own.turn == turn


def test_a_card_of_a_redeal_does_not_come_before_the_redeal() -> None:
    game = after_entries(NEW, MOVED[:4])
    with pytest.raises(Cheated, match=r"^The card at position 1 of redeal 1 was turned out of its order\.$"):
        after_entries(game, [turned(Turn(1, 0))])


@pytest.mark.parametrize("place", [0, 1])
def test_a_race_does_not_begin_with_two_deals(place: int) -> None:
    with pytest.raises(Cheated, match=r"^The server deals the deal a second time\.$"):
        check_start(RULES, [*MOVED[:3], MOVED[place]], "the deal")
