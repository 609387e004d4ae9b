"""The screen or the room that the full-screen program opens with: the command line as a value."""

from fairest_cli.analysis.ghost import GhostRace
from fairest_cli.bots.levels import Level
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.model.practice import Practice
from fairest_cli.session.websocket import EntryRequest
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.tournaments import CreateTournament, JoinTournament, WatchTournament
from fairest_protocol.value import Value


class AtHome(Value):
    """The home screen. Rooms are created and joined on `server`, under `name`."""

    server: str = DEFAULT_SERVER
    name: str | None = None


class InLobby(Value):
    """The lobby of a server."""

    server: str = DEFAULT_SERVER
    name: str | None = None


class OnTv(Value):
    """One match of a server after the other, for a spectator."""

    server: str = DEFAULT_SERVER
    name: str | None = None


class InRoom(Value):
    """A room, in a seat of it or as a spectator."""

    request: EntryRequest
    server: str = DEFAULT_SERVER
    name: str | None = None


class AgainstBot(Value):
    """A race against a bot on a server that the program starts itself."""

    level: Level
    options: RoomOptions


class AgainstGhost(Value):
    """A race against a ghost, before its first move."""

    ghost: GhostRace


class AtReplay(Value):
    """The replay of a match."""

    record: Record


class InPractice(Value):
    """A practice game."""

    game: Practice


class InDaily(Value):
    """The attempt at the daily deal of a variant."""

    rules: Rules
    server: str = DEFAULT_SERVER
    name: str | None = None


class InTournament(Value):
    """A tournament, created, entered or watched."""

    entering: CreateTournament | JoinTournament | WatchTournament
    server: str = DEFAULT_SERVER
    name: str | None = None


Online = AtHome | InLobby | OnTv | InRoom | InDaily | InTournament
"""The starts that name a server and a player."""
Start = AtHome | InLobby | OnTv | InRoom | AgainstBot | AgainstGhost | AtReplay | InPractice | InDaily | InTournament
