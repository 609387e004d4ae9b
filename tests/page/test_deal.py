"""The page deals, seals and names what the protocol package does."""

import random
from typing import Any

from pydantic_core import to_jsonable_python

from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import make_check_words, root_envelopes
from fairest_protocol.messages.options import RoomOptions
from tests.support.page_modules import ask_page
from tests.support.random_boards import random_rules

DEALS = 40
ROUND = bytes(range(16))


def deals() -> list[tuple[Rules, bytes]]:
    chance = random.Random(3)
    return [(random_rules(chance), chance.randbytes(32)) for _ in range(DEALS)]


def question(rules: Rules, seed: bytes) -> dict[str, Any]:
    return {"ask": "deal", "rules": rules.name, "redeals": rules.redeals, "seed": seed.hex(), "round": ROUND.hex()}


def test_a_deal_has_the_same_cards_in_the_same_order() -> None:
    for (rules, seed), made in zip(deals(), ask_page(question(*each) for each in deals()), strict=True):
        deal = seal_deal(rules, seed, ROUND).deal
        starters = [str(card) for card in deal.starters] or made["starters"]
        assert made["orders"] == to_jsonable_python(deal.orders)
        assert (made["starters"], made["markers"]) == (starters, to_jsonable_python(deal.markers))
        assert made["layout"] == to_jsonable_python(deal.foundations)


def test_a_deal_has_the_same_envelopes() -> None:
    for (rules, seed), made in zip(deals(), ask_page(question(*each) for each in deals()), strict=True):
        assert made["envelopes"] == [[each.hex() for each in row] for row in seal_deal(rules, seed, ROUND).envelopes]


def test_the_check_words_are_the_same() -> None:
    chance, terms = random.Random(4), "rules=classic"
    commitment, entropies = chance.randbytes(32), [chance.randbytes(32), chance.randbytes(32)]
    envelopes = seal_deal(*deals()[0], ROUND).envelopes
    asked = {
        "round": ROUND.hex(),
        "commitment": commitment.hex(),
        "entropies": [each.hex() for each in entropies],
        "envelopes": [[each.hex() for each in row] for row in envelopes],
        "terms": terms,
    }
    words = make_check_words(ROUND, commitment, entropies, root_envelopes(envelopes), terms)
    assert ask_page([{"ask": "words", **asked}]) == [list(words)]


def test_the_options_of_a_scene_make_the_terms_that_are_signed() -> None:
    options = RoomOptions(rules="redeal", best_of=5, listed=True).resolved()
    assert ask_page([{"ask": "terms", "options": options.model_dump(mode="json")}]) == [options.terms()]
