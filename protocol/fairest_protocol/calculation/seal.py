"""The sealed deal: every hash that makes a deck nobody can choose and everybody can check.

All hashes take the same encoding: a versioned label, then each part, every one of them behind its length as four
bytes, most significant first. docs/protocol.md writes the layouts down with test vectors for other languages.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from fairest_protocol.calculation.cards import Card

SECRET_BYTES: Final = 32
"""Length of the server's secret and of each player's entropy."""
ROUND_ID_BYTES: Final = 16
KEY_BYTES: Final = 32
"""Length of the server's public key (Ed25519)."""
SIGNATURE_BYTES: Final = 64
CHECK_WORDS: Final = 4


_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"


def _encode(label: str, *parts: bytes) -> bytes:
    encoded = (b"fairest.v1." + label.encode(), *parts)
    return b"".join([len(part).to_bytes(4, "big") + part for part in encoded])


def _proquint(number: int) -> str:
    letters = ((_CONSONANTS, 12, 15), (_VOWELS, 10, 3), (_CONSONANTS, 6, 15), (_VOWELS, 4, 3), (_CONSONANTS, 0, 15))
    return "".join(alphabet[number >> shift & mask] for alphabet, shift, mask in letters)


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


def root_envelopes(envelopes: Iterable[Sequence[bytes]]) -> bytes:
    """One hash over all envelopes of a deal: each pass is one part, its envelopes one behind the other."""
    return _digest("envelopes", *(b"".join(sealed) for sealed in envelopes))


def make_check_words(
    round_id: bytes, commitment: bytes, entropies: Sequence[bytes], root: bytes, terms: str
) -> tuple[str, ...]:
    """Four words for people to compare: whoever has the same ones has the same seal and plays by the same terms.

    Each word is 16 bits as a proquint (D. Wilkerson, arXiv:0901.4016): consonant, vowel, consonant, vowel, consonant.
    """
    digest = _digest("words", round_id, commitment, *entropies, root, terms.encode())
    return tuple(_proquint(int.from_bytes(digest[at : at + 2], "big")) for at in range(0, 2 * CHECK_WORDS, 2))


def commitment_statement(round_id: bytes, commitment: bytes) -> bytes:
    """What the server signs, before anybody is ready, to be held to its commitment."""
    return _encode("commitment", round_id, commitment)


def record_statement(chain: bytes) -> bytes:
    """What the server signs to be held to a record: the chain value of its last line but one."""
    return _encode("record", chain)


def chain_line(before: bytes, line: str) -> bytes:
    """The chain value of a record's line: a hash over the value of the line before (none: empty) and its text."""
    return _digest("line", before, line.encode())


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
    byte = next(stream)
    while byte >= fair:
        byte = next(stream)
    return byte % limit


def shuffle(cards: Sequence[Card], stream: Iterator[int]) -> tuple[Card, ...]:
    """Fisher-Yates from the last card to the second, each swapped with itself or an earlier one."""
    shuffled = list(cards)
    for last in range(len(shuffled) - 1, 0, -1):
        other = draw_below(last + 1, stream)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return tuple(shuffled)
