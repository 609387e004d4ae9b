"""The hashes and deals of the independent checker are those of the test vectors in docs/protocol.md."""

import re
from pathlib import Path

import pytest

from benchmarks.histories.sealing import deal_of, entropy_hash, envelopes_of, hash_of, salt_of, seed_of

PAGE = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")


def _vector(name: str) -> str:
    found = re.search(rf"^{re.escape(name)} +((?:\S+ ?)+(?:\n {{10,}}(?:\S+ ?)+)*)", PAGE, re.MULTILINE)
    assert found, name
    return " ".join(found[1].split())


SECRET, ROUND = bytes.fromhex(_vector("secret")), bytes.fromhex(_vector("round id"))
ENTROPIES = bytes.fromhex(_vector("entropy of seat 0")), bytes.fromhex(_vector("entropy of seat 1"))
SEED = bytes.fromhex(_vector("seed"))


def test_the_seed_is_that_of_the_page() -> None:
    assert seed_of(SECRET, ENTROPIES, ROUND) == SEED


def test_the_commitment_is_that_of_the_page() -> None:
    assert hash_of("secret", ROUND, SECRET).hex() == _vector("commitment")


def test_an_entropy_hash_is_that_of_the_page() -> None:
    assert entropy_hash(ROUND, 1, ENTROPIES[1]) == _vector("entropy hash of seat 1")


@pytest.mark.parametrize(
    ("name", "variant", "redeals", "number"),
    [
        ("classic stock", "classic", 0, 0),
        ("redeal order of pass 1", "redeal", 2, 1),
        ("redeal order of pass 2", "redeal", 2, 2),
        ("betsy-ross order", "betsy-ross", 2, 0),
        ("senior order", "senior", 0, 0),
    ],
)
def test_an_order_is_that_of_the_page(name: str, variant: str, redeals: int, number: int) -> None:
    assert " ".join(deal_of(SEED, variant, redeals).orders[number]) == _vector(name)


def test_the_layout_of_broken_is_that_of_the_page() -> None:
    layout = deal_of(SEED, "broken", 0).layout
    assert " ".join(f"{column.start}+{column.step}" for column in layout) == _vector("broken layout")


def test_a_salt_is_that_of_the_page() -> None:
    assert salt_of(SEED, 0, 1).hex() == _vector("salt of position 1")


def test_an_envelope_is_that_of_the_page() -> None:
    assert envelopes_of(SEED, ROUND, deal_of(SEED, "classic", 0))[0][1] == _vector("envelope of position 1")
