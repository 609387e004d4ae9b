"""Ed25519 signatures of a server, checked with the key that it shows in `welcome` and under `/key`."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def is_signed(statement: bytes, signature: bytes, key: bytes) -> bool:
    """Return whether the holder of the public key `key` signed `statement`; False for a key that is not valid."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, statement)
    except (InvalidSignature, ValueError):
        return False
    return True
