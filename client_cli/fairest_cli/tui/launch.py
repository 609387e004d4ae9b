"""Where the full-screen face begins: what was typed behind `fairest`, as a value."""

from pathlib import Path

from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.from_client import Create, Join, Watch
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import Value


class AtHome(Value):
    """The home screen. Rooms are created and joined on this server, under this name."""

    server: str = DEFAULT_SERVER
    name: str | None = None


class InLobby(Value):
    """The lobby of a server."""

    server: str = DEFAULT_SERVER
    name: str | None = None


class InRoom(Value):
    """A room, in a seat of it or as a spectator."""

    request: Create | Join | Watch
    server: str = DEFAULT_SERVER
    name: str | None = None


class AgainstHouse(Value):
    """A race against a house bot on a server of our own."""

    level: str
    options: RoomOptions


class AtReplay(Value):
    """The record of a match."""

    record: Record
    path: Path | None = None


Start = AtHome | InLobby | InRoom | AgainstHouse | AtReplay
