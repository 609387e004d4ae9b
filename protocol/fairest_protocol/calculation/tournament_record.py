"""The record of one player's race in a tournament: two lines of JSON, enough to replay and to prove it, offline.

The first line holds everything, the second one the server's signature over it. A text has one spelling: the one that
`TournamentRecord.statement` writes.
"""

import json
from typing import Any, Final

from fairest_protocol.calculation.daily import AttemptScore, score_attempt
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.record import MAX_LINE_BYTES, BadRecord
from fairest_protocol.calculation.rules import Rules, find_variant
from fairest_protocol.calculation.seal import commit_secret, hash_tournament_round
from fairest_protocol.calculation.timed_moves import (
    TimedMove,
    read_bytes,
    read_moves,
    read_number,
    read_score,
    read_text,
    replay_moves,
)
from fairest_protocol.calculation.tournament import MOST_PLAYERS, tournament_seed
from fairest_protocol.value import Value, replace

FORMAT: Final = 1
_HEAD: Final = '{"type":"tournament_race",'
_SEAL: Final = '{"type":"seal","signature":"'
_NAME: Final = "[A-Za-z0-9_-]{2,20}"


class TournamentRecord(Value):
    """The record of a race in the round `number` of a tournament. `entropies` are those of all who were ready, by name.

    `key` is the public key of the server, and `signature` its signature.
    """

    tournament: bytes
    code: str
    number: int
    rules: Rules
    limit_seconds: int
    name: str
    secret: bytes
    entropies: tuple[tuple[str, bytes], ...]
    moves: tuple[TimedMove, ...]
    score: AttemptScore
    key: bytes = b""
    signature: bytes = b""

    @property
    def round_id(self) -> bytes:
        """The round id of the deal."""
        return hash_tournament_round(self.tournament, self.number)

    @property
    def commitment(self) -> bytes:
        """The commitment that the chain of rounds must have had before anybody was ready."""
        return commit_secret(self.round_id, self.secret)

    @property
    def seed(self) -> bytes:
        """The seed of the deal."""
        return tournament_seed(self.secret, self.entropies, self.round_id)

    def statement(self) -> str:
        """Return the first line, which the server signs."""
        score = self.score
        fields = {
            "type": "tournament_race",
            "format": FORMAT,
            "tournament": self.tournament.hex(),
            "code": self.code,
            "round": self.number,
            "rules": self.rules.name,
            "limit_seconds": self.limit_seconds,
            "name": self.name,
            "secret": self.secret.hex(),
            "entropies": [[name, entropy.hex()] for name, entropy in self.entropies],
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
        return replay_moves(self.rules, self.seed, self.moves, self.limit_seconds * 1000)

    def check(self) -> None:
        """Check the names of the entropies, and that the moves lead to the score. Raises `BadRecord`."""
        names = [name for name, _ in self.entropies]
        if names != sorted(set(names)) or self.name not in names or len(names) > MOST_PLAYERS:
            raise BadRecord("the entropies are not those of the player and others, one for each name, in order")
        last_ms = self.moves[-1].at_ms if self.moves else 0
        score = score_attempt(self.replay(), last_ms, self.limit_seconds * 1000)
        if score != self.score:
            raise BadRecord(f"the moves lead to {score}, not to {self.score}")


def is_tournament_record(text: str) -> bool:
    """Return whether a text means to be the record of a race in a tournament."""
    return text.startswith(_HEAD)


def parse_tournament_record(text: str) -> TournamentRecord:
    """Parse the record of a race in a tournament, and check that its moves lead to its score, not its signature.

    Raises `BadRecord`.
    """
    if len(text) > 2 * MAX_LINE_BYTES or text.count("\n") != 2:
        raise BadRecord("the record of a race in a tournament has two lines")
    first, second, _ = text.split("\n")
    try:
        fields, seal = json.loads(first), json.loads(second)
        record = replace(_read(fields), signature=bytes.fromhex(seal["signature"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
        raise BadRecord(f"it is not the record of a race in a tournament: {reason!r}") from reason
    if record.text() != text:
        raise BadRecord("it is not written as the record of a race in a tournament is")
    record.check()
    return record


def _read(fields: dict[str, Any]) -> TournamentRecord:
    number, limit_seconds = read_number(fields["round"]), read_number(fields["limit_seconds"])
    if not 1 <= number < 2**16 or not 1 <= limit_seconds <= 7_200:
        raise ValueError("there is no such round, or no such limit")
    return TournamentRecord(
        tournament=read_bytes(fields["tournament"], 16),
        code=read_text(fields["code"], "[a-z]+(-[a-z]+){1,5}"),
        number=number,
        rules=find_variant(fields["rules"]).rules,
        limit_seconds=limit_seconds,
        name=read_text(fields["name"], _NAME),
        secret=read_bytes(fields["secret"], 32),
        entropies=tuple((read_text(name, _NAME), read_bytes(entropy, 32)) for name, entropy in fields["entropies"]),
        moves=read_moves(fields["moves"]),
        score=read_score(fields),
        key=read_bytes(fields["key"], 32),
    )
