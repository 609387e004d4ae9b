"""A deal is compared with the rules when it is dealt, and card by card once the secret is known."""

from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.deal_check import check_deal, check_layout, first_wrong_envelope
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages import entries

RULES = VARIANTS["redeal"].rules
SEALED = seal_deal(RULES, bytes(32), bytes(16))
DEAL = SEALED.deal
ENVELOPES = SEALED.envelopes
WRONG_COUNT = r"^The server showed more or fewer envelopes than its deal has\.$"
PASSES = ((b"a", b"b", b"c"), (b"d", b"e", b"f"))


def dealt(**changes: Any) -> entries.Dealt:
    fields: dict[str, Any] = {
        "layout": DEAL.foundations,
        "starters": DEAL.starters,
        "markers": DEAL.markers,
        "piles": RULES.piles,
        "redeals": RULES.redeals,
        "envelopes": ENVELOPES,
        "until_ms": 0,
    }
    return entries.Dealt(**fields | changes)


def check(**changes: Any) -> None:
    fields: dict[str, Any] = {
        "envelopes": ENVELOPES,
        "opened_cards": {(0, 3): DEAL.orders[0][3], (1, 4): DEAL.orders[1][4]},
        "laid_out": (*DEAL.starters, *DEAL.markers),
        "layout": DEAL.foundations,
    }
    check_deal(SEALED, **fields | changes)


@pytest.mark.parametrize("envelopes", [ENVELOPES[:1], (*ENVELOPES, ENVELOPES[0]), (ENVELOPES[0], ENVELOPES[1][1:])])
def test_the_rules_say_how_many_envelopes_a_deal_has(envelopes: tuple[tuple[bytes, ...], ...]) -> None:
    with pytest.raises(Cheated, match=WRONG_COUNT):
        check_layout(RULES, dealt(envelopes=envelopes))


def test_the_layout_of_the_rules_is_accepted() -> None:
    check_layout(RULES, dealt())


@pytest.mark.parametrize(("number", "position"), [(0, 0), (0, 2), (1, 0), (1, 1)])
def test_the_first_wrong_envelope_is_named_by_pass_and_position(number: int, position: int) -> None:
    shown = [list(each) for each in PASSES]
    shown[number][position] = b"x"
    assert first_wrong_envelope(shown, PASSES) == Turn(number, position)


@pytest.mark.parametrize("shown", [PASSES, PASSES[:1], (PASSES[0][:1], PASSES[1])])
def test_envelopes_that_only_one_of_two_deals_has_are_not_compared(shown: tuple[tuple[bytes, ...], ...]) -> None:
    assert first_wrong_envelope(shown, PASSES) is None


def test_the_deal_of_the_secret_is_accepted() -> None:
    check()


def test_a_deal_of_which_the_layout_was_not_shown_is_accepted() -> None:
    check(laid_out=None, layout=None)


def test_an_envelope_of_another_deal_is_named() -> None:
    envelopes = (ENVELOPES[0], (*ENVELOPES[1][:6], bytes(32), *ENVELOPES[1][7:]))
    with pytest.raises(Cheated, match=r"^The envelope at position 7 of redeal 1 holds another deal's card\.$"):
        check(envelopes=envelopes)


def test_an_envelope_too_few_is_noticed() -> None:
    with pytest.raises(Cheated, match=WRONG_COUNT):
        check(envelopes=(ENVELOPES[0], ENVELOPES[1][:-1]))


def test_a_turned_card_that_the_deal_does_not_have_there_is_named() -> None:
    sentence = rf"^The card at position 5 of redeal 1 was {DEAL.orders[1][5]}; the deal has another one there\.$"
    with pytest.raises(Cheated, match=sentence):
        check(opened_cards={(0, 3): DEAL.orders[0][3], (1, 4): DEAL.orders[1][5]})


def test_starters_of_another_deal_are_noticed() -> None:
    with pytest.raises(Cheated, match=r"^Starters or markers are not those of the deal\.$"):
        check(laid_out=DEAL.starters[::-1])


def test_foundations_of_another_deal_are_noticed() -> None:
    with pytest.raises(Cheated, match=r"^The foundations are not those of the deal\.$"):
        check(layout=DEAL.foundations[::-1])
