"""The deal is a pure function of a seed, fair, and the same for both players."""

import hashlib
import hmac
from collections import Counter
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.cards import full_deck, rank
from fairest_protocol.calculation.deal import make_deal, seal_deal, sealed_pass
from fairest_protocol.calculation.rules import VARIANTS, Redeal, choose_rules
from fairest_protocol.calculation.seal import (
    commit_secret,
    draw_below,
    make_envelope,
    make_salt,
    make_seed,
    random_bytes,
)
from fairest_protocol.value import replace

seeds = st.binary(min_size=32, max_size=32)
variants = st.sampled_from(sorted(VARIANTS))


@given(seeds, variants)
def test_a_deal_uses_every_card_of_its_decks_once(seed: bytes, name: str) -> None:
    rules = choose_rules(name)
    deal = make_deal(rules, seed)
    assert Counter([*deal.starters, *deal.markers, *deal.orders[0]]) == Counter(full_deck(rules.decks))


@given(seeds, variants)
def test_every_pass_holds_exactly_the_cards_of_the_stock(seed: bytes, name: str) -> None:
    deal = make_deal(choose_rules(name), seed)
    assert all(sorted(order) == sorted(deal.orders[0]) for order in deal.orders)


@given(seeds, variants)
def test_starters_begin_their_foundations(seed: bytes, name: str) -> None:
    deal = make_deal(choose_rules(name), seed)
    assert [rank(card) for card in deal.starters] == [foundation.start for foundation in deal.foundations]


@given(seeds)
def test_no_two_foundations_of_broken_intervals_need_the_same_cards(seed: bytes) -> None:
    foundations = make_deal(choose_rules("broken"), seed).foundations
    assert len(set(foundations)) == 4


@given(seeds)
def test_a_waste_turned_over_comes_back_in_the_order_of_the_deal(seed: bytes) -> None:
    deal = make_deal(choose_rules("betsy-ross"), seed)
    assert deal.orders == (deal.orders[0],) * 3


def test_every_rank_is_equally_likely_everywhere_in_the_stock() -> None:
    """Chi-square over quarter of the stock and rank, 4,000 deals; 36 degrees of freedom, p = 0.0001 at 77.4."""
    found: Counter[tuple[int, int]] = Counter()
    deals = 4000
    for number in range(deals):
        for place, card in enumerate(make_deal(choose_rules("classic"), number.to_bytes(32, "big")).orders[0]):
            found[place // 12, rank(card)] += 1
    expected = {number: deals * (3 if number <= 4 else 4) / 4 for number in range(1, 14)}
    chi_square = sum((seen - expected[number]) ** 2 / expected[number] for (_, number), seen in found.items())
    assert chi_square < 77.4


def test_numbers_are_drawn_without_modulo_bias() -> None:
    stream = iter([255, 250, 249, 3])
    assert draw_below(50, stream) == 49


def test_a_random_stream_does_not_depend_on_how_far_it_is_read() -> None:
    whole = hashlib.shake_256(b"\x00\x00\x00\x0efairest.v1.one\x00\x00\x00\x04seed").digest(1000)
    stream = random_bytes("one", b"seed")
    assert bytes(byte for byte, _ in zip(stream, range(1000), strict=False)) == whole


def test_commitments_seeds_and_salts_follow_the_written_layout() -> None:
    def encode(*parts: bytes) -> bytes:
        return b"".join(len(part).to_bytes(4, "big") + part for part in parts)

    secret, first, second, round_id = (bytes([fill]) * size for fill, size in ((1, 32), (2, 32), (3, 32), (4, 16)))
    assert commit_secret(round_id, secret) == hashlib.sha256(encode(b"fairest.v1.secret", round_id, secret)).digest()
    seed = hashlib.sha256(encode(b"fairest.v1.seed", secret, first, second, round_id)).digest()
    assert make_seed(secret, (first, second), round_id) == seed
    salt = hmac.new(seed, encode(b"fairest.v1.salt", b"\x01", b"\x00\x07"), "sha256").digest()
    assert make_salt(seed, 1, 7) == salt


def test_a_second_derivation_written_from_the_docs_gives_the_same_stock() -> None:
    seed = bytes(range(32))
    length = len(seed).to_bytes(4, "big")
    source = hashlib.shake_256(b"\x00\x00\x00\x12fairest.v1.shuffle" + length + seed).digest(10_000)
    places = count()
    deck = [letter + suit for suit in "CDHS" for letter in "A23456789TJQK"]
    for last in range(51, 0, -1):
        while (byte := source[next(places)]) >= 256 - 256 % (last + 1):
            continue
        other = byte % (last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    stock = tuple(card for card in deck if card not in ("AC", "2C", "3C", "4C"))
    assert make_deal(choose_rules("classic"), seed).orders[0] == stock


def test_a_salt_that_is_computed_leaves_a_deal_equal_to_what_it_was() -> None:
    before, after = (seal_deal(choose_rules("classic"), bytes(32), bytes(16)) for _ in range(2))
    after.salt(0, 7)
    assert after == before


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_an_envelope_is_the_hash_of_its_card_and_its_salt(name: str) -> None:
    sealed = seal_deal(choose_rules(name), bytes(32), bytes(16))
    for number, envelopes in enumerate(sealed.envelopes):
        for place, card in enumerate(sealed.deal.orders[number]):
            assert envelopes[place] == make_envelope(bytes(16), number, place, card, sealed.salt(number, place))


def test_envelopes_that_were_asked_for_leave_a_deal_equal_to_what_it_was() -> None:
    before, after = (seal_deal(choose_rules("classic"), bytes(32), bytes(16)) for _ in range(2))
    assert after.envelopes
    assert after == before


def test_envelopes_are_the_same_each_time() -> None:
    sealed = seal_deal(choose_rules("classic"), bytes(32), bytes(16))
    assert sealed.envelopes == sealed.envelopes


def test_envelopes_follow_the_cards_of_a_deal_that_takes_the_place_of_another() -> None:
    sealed = seal_deal(choose_rules("classic"), bytes(32), bytes(16))
    assert sealed.envelopes
    changed = replace(sealed, deal=make_deal(choose_rules("classic"), bytes([1] * 32)))
    first = changed.deal.orders[0][0]
    assert changed.envelopes[0][0] == make_envelope(bytes(16), 0, 0, first, changed.salt(0, 0))


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_envelopes_seal_every_position_of_each_shuffled_pass(name: str) -> None:
    rules, seed = choose_rules(name), bytes(32)
    sealed = seal_deal(rules, seed, bytes(16))
    passes = len(sealed.deal.orders) if rules.redeal is Redeal.RESHUFFLED else 1
    assert [len(each) for each in sealed.envelopes] == [rules.stock] * passes


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_a_salt_follows_from_its_place_in_whichever_order_salts_are_asked_for(name: str) -> None:
    sealed = seal_deal(choose_rules(name), bytes(32), bytes(16))
    last = len(sealed.deal.orders[0]) - 1
    places = (0, last, 7, 0, 8, last)
    assert [sealed.salt(0, place) for place in places] == [make_salt(bytes(32), 0, place) for place in places]


def test_the_salts_of_a_deal_are_not_in_the_text_that_a_log_would_have_of_it() -> None:
    sealed = seal_deal(choose_rules("classic"), bytes(32), bytes(16))
    sealed.salt(0, 7)
    assert "salts" not in repr(sealed)


@pytest.mark.parametrize(("pass_number", "wanted"), [(0, 0), (1, 1), (2, 0)])
def test_a_pass_without_envelopes_of_its_own_has_those_of_the_first(pass_number: int, wanted: int) -> None:
    assert sealed_pass(pass_number, [(), ()]) == wanted
