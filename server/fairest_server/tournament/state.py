"""A tournament at one moment: a value, which Redis keeps as text."""

from collections.abc import Mapping
from typing import Final

import msgspec

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.rules import Rules, find_variant
from fairest_protocol.calculation.seal import commit_secret, hash_tournament_round
from fairest_protocol.messages.tournaments import TournamentFormat, TournamentPhase
from fairest_protocol.value import Value

FILLING_SECONDS: Final = 15
"""The time that rivals have to enter a tournament that was started."""
REVEALING_SECONDS: Final = 20
"""The time to show the entropy, which a client does by itself, and a second more for each promise of the round.

Of 128 players on two busy cores, the last one had shown it after 13 s, and on busier ones after more than 20 s.
"""
COUNTDOWN_MS: Final = 4_000
"""The time from the deal of a round to the start of its races."""
ENDED: Final = (TournamentPhase.OVER, TournamentPhase.CANCELLED)


class Options(Value):
    """The options of a tournament, as `create_tournament` has them; `rounds` 0 stands for as many as needed."""

    rules: str
    format: TournamentFormat
    rounds: int
    most_players: int
    rival_level: str | None
    ready_seconds: int
    limit_seconds: int


class Entrant(Value):
    """A player who has entered. `player_id` is the hash of its token."""

    player_id: str
    name: str
    has_left: bool = False


class Promise(Value):
    """The hash of an entropy that makes a player ready for a round, and the entropy once it is shown."""

    name: str
    entropy_hash: bytes
    entropy: bytes | None = None


class Pair(Value):
    """Two opponents, or one with a bye; `points` are those of both once the round is over."""

    first: str
    second: str | None
    points: tuple[int, int] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the one or two players."""
        return (self.first,) if self.second is None else (self.first, self.second)


class Round(Value):
    """A round: its secret and pairs, the promises of those who are ready, and the scores once it is over.

    `started_ms` is the start of its races, 0 before the cards are dealt.
    """

    number: int
    secret: bytes
    pairs: tuple[Pair, ...]
    promises: tuple[Promise, ...] = ()
    started_ms: int = 0
    scores: Mapping[str, AttemptScore] = {}
    is_over: bool = False

    @property
    def racers(self) -> tuple[str, ...]:
        """The names of the players who have shown their entropy, in order: they race if the cards are dealt."""
        return tuple(sorted(promise.name for promise in self.promises if promise.entropy is not None))

    @property
    def shown(self) -> tuple[tuple[str, bytes], ...]:
        """The entropies that were shown, by their players, in order."""
        return tuple(sorted((each.name, each.entropy) for each in self.promises if each.entropy is not None))


class Tournament(Value):
    """A tournament. `entrants` are in the order in which they entered, and drawn anew when it begins.

    `since_ms` is the time at which its phase began, `version` counts its changes.
    """

    code: str
    tournament_id: bytes
    creator: str
    options: Options
    since_ms: int
    entrants: tuple[Entrant, ...]
    phase: TournamentPhase = TournamentPhase.OPEN
    rounds_planned: int = 0
    rounds: tuple[Round, ...] = ()
    version: int = 1

    @property
    def rules(self) -> Rules:
        """The rules of its races."""
        return find_variant(self.options.rules).rules

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the players who have not left."""
        return tuple(entrant.name for entrant in self.entrants if not entrant.has_left)

    @property
    def newest(self) -> Round:
        """The newest round of a tournament that has begun."""
        return self.rounds[-1]

    def entrant_of(self, player_id: str) -> Entrant | None:
        """Return the entrant that this player is, None if it has not entered."""
        return next((each for each in self.entrants if each.player_id == player_id), None)

    def player_id_of(self, name: str) -> str:
        """Return the id of the player of this name. Raises StopIteration if it has not entered."""
        return next(each.player_id for each in self.entrants if each.name == name)

    def round_id(self, number: int) -> bytes:
        """Return the round id of the round with this number."""
        return hash_tournament_round(self.tournament_id, number)

    def commitment(self, played: Round) -> bytes:
        """Return the commitment to the secret of a round."""
        return commit_secret(self.round_id(played.number), played.secret)

    def text(self) -> bytes:
        """Return the tournament as Redis keeps it."""
        return _ENCODER.encode(self)


def parse_tournament(text: bytes) -> Tournament:
    """Return the tournament that `Tournament.text` has written. Raises `msgspec.DecodeError`."""
    return _DECODER.decode(text)


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[Tournament]] = msgspec.json.Decoder(Tournament)
