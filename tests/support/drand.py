"""A drand network of the tests, whose private key they have, and relays that show its rounds or lie about them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import pytest

from fairest_protocol.calculation.drand import (
    DRAND_SIGNATURE_BYTES,
    QUICKNET,
    DrandNetwork,
    drand_message,
    drand_value,
)
from fairest_protocol.drand_signature import _DOMAIN, CAN_CHECK
from tests.support.lying_chain import serving_pages

needs_pyblst = pytest.mark.skipif(not CAN_CHECK, reason="pyblst has no wheel for this Python, so nothing is checked")
_PRIVATE_KEY: Final = 0x5EED
NETWORK: Final = DrandNetwork(
    chain="ab" * 32,
    public_key=bytes.fromhex(
        "915375db81493926c1a14d5564d200ec53890beb1ec2b74b6dc48a3b830a7a8e460d340ce14d8d4e02631ef13a3c957d"
        "0d4e6c386e64469a8cf882f583c08e4145d832d1d439a02fcd5e3cfdd440f345c6641204a3f6464e1c394b2f9479723d"
    ),
    genesis_ms=QUICKNET.genesis_ms,
    period_ms=QUICKNET.period_ms,
)


def sign_drand(number: int) -> bytes:
    """Return the signature of the network over a drand round; bytes that nobody checks where pyblst is missing."""
    if not CAN_CHECK:
        return hashlib.sha512(drand_message(number)).digest()[:DRAND_SIGNATURE_BYTES]
    from pyblst import BlstP1Element

    return bytes(BlstP1Element.hash_to_group(drand_message(number), _DOMAIN).scalar_mul(_PRIVATE_KEY).compress())


def drand_answer(number: int, signature: bytes) -> bytes:
    """Return what a relay answers for a drand round."""
    fields = {"round": number, "randomness": drand_value(signature).hex(), "signature": signature.hex()}
    return json.dumps(fields).encode()


def shown_rounds(*numbers: int) -> dict[str, bytes]:
    """Return the pages of an honest relay that has these drand rounds."""
    return {NETWORK.path(number): drand_answer(number, sign_drand(number)) for number in numbers}


@contextmanager
def serving_relay(pages: Mapping[str, bytes]) -> Iterator[str]:
    """Serve these pages; yield the URL of the relay."""
    with serving_pages(pages) as url:
        yield url.replace("ws://", "http://")
