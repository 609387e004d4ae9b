"""The sealed deal, from docs/protocol.md: hashes, the byte stream, and the cards that a seed deals.

Standard library only, so that a mistake in the code of Fairest is not made here as well. Signatures (Ed25519) are not
in the standard library and are not checked.
"""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass

RANKS = "A23456789TJQK"


@dataclass(frozen=True)
class Column:
    """One foundation: its first rank, the step from card to card, and the number of cards that complete it."""

    start: int
    step: int
    length: int

    def needs(self, count: int) -> int | None:
        """Return the rank of the next card when `count` cards lie here, None when it is complete."""
        return None if count >= self.length else (self.start - 1 + self.step * count) % 13 + 1


@dataclass(frozen=True)
class Deal:
    """The cards that a seed deals: the layout, the starters, the markers, and the order of each sealed pass."""

    layout: list[Column]
    starters: list[str]
    markers: list[str]
    orders: list[list[str]]


def rank(card: str) -> int:
    """Return the rank of a card, ace 1 to king 13."""
    return RANKS.index(card[0]) + 1


def encode(label: str, *parts: bytes) -> bytes:
    """Join a label and parts, each behind its length."""
    texts = [b"fairest.v1." + label.encode(), *parts]
    return b"".join(len(text).to_bytes(4, "big") + text for text in texts)


def hash_of(label: str, *parts: bytes) -> bytes:
    """Return SHA-256 of the joined label and parts."""
    return hashlib.sha256(encode(label, *parts)).digest()


def seed_of(secret: bytes, entropies: tuple[bytes, bytes], round_id: bytes) -> bytes:
    """Return the seed of a deal."""
    return hash_of("seed", secret, *entropies, round_id)


def entropy_hash(round_id: bytes, seat: int, entropy: bytes) -> str:
    """Return the hash that a player sends with `ready`."""
    return hash_of("entropy", round_id, bytes([seat]), entropy).hex()


def envelope(round_id: bytes, sealed_pass: int, position: int, card: str, salt: bytes) -> str:
    """Return the envelope of a card at a position of a sealed pass."""
    place = bytes([sealed_pass]), position.to_bytes(2, "big")
    return hash_of("envelope", round_id, *place, card.encode(), salt).hex()


def salt_of(seed: bytes, sealed_pass: int, position: int) -> bytes:
    """Return the salt of a position of a sealed pass."""
    message = encode("salt", bytes([sealed_pass]), position.to_bytes(2, "big"))
    return hmac.digest(seed, message, "sha256")


def envelopes_of(seed: bytes, round_id: bytes, deal: Deal) -> list[list[str]]:
    """Return all envelopes of a deal."""
    return [
        [envelope(round_id, sealed, place, card, salt_of(seed, sealed, place)) for place, card in enumerate(order)]
        for sealed, order in enumerate(deal.orders)
    ]


def deal_of(seed: bytes, variant: str, redeals: int) -> Deal:
    """Return the deal of a seed under the rules of a variant."""
    decks = 2 if variant == "senior" else 1
    plain = [rank_ + suit for suit in "CDHScdhs"[: 4 * decks] for rank_ in RANKS]
    deck = _shuffle(plain, _stream("shuffle", seed))
    layout, markers = _layout(variant), []
    if variant == "broken":
        starters = deck[:4]
        steps = _dice([rank(card) for card in starters], _stream("dice", seed))
        layout = [Column(rank(card), step, 13) for card, step in zip(starters, steps, strict=True)]
    else:
        taken: list[str] = []
        for wanted in [column.start for column in layout] + ([1, 2, 3, 4] if variant == "betsy-ross" else []):
            taken.append(next(card for card in plain if rank(card) == wanted and card not in taken))
        starters, markers = taken[: len(layout)], taken[len(layout) :]
    stock = [card for card in deck if card not in starters and card not in markers]
    orders = [stock]
    if variant != "betsy-ross":
        orders += [_shuffle(stock, _stream("redeal", seed, bytes([number]))) for number in range(1, redeals + 1)]
    return Deal(layout, starters, markers, orders)


def _layout(variant: str) -> list[Column]:
    if variant == "senior":
        return [Column(number, number, 13) for number in range(1, 9)]
    if variant == "reverse":
        return [Column(13, -number, 13) for number in range(1, 5)]
    if variant == "betsy-ross":
        return [Column(2 * number, number, 12) for number in range(1, 5)]
    return [Column(number, number, 13) for number in range(1, 5)]


def _stream(label: str, seed: bytes, *parts: bytes) -> Iterator[int]:
    # Longer than any deal can need: a card takes two bytes at most on average.
    return iter(hashlib.shake_256(encode(label, seed, *parts)).digest(16384))


def _below(limit: int, stream: Iterator[int]) -> int:
    return next(byte for byte in stream if byte < 256 - 256 % limit) % limit


def _shuffle(cards: list[str], stream: Iterator[int]) -> list[str]:
    cards = list(cards)
    for last in range(len(cards) - 1, 0, -1):
        other = _below(last + 1, stream)
        cards[last], cards[other] = cards[other], cards[last]
    return cards


def _dice(starts: list[int], stream: Iterator[int]) -> list[int]:
    while True:
        steps = [_below(6, stream) + 1 for _ in starts]
        if len(set(zip(starts, steps, strict=True))) == len(starts):
            return steps
