"""`The sealed deal` of protocol.md, for the variants of rules.md: derived a second time, from these pages alone."""

import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

RANKS, SUITS = "A23456789TJQK", "CDHScdhs"  # the small letters are the suits of the second deck
CONSONANTS, VOWELS = "bdfghjklmnprstvz", "aiou"
BLOCK = 136  # how many bytes of a stream are made at a time; any number gives the same stream
LINE = re.compile(r'([^\n\ud800-\udfff]+),"chain":"([0-9a-f]{64})"\}')  # no lone surrogates: a line has to be UTF-8


def encode(label: str, *parts: bytes) -> bytes:
    """Join a label and parts, each behind its length, so that no two lists of parts give the same bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in (b"fairest.v1." + label.encode("ascii"), *parts))


def digest(label: str, *parts: bytes) -> bytes:
    """Hash a label and parts; `hash` in protocol.md."""
    return hashlib.sha256(encode(label, *parts)).digest()


def commitment(round_id: bytes, secret: bytes) -> bytes:
    """Return what binds the server to its secret."""
    return digest("secret", round_id, secret)


def entropy_hash(round_id: bytes, seat: int, entropy: bytes) -> bytes:
    """Return what binds a player to its random bytes."""
    return digest("entropy", round_id, bytes([seat]), entropy)


def seed(secret: bytes, entropies: tuple[bytes, bytes], round_id: bytes) -> bytes:
    """Return the seed of the deal, to which the server and both players have given their part."""
    return digest("seed", secret, *entropies, round_id)


def step_seed(seed: bytes, step: int) -> bytes:
    """Return the seed of the deal at this step of a certified round."""
    return digest("step", seed, bytes([step]))


def salt(seed: bytes, pass_: int, place: int) -> bytes:
    """Return what hides the card in an envelope until it is shown."""
    return hmac.digest(seed, encode("salt", bytes([pass_]), place.to_bytes(2, "big")), "sha256")


def envelope(round_id: bytes, pass_: int, place: int, card: str, salt: bytes) -> bytes:
    """Return what binds the server to the card at this place of this pass."""
    return digest("envelope", round_id, bytes([pass_]), place.to_bytes(2, "big"), card.encode("ascii"), salt)


def stream(label: str, seed: bytes, *parts: bytes) -> Iterator[int]:
    """Yield the bytes of a random stream, without end."""
    shake = hashlib.shake_256(encode(label, seed, *parts))
    for blocks in count(1):
        yield from shake.digest(BLOCK * blocks)[-BLOCK:]


def draw(below: int, numbers: Iterator[int]) -> int:
    """Draw a number from 0 to `below` - 1; bytes that would favour the small ones are thrown away."""
    return next(byte for byte in numbers if byte < 256 - 256 % below) % below


def shuffle(cards: Sequence[str], numbers: Iterator[int]) -> tuple[str, ...]:
    """Return the cards in a random order."""
    shuffled = list(cards)
    for last in range(len(shuffled) - 1, 0, -1):
        other = draw(last + 1, numbers)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return tuple(shuffled)


@dataclass(frozen=True)
class Variant:
    """The part of a variant that the deal needs. Without `starts`, ranks come from the shuffle and steps from dice."""

    starts: tuple[int, ...] = (1, 2, 3, 4)
    steps: tuple[int, ...] = (1, 2, 3, 4)
    length: int = 13
    decks: int = 1
    markers: tuple[int, ...] = ()
    is_reshuffled: bool = True


VARIANTS = {
    "classic": Variant(),
    "easy": Variant(),
    "broken": Variant(starts=(), steps=()),
    "senior": Variant(starts=(1, 2, 3, 4, 5, 6, 7, 8), steps=(1, 2, 3, 4, 5, 6, 7, 8), decks=2),
    "reverse": Variant(starts=(13, 13, 13, 13), steps=(-1, -2, -3, -4)),
    "redeal": Variant(),
    "betsy-ross": Variant(starts=(2, 4, 6, 8), length=12, markers=(1, 2, 3, 4), is_reshuffled=False),
    "single": Variant(),
}


@dataclass(frozen=True)
class Dealt:
    """A deal: an order for each pass, salts and envelopes for each sealed pass; layout is (start, step, length)."""

    layout: tuple[tuple[int, int, int], ...]
    starters: tuple[str, ...]
    markers: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]
    salts: tuple[tuple[bytes, ...], ...]
    envelopes: tuple[tuple[bytes, ...], ...]


def deal(variant: str, redeals: int, seed: bytes, round_id: bytes) -> Dealt:
    """Make the whole deal of a round from its seed."""
    rules = VARIANTS[variant]
    unshuffled = [rank + suit for suit in SUITS[: 4 * rules.decks] for rank in RANKS]
    deck = shuffle(unshuffled, stream("shuffle", seed))
    starts, steps, laid = rules.starts, rules.steps, list[str]()
    for start in starts + rules.markers:
        laid.append(next(card for card in unshuffled if card[0] == RANKS[start - 1] and card not in laid))
    if not starts:
        laid = list(deck[:4])
        starts = tuple(RANKS.index(card[0]) + 1 for card in laid)
        dice = stream("dice", seed)
        while len(set(zip(starts, steps, strict=False))) < len(starts):  # not thrown yet, or two are the same
            steps = tuple(draw(6, dice) + 1 for _ in starts)
    stock = tuple(card for card in deck if card not in laid)
    again = [shuffle(stock, stream("redeal", seed, bytes([number]))) for number in range(1, redeals + 1)]
    sealed = (stock, *again) if rules.is_reshuffled else (stock,)  # turned over, a pass is pass 0 with its envelopes
    salts = tuple(tuple(salt(seed, pass_, place) for place in range(len(stock))) for pass_ in range(len(sealed)))
    return Dealt(
        layout=tuple((start, step, rules.length) for start, step in zip(starts, steps, strict=True)),
        starters=tuple(laid[: len(starts)]),
        markers=tuple(laid[len(starts) :]),
        orders=sealed if rules.is_reshuffled else (stock,) * (1 + redeals),
        salts=salts,
        envelopes=tuple(
            tuple(envelope(round_id, pass_, place, card, salts[pass_][place]) for place, card in enumerate(order))
            for pass_, order in enumerate(sealed)
        ),
    )


def root(envelopes: Sequence[Sequence[bytes]]) -> bytes:
    """Return the one hash that stands for all envelopes, those of every sealed pass in order."""
    return digest("envelopes", *(b"".join(row) for row in envelopes))


def check_words(
    round_id: bytes, commitment: bytes, entropies: tuple[bytes, bytes], root: bytes, terms: str
) -> tuple[str, str, str, str]:
    """Return the four words that are the same for all who have the same sealed deal under the same terms."""
    words = digest("words", round_id, commitment, *entropies, root, terms.encode("ascii"))
    return proquint(words[0:2]), proquint(words[2:4]), proquint(words[4:6]), proquint(words[6:8])


def proquint(two: bytes) -> str:
    """Spell 16 bits as a word of five letters: a consonant takes 4 bits, a vowel 2, the highest bits come first."""
    bits = int.from_bytes(two, "big")
    letters = ((CONSONANTS, 12), (VOWELS, 10), (CONSONANTS, 6), (VOWELS, 4), (CONSONANTS, 0))
    return "".join(alphabet[(bits >> shift) % len(alphabet)] for alphabet, shift in letters)


def round_statement(round_id: bytes, commitment: bytes, match_id: bytes, number: int, terms: str) -> bytes:
    """Return the bytes that the server signs when it opens a round."""
    return encode("round", round_id, commitment, match_id, number.to_bytes(2, "big"), terms.encode("ascii"))


def record_statement(chain: bytes) -> bytes:
    """Return the bytes that the server signs in the seal of a record."""
    return encode("record", chain)


def chain(lines: Sequence[str]) -> bytes:
    """Return the chain value of the last of these lines, all of a record but its seal; check that of each line."""
    value = b""
    for number, line in enumerate(lines, 1):
        match = LINE.fullmatch(line)
        text = match[1] + "}" if match else ""
        value = digest("line", value, text.encode())
        if not match or match[2] != value.hex():
            raise ValueError(f"line {number} has no chain field at its end, or a wrong one")
    if not value:
        raise ValueError("line 1 is missing")
    return value
