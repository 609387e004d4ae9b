"""The fairness of the shuffle: chi-square of the rank at each position over 200,000 deals, and independence.

A deal depends on the server's secret and on each player's entropy. Each of them is varied alone, with the two others
held fixed, as if a player tried to choose a deck by choosing bytes. The stock must be uniform each time, and the
stock after one flipped bit must not resemble the one before.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from multiprocessing import Pool

from benchmarks.figure import Figure
from fairest_protocol.calculation.cards import Card, rank
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.calculation.seal import make_seed

DEALS = 200_000
DEALS_EACH = 100_000
CHUNK = 5_000
PROCESSES = 2
RULES = choose_rules("classic")
RANKS = Counter(rank(card) for card in make_deal(RULES, bytes(32)).orders[0])
FREEDOM = (RULES.stock - 1) * (len(RANKS) - 1)
"""Degrees of freedom: rows and columns of the table have fixed sums."""
LIMIT = (FREEDOM + 3.72 * (2 * FREEDOM) ** 0.5) * RULES.stock / (RULES.stock - 1)
"""One fair shuffler in 10,000 is above this (normal approximation; a deal draws without putting back)."""
PARTS = ("secret", "entropy_of_seat_1", "entropy_of_seat_2")


def measure_deal_uniformity() -> list[Figure]:
    """Chi-square when everything varies, when one part alone does, and the cards that stay after one flipped bit."""
    figures = [_judge("deal_chi_square", None, DEALS)]
    figures.extend(_judge(f"deal_chi_square_{part}_alone", place, DEALS_EACH) for place, part in enumerate(PARTS))
    for place, part in enumerate(PARTS):
        stays = _stays_after_a_flipped_bit(place)
        # A card stays in its place once in 48, in two independent shuffles; 20,000 pairs, four standard errors.
        holds = abs(stays - 1) < 4 * (1 / 20_000) ** 0.5
        figures.append(Figure(f"deal_cards_that_stay_{part}", stays, "cards", "1 +- 0.028", holds))
    return figures


def _judge(name: str, varied: int | None, deals: int) -> Figure:
    print(f"  {name}, {deals} deals ...", file=sys.stderr)
    found: Counter[tuple[int, int]] = Counter()
    with Pool(PROCESSES) as pool:
        for counts in pool.starmap(_count, [(varied, seed) for seed in range(deals // CHUNK)]):
            found.update(counts)
    expected = {number: deals * cards / RULES.stock for number, cards in RANKS.items()}
    chi_square = sum(
        (found[position, number] - expected[number]) ** 2 / expected[number]
        for position in range(RULES.stock)
        for number in RANKS
    )
    return Figure(name, chi_square, "", f"< {LIMIT:.0f}", chi_square < LIMIT)


def _count(varied: int | None, chunk: int) -> Counter[tuple[int, int]]:
    """Count how often each rank stood at each position."""
    found: Counter[tuple[int, int]] = Counter()
    for parts in _draws(varied, chunk):
        found.update((position, rank(card)) for position, card in enumerate(_stock(parts)))
    return found


def _draws(varied: int | None, chunk: int) -> Iterator[list[bytes]]:
    chance = random.Random(chunk)
    fixed = [bytes([7]) * 32, bytes([8]) * 32, bytes([9]) * 32]
    for _ in range(CHUNK):
        yield [chance.randbytes(32) if varied in (None, place) else part for place, part in enumerate(fixed)]


def _stock(parts: list[bytes]) -> tuple[Card, ...]:
    return make_deal(RULES, make_seed(parts[0], parts[1:], bytes(16))).orders[0]


def _stays_after_a_flipped_bit(varied: int) -> float:
    """The mean number of cards that keep their position when one bit of one part is flipped."""
    chance, stays, pairs = random.Random(varied), 0, 20_000
    for _ in range(pairs):
        parts = [chance.randbytes(32) for _ in range(3)]
        before = _stock(parts)
        flipped = bytearray(parts[varied])
        flipped[chance.randrange(32)] ^= 1 << chance.randrange(8)
        parts[varied] = bytes(flipped)
        stays += sum(card == other for card, other in zip(before, _stock(parts), strict=True))
    return stays / pairs
