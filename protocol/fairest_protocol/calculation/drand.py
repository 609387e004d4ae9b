"""Rounds of drand, a public source of chance that no operator of a server controls: https://drand.love. Pure.

Independent organisations sign the number of each drand round together, at a time that follows from the number. Only one
signature is valid, and fewer organisations than a threshold can neither make nor predict it. The signature is checked
in `fairest_protocol.drand_signature`.
"""

import hashlib
from typing import Final

from fairest_protocol.value import Value

DRAND_SIGNATURE_BYTES: Final = 48


class DrandNetwork(Value):
    """A network that signs a drand round every `period_ms`, the first one at `genesis_ms`.

    `chain` is the hash of these values, by which drand names the network.
    """

    chain: str
    public_key: bytes
    genesis_ms: int
    period_ms: int

    def first_round(self, from_ms: int) -> int:
        """Return the number of the first drand round that is signed at this time or later; below 1 there is none."""
        return 1 - (self.genesis_ms - from_ms) // self.period_ms

    def path(self, number: int) -> str:
        """Return the path at which each relay of drand shows a drand round."""
        return f"/{self.chain}/public/{number}"


QUICKNET: Final = DrandNetwork(
    chain="52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
    public_key=bytes.fromhex(
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
        "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
    ),
    genesis_ms=1_692_803_367_000,
    period_ms=3_000,
)
"""The network of the League of Entropy that has signed a drand round every three seconds since August 2023."""


def drand_value(signature: bytes) -> bytes:
    """Return the 32 bytes of chance that a drand round gives."""
    return hashlib.sha256(signature).digest()


def drand_message(number: int) -> bytes:
    """Return what is signed in a drand round."""
    return hashlib.sha256(number.to_bytes(8, "big")).digest()
