"""The record of an attempt at a daily deal: two lines of JSON, enough to replay and to prove it, offline.

The first line holds everything, the second one the server's signature over it. A text has one spelling: the one that
`DailyRecord.statement` writes.
"""

import json
from typing import Any, Final

from fairest_protocol.calculation.daily import (
    LIMIT_MS,
    AttemptScore,
    daily_round_id,
    daily_seed,
    day_start_ms,
    score_attempt,
)
from fairest_protocol.calculation.drand import DRAND_SIGNATURE_BYTES
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.record import MAX_LINE_BYTES, BadRecord
from fairest_protocol.calculation.rules import BadRules, Rules, find_variant
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.timed_moves import (
    TimedMove,
    read_bytes,
    read_moves,
    read_number,
    read_score,
    read_text,
    replay_moves,
)
from fairest_protocol.value import Value, replace

FORMAT: Final = 1
_HEAD: Final = '{"type":"attempt",'
_SEAL: Final = '{"type":"seal","signature":"'


class DailyRecord(Value):
    """The record of an attempt. `beacon_number` is the number of the entry whose chain is the `beacon`.

    In a deal by drand, `beacon_number` is the number of the drand round, and `drand` its signature.
    `key` is the public key of the server, and `signature` its signature.
    """

    attempt: str
    day: str
    rules: Rules
    name: str
    secret: bytes
    beacon_number: int
    beacon: bytes
    moves: tuple[TimedMove, ...]
    score: AttemptScore
    key: bytes = b""
    signature: bytes = b""
    drand: bytes = b""

    @property
    def round_id(self) -> bytes:
        """The round id of the deal."""
        return daily_round_id(self.day, self.rules)

    @property
    def commitment(self) -> bytes:
        """The commitment that the chain of rounds must have had before the day began."""
        return commit_secret(self.round_id, self.secret)

    @property
    def seed(self) -> bytes:
        """The seed of the deal."""
        return daily_seed(self.secret, self.beacon, self.round_id)

    def statement(self) -> str:
        """Return the first line, which the server signs."""
        score = self.score
        fields = {
            "type": "attempt",
            "format": FORMAT,
            "attempt": self.attempt,
            "day": self.day,
            "rules": self.rules.name,
            "name": self.name,
            "secret": self.secret.hex(),
            "beacon_number": self.beacon_number,
            "beacon": self.beacon.hex(),
            **({"drand": self.drand.hex()} if self.drand else {}),
            "moves": [[timed.at_ms, timed.move.text] for timed in self.moves],
            "won": score.won,
            "placed": score.placed,
            "direct": score.direct,
            "time_ms": score.time_ms,
            "key": self.key.hex(),
        }
        return json.dumps(fields, separators=(",", ":"))

    def text(self) -> str:
        """Return both lines, each with a line feed behind it, as a file has them."""
        return f'{self.statement()}\n{_SEAL}{self.signature.hex()}"}}\n'

    def replay(self) -> Race:
        """Return the race after all moves. Raises `BadRecord` for a move that the rules or the limit forbid."""
        return replay_moves(self.rules, self.seed, self.moves, LIMIT_MS)

    def check(self) -> None:
        """Check that the moves lead to the score. Raises `BadRecord`."""
        score = score_attempt(self.replay(), self.moves[-1].at_ms if self.moves else 0)
        if score != self.score:
            raise BadRecord(f"the moves lead to {score}, not to {self.score}")


def is_daily_record(text: str) -> bool:
    """Return whether a text means to be the record of an attempt at a daily deal."""
    return text.startswith(_HEAD)


def parse_daily_record(text: str) -> DailyRecord:
    """Parse the record of an attempt, and check that its moves lead to its score. The signature is not checked.

    Raises `BadRecord`.
    """
    if len(text) > 2 * MAX_LINE_BYTES or text.count("\n") != 2:
        raise BadRecord("the record of an attempt has two lines")
    first, second, _ = text.split("\n")
    try:
        fields, seal = json.loads(first), json.loads(second)
        record = replace(_read(fields), signature=bytes.fromhex(seal["signature"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, BadRules) as reason:
        raise BadRecord(f"it is not the record of an attempt: {reason!r}") from reason
    if record.text() != text:
        raise BadRecord("it is not written as the record of an attempt is")
    record.check()
    return record


def _read(fields: dict[str, Any]) -> DailyRecord:
    day_start_ms(fields["day"])
    return DailyRecord(
        attempt=read_text(fields["attempt"], "[0-9a-f]{32}"),
        day=fields["day"],
        rules=find_variant(fields["rules"]).rules,
        name=read_text(fields["name"], "[A-Za-z0-9_-]{2,20}"),
        secret=read_bytes(fields["secret"], 32),
        beacon_number=read_number(fields["beacon_number"]),
        beacon=read_bytes(fields["beacon"], 32),
        moves=read_moves(fields["moves"]),
        score=read_score(fields),
        key=read_bytes(fields["key"], 32),
        drand=read_bytes(fields["drand"], DRAND_SIGNATURE_BYTES) if "drand" in fields else b"",
    )
