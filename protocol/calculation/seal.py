"""The sealed deal: every hash that makes a deck nobody can choose and everybody can check.

All hashes take the same encoding: a versioned label, then each part, every one of them behind its length as four
bytes, most significant first. docs/protocol.md writes the layouts down with test vectors for other languages.
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import Final

from protocol.calculation.cards import Card

SECRET_BYTES: Final = 32
"""Length of the server's secret and of each player's entropy."""
ROUND_ID_BYTES: Final = 16


def _encode(label: str, *parts: bytes) -> bytes:
    encoded = (b"fairest.v1." + label.encode(), *parts)
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def _digest(label: str, *parts: bytes) -> bytes:
    return hashlib.sha256(_encode(label, *parts)).digest()


def commit_secret(round_id: bytes, secret: bytes) -> bytes:
    """The hash that the server publishes before anybody is ready; it binds the secret to this round."""
    return _digest("secret", round_id, secret)


def commit_entropy(round_id: bytes, seat: int, entropy: bytes) -> bytes:
    """The hash a player sends with `ready`; it binds the entropy to this round and to the seat (0 or 1)."""
    return _digest("entropy", round_id, bytes([seat]), entropy)


def make_seed(secret: bytes, entropies: Sequence[bytes], round_id: bytes) -> bytes:
    """The seed of a round, from the server's secret and every seat's entropy in the order of the seats."""
    return _digest("seed", secret, *entropies, round_id)


def make_salt(seed: bytes, pass_number: int, position: int) -> bytes:
    """The salt of one envelope: HMAC-SHA-256 under the seed, so that a salt tells nothing about another."""
    place = (bytes([pass_number]), position.to_bytes(2, "big"))
    return hmac.digest(seed, _encode("salt", *place), "sha256")


def make_envelope(round_id: bytes, pass_number: int, position: int, card: Card, salt: bytes) -> bytes:
    """The hash that hides one card of one pass until its salt is shown."""
    return _digest("envelope", round_id, bytes([pass_number]), position.to_bytes(2, "big"), card.encode(), salt)


def random_bytes(label: str, seed: bytes, *parts: bytes) -> Iterator[int]:
    """An endless byte stream, SHAKE-256 over label, seed and parts, one byte at a time."""
    source = hashlib.shake_256(_encode(label, seed, *parts))
    start, end = 0, 256
    while True:
        yield from source.digest(end)[start:]
        start, end = end, 2 * end


def draw_below(limit: int, stream: Iterator[int]) -> int:
    """A number from 0 up to but not including the limit (256 at most), without modulo bias.

    Bytes at or above the largest multiple of the limit are thrown away, so every result is equally likely.
    """
    fair = 256 - 256 % limit
    return next(byte for byte in stream if byte < fair) % limit


def shuffle(cards: Sequence[Card], stream: Iterator[int]) -> tuple[Card, ...]:
    """Fisher-Yates from the last card to the second, each swapped with itself or an earlier one."""
    shuffled = list(cards)
    for last in range(len(shuffled) - 1, 0, -1):
        other = draw_below(last + 1, stream)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return tuple(shuffled)
