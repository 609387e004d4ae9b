"""Tournaments on the wire: the requests of players and spectators, and what everybody is shown of a tournament."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from fairest_protocol.calculation.tournament import MOST_PLAYERS, MOST_ROUNDS
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import (
    Answer,
    ChosenId,
    Hash,
    MatchId,
    MoveText,
    Name,
    RoomCode,
    RoundId,
    RulesName,
    Secret,
    ServerMessage,
    TimeMs,
    WithId,
)
from fairest_protocol.messages.rivals import RivalLevel


class TournamentFormat(StrEnum):
    """How the players of a tournament are paired."""

    SWISS = "swiss"
    """Those with about as many points, never the same two again where that is possible."""
    ROUND_ROBIN = "round_robin"
    """Each with each other once."""
    KNOCKOUT = "knockout"
    """Those who have won all their races so far."""


class TournamentPhase(StrEnum):
    """Where a tournament stands."""

    OPEN = "open"
    """Players enter, until its creator starts it."""
    FILLING = "filling"
    """Rivals enter."""
    GATHERING = "gathering"
    """A round is paired, and its players get ready."""
    REVEALING = "revealing"
    """The players who are ready show their entropies."""
    RACING = "racing"
    OVER = "over"
    CANCELLED = "cancelled"


RoundNumber = Annotated[int, Field(ge=1, le=MOST_PLAYERS)]
"""The number of a round in its tournament, from 1."""
_Count = Annotated[int, Field(ge=0)]


class CreateTournament(WithId):
    """Create a tournament, and enter it; the answer is `tournament`, as to the five below. Only with the capability
    `tournaments`.

    `rounds` null: as many as the format needs. `most_players` may enter. With `rival_level`, rivals fill it up to
    `most_players` when it is started. A player has `ready_seconds` to get ready for a round, and `limit_seconds` for a
    race. The same `key` again leads to the same tournament.
    """

    type: Literal["create_tournament"] = "create_tournament"
    rules: RulesName = "classic"
    format: Annotated[TournamentFormat, Field(strict=False)] = TournamentFormat.SWISS
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = None
    most_players: Annotated[int, Field(ge=2, le=MOST_PLAYERS)] = 16
    rival_level: RivalLevel | None = None
    ready_seconds: Annotated[int, Field(ge=5, le=3600)] = 120
    limit_seconds: Annotated[int, Field(ge=30, le=3600)] = 1200
    key: ChosenId | None = None


class JoinTournament(WithId):
    """Enter a tournament that has not begun."""

    type: Literal["join_tournament"] = "join_tournament"
    tournament: RoomCode


class LeaveTournament(WithId):
    """Leave a tournament: before it begins as if one had never entered, later for good."""

    type: Literal["leave_tournament"] = "leave_tournament"
    tournament: RoomCode


class StartTournament(WithId):
    """Start a tournament; only its creator may."""

    type: Literal["start_tournament"] = "start_tournament"
    tournament: RoomCode


class WatchTournament(WithId):
    """Ask for a tournament. `version` is the newest one that is known; while there is no newer one, the answer is
    `tournament_tick`. Ask about once a second.
    """

    type: Literal["watch_tournament"] = "watch_tournament"
    tournament: RoomCode
    version: Annotated[int, Field(ge=0, lt=2**31)] = 0


class ReadyTournament(WithId):
    """Get ready for a round, bound to the entropy behind this hash."""

    type: Literal["ready_tournament"] = "ready_tournament"
    tournament: RoomCode
    round: RoundNumber
    entropy_hash: Hash


class RevealTournament(WithId):
    """Show the entropy, once the hashes of all who are ready are shown."""

    type: Literal["reveal_tournament"] = "reveal_tournament"
    tournament: RoomCode
    round: RoundNumber
    entropy: Secret


class RaceTournament(WithId):
    """Begin the race of a round, or come back to it; the answer is `tournament_race`."""

    type: Literal["race_tournament"] = "race_tournament"
    tournament: RoomCode
    round: RoundNumber


class PlayTournament(WithId):
    """A move in the race of a round. `number` counts the accepted moves of the race, from 1."""

    type: Literal["play_tournament"] = "play_tournament"
    tournament: RoomCode
    round: RoundNumber
    number: Annotated[int, Field(ge=1, le=100_000)]
    move: MoveText


class RaceScore(ServerMessage):
    """The score of a race that has ended, by which the races of a pair are compared: in the order of these fields."""

    won: bool
    placed: _Count
    direct: _Count
    time_ms: TimeMs


class Standing(ServerMessage):
    """A player of a tournament: its rank, and that by which it is ranked, in the order of these fields.

    `points` are 2 for a win, a bye or a walkover, 1 for a tie. `placed` and `direct` are added up over the rounds,
    `buchholz` is the sum of the opponents' points.
    """

    rank: Annotated[int, Field(ge=1)]
    name: Name
    points: _Count
    placed: _Count
    direct: _Count
    buchholz: _Count
    has_left: bool


class TournamentPair(ServerMessage):
    """The opponents of a round, with the second one null for a bye. `points` are null until the round is over; a score
    is null for a player who did not race.
    """

    names: tuple[Name, Name | None]
    points: tuple[_Count, _Count] | None
    scores: tuple[RaceScore | None, RaceScore | None]


class ReadyEntrant(ServerMessage):
    """A player who is ready for a round: the hash of its entropy, and the entropy once it is shown."""

    name: Name
    entropy_hash: Hash
    entropy: Secret | None


class TournamentRound(ServerMessage):
    """A round. `ready` and `started_ms` are there for the newest one, `secret` when the round is over."""

    number: RoundNumber
    round: RoundId
    commitment: Hash
    pairs: tuple[TournamentPair, ...]
    ready: tuple[ReadyEntrant, ...]
    started_ms: TimeMs | None
    secret: Secret | None


class TournamentNews(Answer):
    """What all answers about a tournament have: its code, its version, and the time on the server's clock."""

    code: RoomCode
    version: _Count
    now_ms: TimeMs


class Tournament(TournamentNews):
    """A tournament as everybody is shown it, also by `GET /tournaments/CODE`.

    `tournament` is its id. `rounds` is null until it has begun. `until_ms` is the time at which the phase ends by
    itself, if it does. `wanted` is the number of rivals that may enter now.
    """

    type: Literal["tournament"] = "tournament"
    tournament: MatchId
    phase: Annotated[TournamentPhase, Field(strict=False)]
    creator: Name
    rules: RulesName
    format: Annotated[TournamentFormat, Field(strict=False)]
    rounds: _Count | None
    most_players: _Count
    rival_level: RivalLevel | None
    wanted: _Count
    ready_seconds: _Count
    limit_seconds: _Count
    until_ms: TimeMs | None
    standings: tuple[Standing, ...]
    played: tuple[TournamentRound, ...]


class RunningCount(ServerMessage):
    """How many cards a player has placed in the race of the round under way, and whether that race has ended."""

    name: Name
    placed: _Count
    ended: bool


class TournamentTick(TournamentNews):
    """The answer to `watch_tournament` while nothing has changed but the counts of the races under way."""

    type: Literal["tournament_tick"] = "tournament_tick"
    counts: tuple[RunningCount, ...]


class TournamentRace(Answer):
    """The answer to `race_tournament`, with all entries of the race, and to `play_tournament`, with those of the move.

    The entries are those of a room's view in seat 0. `moves` counts the moves accepted so far; `result` is there once
    the race has ended.
    """

    type: Literal["tournament_race"] = "tournament_race"
    code: RoomCode
    round: RoundNumber
    until_ms: TimeMs
    now_ms: TimeMs
    moves: _Count
    entries: tuple[Entry, ...]
    result: RaceScore | None


class ListedTournament(ServerMessage):
    """A tournament in the list. `winners` are the players of the first rank, once it is over."""

    code: RoomCode
    phase: Annotated[TournamentPhase, Field(strict=False)]
    creator: Name
    rules: RulesName
    format: Annotated[TournamentFormat, Field(strict=False)]
    players: _Count
    most_players: _Count
    round: _Count
    wanted: _Count
    rival_level: RivalLevel | None
    winners: tuple[Name, ...] = ()


class TournamentList(ServerMessage):
    """The answer to `GET /tournaments`: those that are open or under way, at most a hundred, the newest first.

    `ended` are the thirty that have ended last, which an older server does not list.
    """

    type: Literal["tournaments"] = "tournaments"
    tournaments: tuple[ListedTournament, ...]
    ended: tuple[ListedTournament, ...] = ()


TournamentRequest = (
    CreateTournament
    | JoinTournament
    | LeaveTournament
    | StartTournament
    | WatchTournament
    | ReadyTournament
    | RevealTournament
    | RaceTournament
    | PlayTournament
)
"""A message of a client about a tournament."""
