"""The hashes of a sealed deal, which no party can choose alone and every viewer can check.

All hashes use one encoding: a versioned label, then each part; label and parts are each preceded by their length as
four bytes, most significant first. docs/protocol.md gives the layouts, with test vectors for other languages.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from fairest_protocol.calculation.cards import Card, full_deck

SECRET_BYTES: Final = 32
"""Length of the server's secret, and of each player's entropy."""
ROUND_ID_BYTES: Final = 16
KEY_BYTES: Final = 32
"""Length of the server's public key (Ed25519)."""
SIGNATURE_BYTES: Final = 64
SALT_BYTES: Final = 32
ENVELOPE_BYTES: Final = 32
CHECK_WORDS: Final = 4
NO_ROUNDS: Final = bytes(32)
"""The chain of a chain of rounds without entries."""


_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"


@cache
def _encode_label(label: str) -> bytes:
    text = b"fairest.v1." + label.encode()
    return len(text).to_bytes(4, "big") + text


_FIRST_LINE: Final = _encode_label("line") + (0).to_bytes(4, "big")
_NEXT_LINE: Final = _encode_label("line") + (32).to_bytes(4, "big")
"""The beginning of the bytes that are hashed for a line: the label, and the length of the chain of the line before."""


_ENVELOPED: Final = {
    card: len(card).to_bytes(4, "big") + card.encode() + SALT_BYTES.to_bytes(4, "big") for card in full_deck(2)
}
"""The bytes of each card that an envelope hashes: the length of its text, the text, and the length of its salt."""


def _encode(label: str, *parts: bytes) -> bytes:
    encoded = [_encode_label(label)]
    for part in parts:
        encoded += (len(part).to_bytes(4, "big"), part)
    return b"".join(encoded)


def _proquint(number: int) -> str:
    letters = ((_CONSONANTS, 12, 15), (_VOWELS, 10, 3), (_CONSONANTS, 6, 15), (_VOWELS, 4, 3), (_CONSONANTS, 0, 15))
    return "".join(alphabet[number >> shift & mask] for alphabet, shift, mask in letters)


def _digest(label: str, *parts: bytes) -> bytes:
    return hashlib.sha256(_encode(label, *parts)).digest()


def commit_secret(round_id: bytes, secret: bytes) -> bytes:
    """Return the commitment: the hash that the server publishes before anybody is ready, to bind itself to `secret`."""
    return _digest("secret", round_id, secret)


def commit_entropy(round_id: bytes, seat: int, entropy: bytes) -> bytes:
    """Return the hash that a player sends with `ready`. It binds the entropy to this round and to the seat (0 or 1)."""
    return _digest("entropy", round_id, bytes([seat]), entropy)


def make_seed(secret: bytes, entropies: Sequence[bytes], round_id: bytes) -> bytes:
    """Return the seed of a round, made from the server's secret and the entropy of each seat, in order of the seats."""
    return _digest("seed", secret, *entropies, round_id)


def make_step_seed(seed: bytes, step: int) -> bytes:
    """Return the seed of the deal at this step (0 to 255) of a certified round; `seed` is the seed of the round."""
    return _digest("step", seed, bytes([step]))


def hash_daily_round(day: str, variant: str) -> bytes:
    """Return the round id of the daily deal of a day (``2026-11-24``) and a variant."""
    return _digest("daily", day.encode(), variant.encode())[:ROUND_ID_BYTES]


def daily_statement(line: str) -> bytes:
    """Return the bytes that the server signs for the record of an attempt at a daily deal; `line` is its first line."""
    return _encode("attempt", line.encode())


def hash_tournament_round(tournament_id: bytes, number: int) -> bytes:
    """Return the round id of a round of a tournament, counted from 1: that of the deal of all its races."""
    return _digest("tournament", tournament_id, number.to_bytes(2, "big"))[:ROUND_ID_BYTES]


def commit_entrant(round_id: bytes, name: str, entropy: bytes) -> bytes:
    """Return the hash that a player sends to be ready for a round of a tournament, bound to the round and the name."""
    return _digest("entrant", round_id, name.encode(), entropy)


def mix_entropies(round_id: bytes, shown: Iterable[tuple[str, bytes]]) -> bytes:
    """Return one hash over the entropies that the players of a tournament's round have shown, by their names."""
    parts = [part for name, entropy in sorted(shown) for part in (name.encode(), entropy)]
    return _digest("entrants", round_id, *parts)


def tournament_statement(line: str) -> bytes:
    """Return the bytes that the server signs for the record of a race in a tournament; `line` is its first line."""
    return _encode("tournament race", line.encode())


def make_salt(seed: bytes, pass_number: int, position: int) -> bytes:
    """Return the salt of one envelope: HMAC-SHA-256 under the seed, so that one salt says nothing about another."""
    place = (bytes([pass_number]), position.to_bytes(2, "big"))
    return hmac.digest(seed, _encode("salt", *place), "sha256")


def make_envelope(round_id: bytes, pass_number: int, position: int, card: Card, salt: bytes) -> bytes:
    """Return the hash that hides one card of one pass until its salt is shown."""
    return _digest("envelope", round_id, bytes([pass_number]), position.to_bytes(2, "big"), card.encode(), salt)


def make_envelopes(round_id: bytes, pass_number: int, cards: Sequence[Card], salts: Sequence[bytes]) -> bytes:
    """Return `make_envelope` of each position of a pass, one after the other. Each salt has `SALT_BYTES`."""
    # Fifty hashes for each sealed pass: the bytes of `_encode` are put together here, at a third of its cost.
    place = _encode("envelope", round_id, bytes([pass_number])) + (2).to_bytes(4, "big")
    return b"".join(
        [
            hashlib.sha256(place + position.to_bytes(2, "big") + _ENVELOPED[card] + salt).digest()
            for position, (card, salt) in enumerate(zip(cards, salts, strict=True))
        ]
    )


def root_envelopes(envelopes: Iterable[Sequence[bytes]]) -> bytes:
    """Return one hash over all envelopes of a deal. Each pass is one part: its envelopes, concatenated."""
    return _digest("envelopes", *(b"".join(sealed) for sealed in envelopes))


def make_check_words(
    round_id: bytes, commitment: bytes, entropies: Sequence[bytes], root: bytes, terms: str
) -> tuple[str, ...]:
    """Return four words for people to compare. Players with equal words have the same seal and the same terms.

    `terms` is the text of `Terms`.
    Each word is 16 bits as a proquint (D. Wilkerson, arXiv:0901.4016): consonant, vowel, consonant, vowel, consonant.
    """
    digest = _digest("words", round_id, commitment, *entropies, root, terms.encode())
    return tuple(_proquint(int.from_bytes(digest[at : at + 2], "big")) for at in range(0, 2 * CHECK_WORDS, 2))


def round_statement(round_id: bytes, commitment: bytes, match_id: bytes, number: int, terms: str) -> bytes:
    """Return the bytes that the server signs when it opens a round, before anybody is ready.

    They bind it to its commitment, and to everything else that decides the deal and the outcome: the match, the number
    of the round in it (1 to 65,535), and `terms`, the text of `Terms`.
    """
    return _encode("round", round_id, commitment, match_id, number.to_bytes(2, "big"), terms.encode())


def record_statement(chain: bytes) -> bytes:
    """Return the bytes that the server signs to vouch for a record. `chain` is the chain of its last line but one."""
    return _encode("record", chain)


def chain_line(before: bytes, line: str) -> bytes:
    """Return the chain of a record's line: a hash over `before`, the chain of the line before, and the line's text.

    `before` is empty for the first line.
    """
    text = line.encode()
    # A record has hundreds of lines, so the bytes of `_encode` are put together here.
    head = _NEXT_LINE if before else _FIRST_LINE
    return hashlib.sha256(b"".join((head, before, len(text).to_bytes(4, "big"), text))).digest()


def chain_round_line(before: bytes, line: str) -> bytes:
    """Return the chain of an entry in the chain of rounds: a hash over the chain of the entry before, and its text.

    Before the first entry it is `NO_ROUNDS`.
    """
    return _digest("rounds", before, line.encode())


def rounds_head_statement(number: int, chain: bytes, at_ms: int) -> bytes:
    """Return the bytes that the server signs for the head of its chain of rounds.

    `number` is that of the newest entry at the time `at_ms`, and `chain` its chain; each number is 8 bytes.
    """
    return _encode("rounds head", number.to_bytes(8, "big"), chain, at_ms.to_bytes(8, "big"))


def random_bytes(label: str, seed: bytes, *parts: bytes) -> Iterator[int]:
    """Yield an endless stream of bytes: SHAKE-256 over label, seed and parts."""
    source = hashlib.shake_256(_encode(label, seed, *parts))
    start, end = 0, 256
    while True:
        yield from source.digest(end)[start:]
        start, end = end, 2 * end


def draw_below(limit: int, stream: Iterator[int]) -> int:
    """Return a number from 0 up to but not including the limit (256 at most), without modulo bias.

    Bytes at or above the largest multiple of the limit are skipped, so every result is equally likely.
    """
    fair = 256 - 256 % limit
    byte = next(stream)
    while byte >= fair:
        byte = next(stream)
    return byte % limit


def shuffle(cards: Sequence[Card], stream: Iterator[int]) -> tuple[Card, ...]:
    """Return the cards shuffled by Fisher-Yates: from last to second, each is swapped with itself or an earlier one."""
    shuffled = list(cards)
    for last in range(len(shuffled) - 1, 0, -1):
        other = draw_below(last + 1, stream)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return tuple(shuffled)
