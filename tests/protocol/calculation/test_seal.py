"""Hashes and signed statements, against the layout of docs/protocol.md: a label, then each part with its length."""

import hashlib

from fairest_protocol.calculation import seal
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.tournament import tournament_seed

ID, SECRET, FIRST, SECOND = bytes([1]) * 16, bytes([2]) * 32, bytes([3]) * 32, bytes([4]) * 32


def encode(label: str, *parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in (f"fairest.v1.{label}".encode(), *parts))


def digest(label: str, *parts: bytes) -> bytes:
    return hashlib.sha256(encode(label, *parts)).digest()


ENTRANTS = digest("entrants", ID, b"ann", FIRST, b"bob", SECOND)


LAYOUTS = {
    "commit_secret": (seal.commit_secret(ID, SECRET), digest("secret", ID, SECRET)),
    "commit_entropy": (seal.commit_entropy(ID, 1, FIRST), digest("entropy", ID, b"\x01", FIRST)),
    "make_seed": (seal.make_seed(SECRET, (FIRST, SECOND), ID), digest("seed", SECRET, FIRST, SECOND, ID)),
    "make_step_seed": (seal.make_step_seed(SECRET, 7), digest("step", SECRET, b"\x07")),
    "hash_daily_round": (
        seal.hash_daily_round("2026-11-24", "classic"),
        digest("daily", b"2026-11-24", b"classic")[:16],
    ),
    "daily_statement": (seal.daily_statement("line"), encode("attempt", b"line")),
    "hash_tournament_round": (seal.hash_tournament_round(ID, 258), digest("tournament", ID, b"\x01\x02")[:16]),
    "commit_entrant": (seal.commit_entrant(ID, "ann", FIRST), digest("entrant", ID, b"ann", FIRST)),
    "mix_entropies": (seal.mix_entropies(ID, [("bob", SECOND), ("ann", FIRST)]), ENTRANTS),
    "tournament_seed": (
        tournament_seed(SECRET, [("bob", SECOND), ("ann", FIRST)], ID),
        digest("seed", SECRET, ENTRANTS, bytes(32), ID),
    ),
    "tournament_statement": (seal.tournament_statement("line"), encode("tournament race", b"line")),
    "make_envelope": (
        seal.make_envelope(ID, 2, 258, Card("AS"), FIRST),
        digest("envelope", ID, b"\x02", b"\x01\x02", b"AS", FIRST),
    ),
    "root_envelopes": (seal.root_envelopes([[FIRST, SECOND], [SECRET]]), digest("envelopes", FIRST + SECOND, SECRET)),
    "round_statement": (
        seal.round_statement(ID, FIRST, ID[:15], 258, "terms"),
        encode("round", ID, FIRST, ID[:15], b"\x01\x02", b"terms"),
    ),
    "record_statement": (seal.record_statement(FIRST), encode("record", FIRST)),
    "chain_line, the first": (seal.chain_line(b"", "text"), digest("line", b"", b"text")),
    "chain_line": (seal.chain_line(FIRST, "\u00e9"), digest("line", FIRST, "\u00e9".encode())),
    "chain_round_line": (seal.chain_round_line(FIRST, "text"), digest("rounds", FIRST, b"text")),
    "rounds_head_statement": (
        seal.rounds_head_statement(2**40 + 1, FIRST, 2**41 + 3),
        encode("rounds head", (2**40 + 1).to_bytes(8, "big"), FIRST, (2**41 + 3).to_bytes(8, "big")),
    ),
}
"""The result of each function, and the bytes that are published for it."""


def test_each_hash_and_statement_has_its_published_layout() -> None:
    published = {name: wanted for name, (_, wanted) in LAYOUTS.items()}
    assert {name: found for name, (found, _) in LAYOUTS.items()} == published


def test_check_words_are_proquints_of_the_first_eight_bytes() -> None:
    """The words are spelled here by bits, as the specification of proquints does (arXiv:0901.4016)."""
    consonants, vowels = "bdfghjklmnprstvz", "aiou"
    source = digest("words", ID, FIRST, SECOND, SECRET, SECRET, b"terms")
    words = []
    for number in (int.from_bytes(source[at : at + 2], "big") for at in (0, 2, 4, 6)):
        bits = f"{number:016b}"
        sounds = (consonants, bits[:4]), (vowels, bits[4:6]), (consonants, bits[6:10]), (vowels, bits[10:12])
        words.append("".join(letters[int(part, 2)] for letters, part in (*sounds, (consonants, bits[12:]))))
    assert seal.make_check_words(ID, FIRST, [SECOND, SECRET], SECRET, "terms") == tuple(words)
