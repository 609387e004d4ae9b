"""Every key in Redis: its name, what it holds, and how long it lives. docs/operations.md says the same to operators.

A room's keys carry the hash tag of its bucket, so that one script may touch them all on a Cluster.
"""

import zlib
from typing import Final

from fairest_protocol.value import Value

BUCKETS: Final = 16
"""Rooms are spread over this many hash tags. Changing it orphans the rooms of a running deployment."""

PLAYER_SECONDS: Final = 400 * 86_400
"""A player is remembered for so long after its last hello."""
NEW_PLAYER_SECONDS: Final = 7 * 86_400
"""The same before its second hello: most who come once never come again."""
OPENED_SECONDS: Final = 600
"""How long it is remembered how many rooms a player has opened."""
NAME_SECONDS: Final = 86_400
"""A name is in use for this long after its player's last hello."""
RECORD_SECONDS: Final = 400 * 86_400
"""The record of a finished match."""
PROCESS_SECONDS: Final = 3
"""A server process counts as alive for this long after its last beat."""
PAUSE_MS: Final = 3_000
"""Nobody's beat for this long means that Redis or all servers were away, and that clocks stood still."""
PAUSES_KEPT: Final = 50
"""Rooms take account of a pause when they are next looked at; older ones than these are of another year."""

SIGNING_KEY: Final = "fairest:key"
"""String: the private key of this deployment, 32 bytes, made by the first process that starts. Lives for ever."""
PROCESSES: Final = "fairest:{processes}:alive"
"""Sorted set: the server processes by their last beat. One that lapsed leaves it when its rooms know."""
LAST_BEAT: Final = "fairest:{processes}:beat"
"""String: when any process last beat, in ms. Lives for ever."""
PAUSES: Final = "fairest:{processes}:pauses"
"""List: times without any beat, the last PAUSES_KEPT of them. Lives for ever."""


def bucket(room: str) -> int:
    """The bucket of a room."""
    return zlib.crc32(room.encode()) % BUCKETS


def log(room: str) -> str:
    """Stream: the room's log. Lives until the room is closed, then for `--closed-room-seconds`."""
    return f"fairest:{{{bucket(room)}}}:log:{room}"


def deadlines(number: int) -> str:
    """Sorted set of a bucket: rooms by when somebody has to look at them. A closed room leaves it."""
    return f"fairest:{{{number}}}:deadlines"


def lobby(number: int) -> str:
    """Hash of a bucket: listed rooms, each with its line in the lobby. A room that is empty or closed leaves it."""
    return f"fairest:{{{number}}}:lobby"


def wakeup_channel(room: str) -> str:
    """Channel: entries just appended to the room's log, for the other processes that follow it."""
    return f"fairest:{{{bucket(room)}}}:wake:{room}"


class RoomKeys(Value):
    """The keys that an append to a room's log may touch: made once for a room, not for each of its appends."""

    log: str
    deadlines: str
    lobby: str
    wakeup_channel: str


def of_room(room: str) -> RoomKeys:
    """The keys of a room and of its bucket."""
    number = bucket(room)
    return RoomKeys(log(room), deadlines(number), lobby(number), wakeup_channel(room))


def keepalive_channel(number: int) -> str:
    """Channel of a bucket on which nothing is ever told: who follows no room yet has a subscription all the same."""
    return f"fairest:{{{number}}}:quiet"


def attached_rooms(process_id: str) -> str:
    """Set: rooms in which this process may speak for somebody. Goes with the process."""
    return f"fairest:{{processes}}:rooms:{process_id}"


def player(player_id: str) -> str:
    """Hash: a player's name, under the hash of its token. Lives for NEW_PLAYER_SECONDS from the player's first hello,
    and for PLAYER_SECONDS from every later one.
    """
    return f"fairest:player:{player_id}"


def opened(player_id: str) -> str:
    """String: how many rooms this player has opened lately. Lives for OPENED_SECONDS from the first."""
    return f"fairest:opened:{player_id}"


def name(text: str) -> str:
    """String: which player uses this name, whatever its case. Lives for NAME_SECONDS from its player's last hello."""
    return f"fairest:name:{text.lower()}"


def record(match_id: str) -> str:
    """String: the record of a finished match, as the lines of its file. Lives for RECORD_SECONDS."""
    return f"fairest:record:{match_id}"
