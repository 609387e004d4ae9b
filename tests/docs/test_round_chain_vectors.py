"""The test vectors of the chain of rounds, made again by the formulas of docs/protocol.md alone."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.support.round_chain import encode

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()


def vector(name: str) -> str:
    (value,) = re.findall(rf"^{re.escape(name)} {{2,}}(.+)$", PAGE, re.MULTILINE)
    return str(value)


def test_the_chain_of_each_entry_follows_from_the_one_before() -> None:
    chain = bytes(32)
    for number in (1, 2):
        chain = hashlib.sha256(encode("rounds", chain, vector(f"entry {number}").encode())).digest()
        assert chain.hex() == vector(f"chain of entry {number}")


def test_the_head_is_signed_with_its_number_chain_and_time() -> None:
    chain, at_ms = bytes.fromhex(vector("chain of entry 2")), int(vector("at_ms of head 2"))
    statement = encode("rounds head", (2).to_bytes(8, "big"), chain, at_ms.to_bytes(8, "big"))
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(vector("public key")))
    key.verify(bytes.fromhex(vector("signature of head 2")), statement)


@pytest.mark.parametrize("name", ["entry 1", "entry 2"])
def test_the_entries_are_of_the_round_of_the_other_vectors(name: str) -> None:
    entry = json.loads(vector(name))
    assert entry["commitment"] == vector("commitment")
    assert entry.get("seed", vector("seed")) == vector("seed")
