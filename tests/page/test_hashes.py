"""The hashes, random streams and signatures of the page are those of the standard library and of OpenSSL."""

import hashlib
import hmac
import random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.support.page_modules import ask_page

LENGTHS = (0, 1, 3, 55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 129, 135, 136, 137, 271, 272, 273, 1000)
"""About each length at which one of the hashes needs another block."""
ORDER = 2**252 + 27742317777372353535851937790883648493


def messages() -> list[bytes]:
    chance = random.Random(1)
    return [chance.randbytes(length) for length in LENGTHS]


def test_sha_256_is_that_of_python() -> None:
    answers = ask_page({"ask": "sha256", "message": message.hex()} for message in messages())
    assert answers == [hashlib.sha256(message).hexdigest() for message in messages()]


def test_sha_512_is_that_of_python() -> None:
    answers = ask_page({"ask": "sha512", "message": message.hex()} for message in messages())
    assert answers == [hashlib.sha512(message).hexdigest() for message in messages()]


def test_hmac_is_that_of_python() -> None:
    key = random.Random(2).randbytes(32)
    answers = ask_page({"ask": "hmac", "key": key.hex(), "message": message.hex()} for message in messages())
    assert answers == [hmac.digest(key, message, "sha256").hex() for message in messages()]


def test_shake_256_is_that_of_python_over_several_blocks() -> None:
    answers = ask_page({"ask": "shake256", "message": message.hex(), "count": 500} for message in messages())
    assert answers == [hashlib.shake_256(message).hexdigest(500) for message in messages()]


def signed(message: bytes, number: int) -> tuple[bytes, bytes]:
    """Return the signature of a message, and the public key of the key with this number."""
    private = Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big"))
    return private.sign(message), private.public_key().public_bytes_raw()


def are_signed(cases: list[tuple[bytes, bytes, bytes]]) -> list[bool]:
    """Return what the page says of triples of a message, a signature and a public key."""
    names = ("message", "signature", "key")
    return ask_page(
        {"ask": "signed", **{name: part.hex() for name, part in zip(names, case, strict=True)}} for case in cases
    )


@pytest.mark.long
def test_a_signature_of_openssl_is_accepted() -> None:
    cases = [(message, *signed(message, number)) for number, message in enumerate(messages(), 1)]
    assert are_signed(cases) == [True] * len(cases)


def test_the_first_vector_of_the_rfc_is_accepted() -> None:
    key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    signature = bytes.fromhex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert are_signed([(b"", signature, key)]) == [True]


def test_a_signature_with_any_byte_changed_is_refused() -> None:
    message = b"a round"
    signature, key = signed(message, 7)
    changed = [bytes([*signature[:at], signature[at] ^ 1, *signature[at + 1 :]]) for at in range(0, 64, 7)]
    assert not any(are_signed([(message, each, key) for each in changed]))


def test_a_signature_of_another_message_or_key_is_refused() -> None:
    signature, key = signed(b"a round", 7)
    _, other = signed(b"a round", 8)
    assert are_signed([(b"another", signature, key), (b"a round", signature, other)]) == [False, False]


def test_a_signature_with_the_order_added_is_refused() -> None:
    """It would be a second signature of the same message, which RFC 8032 forbids."""
    signature, key = signed(b"a round", 7)
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    assert are_signed([(b"a round", signature[:32] + scalar.to_bytes(32, "little"), key)]) == [False]


def test_a_signature_or_key_of_another_length_is_refused() -> None:
    signature, key = signed(b"a round", 7)
    assert not any(are_signed([(b"a round", signature[:-1], key), (b"a round", signature, key[:-1])]))
