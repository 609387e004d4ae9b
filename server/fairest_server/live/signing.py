"""The key with which a deployment signs commitments and records (Ed25519), so that it can be held to them."""

import secrets

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from redis.asyncio import Redis

from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.seal import (
    ROUND_ID_BYTES,
    SECRET_BYTES,
    commit_secret,
    commitment_statement,
    record_statement,
)
from fairest_protocol.value import replace
from fairest_server.ops.events import Event
from fairest_server.room.events import RoundOpened
from fairest_server.store.signing_key import load_private_key

_LOG = structlog.get_logger(__name__)


class SigningKey:
    """A private key, from its 32 bytes. `public` has the 32 bytes with which others check signatures."""

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.private = private
        self.public = self._key.public_key().public_bytes_raw()

    def draw_round(self) -> RoundOpened:
        """Draw a new round, its id and its secret, from the system's random source, and sign its commitment."""
        return self.commit(secrets.token_bytes(ROUND_ID_BYTES), secrets.token_bytes(SECRET_BYTES))

    def commit(self, round_id: bytes, secret: bytes) -> RoundOpened:
        """Return the round that is bound to this secret."""
        statement = commitment_statement(round_id, commit_secret(round_id, secret))
        return RoundOpened(round=round_id, secret=secret, signature=self._key.sign(statement))

    def sign(self, record: Record) -> Record:
        """Return the record under this key. Signing again gives the same bytes, in every process."""
        keyed = replace(record, key=self.public)
        return replace(keyed, signature=self._key.sign(record_statement(keyed.chain())))


class DeploymentKey:
    """The signing key of a deployment, which Redis holds for all its processes."""

    def __init__(self, redis: Redis, key: SigningKey) -> None:
        self._redis = redis
        self._key = key

    @property
    def public(self) -> bytes:
        """The 32 bytes with which others check signatures."""
        return self._key.public

    def draw_round(self) -> RoundOpened:
        """Draw a new round and sign its commitment, as `SigningKey.draw_round` does."""
        return self._key.draw_round()

    def commit(self, round_id: bytes, secret: bytes) -> RoundOpened:
        """Return the round that is bound to this secret, as `SigningKey.commit` does."""
        return self._key.commit(round_id, secret)

    def sign(self, record: Record) -> Record:
        """Return the record under this key, as `SigningKey.sign` does."""
        return self._key.sign(record)

    async def keep(self) -> None:
        """Give Redis the key again if it has lost it. Raises RedisError; safe to call again.

        If another process has stored a key of its own meanwhile, this process signs with that one from now on.
        """
        private = await load_private_key(self._redis, self._key.private)
        if private != self._key.private:
            self._key = SigningKey(private)
            _LOG.warning(Event.OTHER_KEY, key=self.public.hex())


async def load_deployment_key(redis: Redis) -> DeploymentKey:
    """Return the key that Redis holds, or a new one that is stored there. Raises RedisError."""
    return DeploymentKey(redis, SigningKey(await load_private_key(redis)))
