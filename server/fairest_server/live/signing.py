"""The key with which a deployment signs commitments and records (Ed25519), so that it can be held to them."""

import secrets
from collections.abc import Iterator
from typing import Final

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.seal import (
    ROUND_ID_BYTES,
    SECRET_BYTES,
    commit_secret,
    daily_statement,
    record_statement,
    round_statement,
    rounds_head_statement,
    tournament_statement,
)
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.messages.rounds import RoundsHead
from fairest_protocol.value import replace
from fairest_server.ops.events import Event
from fairest_server.room.events import RoundOpened
from fairest_server.store import keys
from fairest_server.store.signing_key import copy_private_key, load_private_key, read_copied_key

_LOG = structlog.get_logger(__name__)


class SigningKey:
    """A private key, from its 32 bytes. `public` has the 32 bytes with which others check signatures."""

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.private = private
        self.public = self._key.public_key().public_bytes_raw()

    def draw_round(self, room: str, match_id: bytes | None, number: int, terms: str) -> RoundOpened:
        """Draw a new round, its id and its secret, from the system's random source, and sign it with its place.

        `room` is the code of its room.
        """
        round_id, secret = keys.round_id(room, secrets.token_bytes(ROUND_ID_BYTES)), secrets.token_bytes(SECRET_BYTES)
        return self.open_round(round_id, secret, match_id, number, terms)

    def open_round(
        self, round_id: bytes, secret: bytes, match_id: bytes | None, number: int, terms: str
    ) -> RoundOpened:
        """Return the round that is bound to this secret, to its match and number, and to the terms of its room.

        A `match_id` of None is that of a round that begins a match.
        """
        commitment = commit_secret(round_id, secret)
        statement = round_statement(round_id, commitment, match_id or round_id, number, terms)
        return RoundOpened(round=round_id, secret=secret, signature=self._key.sign(statement))

    def sign_head(self, number: int, chain: bytes, at_ms: int) -> RoundsHead:
        """Return the head of the chain of rounds under this key."""
        signature = self._key.sign(rounds_head_statement(number, chain, at_ms))
        return RoundsHead(number=number, chain=chain, at_ms=at_ms, signature=signature)

    def sign(self, record: Record) -> Record:
        """Return the record under this key. Signing again gives the same bytes, in every process."""
        keyed = replace(record, key=self.public)
        return replace(keyed, signature=self._key.sign(record_statement(keyed.chain())))

    def sign_attempt(self, record: DailyRecord) -> DailyRecord:
        """Return the record of an attempt at a daily deal under this key."""
        keyed = replace(record, key=self.public)
        return replace(keyed, signature=self._key.sign(daily_statement(keyed.statement())))

    def sign_race(self, record: TournamentRecord) -> TournamentRecord:
        """Return the record of a race in a tournament under this key."""
        keyed = replace(record, key=self.public)
        return replace(keyed, signature=self._key.sign(tournament_statement(keyed.statement())))

    def sign_lines(self, record: Record) -> Iterator[str]:
        """Yield the lines of the record under this key, without line ends: those of `sign`, at half of the cost."""
        keyed = replace(record, key=self.public)
        return keyed.lines_signed_by(lambda chain: self._key.sign(record_statement(chain)))


COPY_STRIDE: Final = 60
"""The copies of the key on a Cluster are written each time that it was kept so often, and when it is kept first."""


class DeploymentKey:
    """The signing key of a deployment, which Redis holds for all its processes."""

    def __init__(self, redis: Redis, key: SigningKey) -> None:
        self._redis = redis
        self._key = key
        self._kept = 0
        """How often `keep` was called."""

    @property
    def public(self) -> bytes:
        """The 32 bytes with which others check signatures."""
        return self._key.public

    def draw_round(self, room: str, match_id: bytes | None, number: int, terms: str) -> RoundOpened:
        """Draw a new round and sign it, as `SigningKey.draw_round` does."""
        return self._key.draw_round(room, match_id, number, terms)

    def open_round(
        self, round_id: bytes, secret: bytes, match_id: bytes | None, number: int, terms: str
    ) -> RoundOpened:
        """Return the round that is bound to all this, as `SigningKey.open_round` does."""
        return self._key.open_round(round_id, secret, match_id, number, terms)

    def sign_head(self, number: int, chain: bytes, at_ms: int) -> RoundsHead:
        """Return the head of the chain of rounds under this key, as `SigningKey.sign_head` does."""
        return self._key.sign_head(number, chain, at_ms)

    def sign(self, record: Record) -> Record:
        """Return the record under this key, as `SigningKey.sign` does."""
        return self._key.sign(record)

    def sign_attempt(self, record: DailyRecord) -> DailyRecord:
        """Return the record of an attempt at a daily deal under this key."""
        return self._key.sign_attempt(record)

    def sign_race(self, record: TournamentRecord) -> TournamentRecord:
        """Return the record of a race in a tournament under this key."""
        return self._key.sign_race(record)

    def sign_lines(self, record: Record) -> Iterator[str]:
        """Yield the lines of the record under this key, as `SigningKey.sign_lines` does."""
        return self._key.sign_lines(record)

    async def keep(self) -> None:
        """Give Redis the key again if it has lost it. Raises RedisError; safe to call again.

        If another process has stored a key of its own meanwhile, this process signs with that one from now on. The
        copies on a Cluster are written again with a new key, and now and then.
        """
        private = await load_private_key(self._redis, self._key.private)
        is_other = private != self._key.private
        if is_other:
            self._key = SigningKey(private)
            _LOG.warning(Event.OTHER_KEY, key=self.public.hex())
        if is_other or self._kept % COPY_STRIDE == 0:
            await copy_private_key(self._redis, private)
        self._kept += 1


async def load_deployment_key(redis: Redis) -> DeploymentKey:
    """Return the key that Redis holds, or a new one that is stored there. Raises RedisError.

    If the node of the key in a Cluster is away, the key is that of the copies.
    """
    try:
        return DeploymentKey(redis, SigningKey(await load_private_key(redis)))
    except (RedisError, OSError) as reason:
        private = await read_copied_key(redis)
        if private is None:
            raise
        _LOG.warning(Event.COPIED_KEY, reason=str(reason))
        return DeploymentKey(redis, SigningKey(private))
