"""The key by which a deployment is held to what it said: commitments and records are signed with it (Ed25519)."""

import secrets

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.seal import (
    ROUND_ID_BYTES,
    SECRET_BYTES,
    commit_secret,
    commitment_statement,
    record_statement,
)
from fairest_protocol.value import replace
from fairest_server.room.events import RoundOpened


class SigningKey:
    """A private key, from its 32 bytes. `public` is what others check signatures with, 32 bytes."""

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.private = private
        self.public = self._key.public_key().public_bytes_raw()

    def draw_round(self) -> RoundOpened:
        """A new round with an id and a secret from the system's random source, its commitment signed."""
        return self.commit(secrets.token_bytes(ROUND_ID_BYTES), secrets.token_bytes(SECRET_BYTES))

    def commit(self, round_id: bytes, secret: bytes) -> RoundOpened:
        """A round that is bound to this secret."""
        statement = commitment_statement(round_id, commit_secret(round_id, secret))
        return RoundOpened(round=round_id, secret=secret, signature=self._key.sign(statement))

    def sign(self, record: Record) -> Record:
        """The record under this key. Signing again gives the same bytes, whichever process does it."""
        keyed = replace(record, key=self.public)
        return replace(keyed, signature=self._key.sign(record_statement(keyed.chain())))
