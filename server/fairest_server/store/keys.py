"""Every key in Redis: its name, its content, and how long it lives. docs/operations.md lists the same for operators.

A room's keys carry the hash tag of its bucket, so that one script may use all of them on a Cluster.
"""

import zlib
from typing import Final

from fairest_protocol.value import Value

BUCKETS: Final = 16
"""Rooms are spread over this many hash tags. Changing it orphans the rooms of a running deployment, and the last
hexadecimal digit of a match's id is the number of one.
"""

PLAYER_SECONDS: Final = 400 * 86_400
"""How long a player is kept after its last hello."""
NEW_PLAYER_SECONDS: Final = 7 * 86_400
"""How long a player is kept before its second hello: most players never come a second time."""
OPENED_SECONDS: Final = 600
"""The time in which the rooms that a player opens, or everybody at an address, are counted."""
PLAYER_ROOMS_SECONDS: Final = 7 * 86_400
"""How long the rooms of a player are kept after it was last given a seat, or its last hello."""
PLAYER_ROOMS_KEPT: Final = 32
"""Number of rooms kept of a player; more than `welcome` lists, since some are closed."""
NAME_SECONDS: Final = 86_400
"""How long a name is reserved after its player's last hello."""
RECORD_SECONDS: Final = 400 * 86_400
"""How long the record of a finished match is kept, and a daily deal with its table and attempts."""
MATCHES_KEPT: Final = 500
"""Number of matches that each list of finished matches of a bucket keeps, the newest of them."""
RATED_SECONDS: Final = RECORD_SECONDS
"""How long the ratings of a player are kept after its last rated round, and the scores of a pair."""
RESULTS_KEPT: Final = 1_000_000
"""Number of rated matches, the newest, from which ratings can be computed again; about 320 bytes each."""
RATED_DAYS: Final = 30
"""A match that finished longer ago is not rated any more, so the marks of rated matches need not be kept for longer."""
LAPSE_MS: Final = 3_000
"""How long a server process counts as alive after its last heartbeat."""
PUBLIC_COUNTS_SECONDS: Final = 15
"""How long the public counts that a process has written are kept."""
PAUSE_MS: Final = 3_000
"""The shortest time without a heartbeat of any process that counts as a pause, in which all clocks stood still."""
SILENCE_MS: Final = 1_500
"""The time between two heartbeats, of any processes, that counts towards the lapse of another one; the rest of a longer
time does not. Heartbeats come every second, so no process could send one then: Redis was silent, or its clock was set.
"""
PAUSES_KEPT: Final = 50
"""Number of pauses kept. A room applies missed ones when it is next opened; 50 cover more than any room's lifetime."""

CONTROL_KEPT: Final = 1_000
"""Number of requests of the operator that are kept."""
CONTROL_SECONDS: Final = 5
"""A request of the operator that no process has read by then is not carried out any more."""
CONTROL_ANSWER_SECONDS: Final = 60
"""How long the answers to a request of the operator are kept."""

SIGNING_KEY: Final = "fairest:key"
"""String: the private key of this deployment, 32 bytes, made by the first process that starts. Never expires."""
RESTORING: Final = "fairest:restoring"
"""String: the hash of the backup that is being restored. No server starts while it is there. Deleted at the end."""
PROCESSES: Final = "fairest:{processes}:alive"
"""Sorted set: server processes by the time of their last heartbeat. A lapsed one is removed once its rooms are told."""
LAST_HEARTBEAT: Final = "fairest:{processes}:beat"
"""String: the time of the last heartbeat of any process, in ms. Never expires."""
PAUSES: Final = "fairest:{processes}:pauses"
"""List: times without a heartbeat, the last PAUSES_KEPT of them. Never expires."""

CONTROL: Final = "fairest:{processes}:control"
"""Stream: requests of the operator to the server processes, the last CONTROL_KEPT of them. Expires
CONTROL_ANSWER_SECONDS after the last request.
"""
BANS: Final = "fairest:{processes}:bans"
"""Hash: banned players and networks, each with its ban, and in the field `version` how often they were changed. A ban
that is over is removed with the next change.
"""
RENAMED_SECONDS: Final = 30 * 86_400
"""How long nobody may take a name that the operator has taken from a player."""

TICKETS: Final = "fairest:{queue}:tickets"
"""Hash: the players who wait for an opponent, each with its ticket. One is removed when its player has got a seat,
leaves the queue or is gone. Never expires.
"""
LAST_OPPONENT_SECONDS: Final = 3_600
"""How long it is known of a player with whom it was paired last."""

ROUND_CHAIN: Final = "fairest:{rounds}:chain"
"""Stream: the chain of rounds, whose entry `N-0` has the number N; the newest `--rounds-kept` are kept. Never expires.
"""
CHAINED_ROUNDS: Final = "fairest:{rounds}:chained"
"""Hash: entries that the chain has and that are still in the outbox of a bucket, with the time at which they joined it.
An entry is removed after it was removed there.
"""
ROUND_WRITER: Final = "fairest:{rounds}:writer"
"""String: the process that extends the chain of rounds. Expires after ROUND_WRITER_SECONDS."""
ROUND_WRITER_SECONDS: Final = 3
"""How long a process that extends the chain keeps that task without saying so again."""

RATED_RESULTS: Final = "fairest:{ratings}:results"
"""Stream: rated matches in the order in which they were rated, each with what followed from it; the entry `N-0` has the
number N, and the newest RESULTS_KEPT are kept. Never expires.
"""
RATED_MARKS: Final = "fairest:{ratings}:marks"
"""Sorted set: matches that were rated, by the day on which they finished, so that none is rated twice. A match is
removed after RATED_DAYS.
"""


def bucket(room: str) -> int:
    """Return the number of a room's bucket."""
    return zlib.crc32(room.encode()) % BUCKETS


def round_id(room: str, drawn: bytes) -> bytes:
    """Return an id for a round in this room: the bytes `drawn`, with the number of the room's bucket as the last digit.

    A match has the id of its first round, so its record has the hash tag of its room.
    """
    return drawn[:-1] + bytes([drawn[-1] & 0xF0 | bucket(room)])


def log(room: str) -> str:
    """List: the room's log. Expires `--closed-room-seconds` after the room is closed. The channel of this name has the
    entries just appended to it, for the other processes that have the room open.
    """
    return f"fairest:{{{bucket(room)}}}:log:{room}"


def deadlines(number: int) -> str:
    """Sorted set of a bucket: rooms by the time of their next check. A closed room is removed."""
    return f"fairest:{{{number}}}:deadlines"


def signing_key_copy(number: int) -> str:
    """String of a bucket, only on a Cluster: a copy of the private key, read at the start of a process if the node of
    the key does not answer. Never expires.
    """
    return f"fairest:{{{number}}}:key"


def lobby(number: int) -> str:
    """Hash of a bucket: listed rooms, each with its entry in the lobby. A room that is empty or closed is removed."""
    return f"fairest:{{{number}}}:lobby"


def round_outbox(number: int) -> str:
    """Stream of a bucket: openings and ends of its rounds on their way to the chain. Removed when the chain has had an
    entry for 20 seconds.
    """
    return f"fairest:{{{number}}}:rounds"


def matches(number: int) -> str:
    """Sorted set of a bucket: finished matches of its listed rooms, each as the row of `GET /matches` behind its time;
    the newest MATCHES_KEPT are kept. Expires RECORD_SECONDS after the last of them.
    """
    return f"fairest:{{{number}}}:matches"


def matches_by_rules(number: int, rules: str) -> str:
    """Sorted set of a bucket: those of `matches` that were played by this variant, kept and expiring likewise."""
    return f"fairest:{{{number}}}:matches:rules:{rules}"


def matches_by_name(number: int, text: str) -> str:
    """Sorted set of a bucket: those of `matches` with a player of this name, whatever its case, kept and expiring
    likewise.
    """
    return f"fairest:{{{number}}}:matches:name:{text.lower()}"


def unrated(number: int) -> str:
    """Sorted set of a bucket: finished matches that wait to be rated, each with its players, by the time at which they
    finished. A match is removed once it is rated.
    """
    return f"fairest:{{{number}}}:unrated"


class RoomKeys(Value):
    """The keys that an append to a room's log may use, made once for each room instead of for each append."""

    log: str
    deadlines: str
    lobby: str
    round_outbox: str


def of_room(room: str) -> RoomKeys:
    """Return the keys of a room and of its bucket."""
    number = bucket(room)
    return RoomKeys(log(room), deadlines(number), lobby(number), round_outbox(number))


def keepalive_channel(number: int) -> str:
    """Channel of a bucket to which nothing is published: it keeps a process without rooms in the bucket subscribed."""
    return f"fairest:{{{number}}}:quiet"


def attached_rooms(process_id: str) -> str:
    """Set: rooms in which this process may have seats. Deleted when the process is forgotten."""
    return f"fairest:{{processes}}:rooms:{process_id}"


def public_counts(process_id: str) -> str:
    """String: spectators and placed cards of the rooms that this process shows. Expires after PUBLIC_COUNTS_SECONDS."""
    return f"fairest:{{processes}}:counts:{process_id}"


def control_answers(request_id: str) -> str:
    """Hash: the answer of each process to a request of the operator. Expires after CONTROL_ANSWER_SECONDS."""
    return f"fairest:{{processes}}:answers:{request_id}"


def player(player_id: str) -> str:
    """Hash: the name of a player, and once it has renewed its token, the hash of that; `player_id` is the hash of its
    first token. At the hash of another token, the player that has taken it. Expires NEW_PLAYER_SECONDS after the
    player's first hello, and PLAYER_SECONDS after every later one.
    """
    return f"fairest:player:{player_id}"


def tallies(player_id: str) -> str:
    """Hash: the tally of a player in each variant. Expires RATED_SECONDS after its last rated match."""
    return f"fairest:{{ratings}}:player:{player_id}"


def pair(first: str, second: str) -> str:
    """Hash: the score of two players against each other in each variant. Expires RATED_SECONDS after their last rated
    match.
    """
    return f"fairest:{{ratings}}:pair:{min(first, second)}:{max(first, second)}"


def rated_name(text: str) -> str:
    """String: the player that last finished a rated match under this name, whatever its case. Expires RATED_SECONDS
    after that.
    """
    return f"fairest:{{ratings}}:name:{text.lower()}"


def board(variant: str) -> str:
    """Sorted set: players of a variant with an established rating, by its mean. A player is removed when its rating is
    provisional again.
    """
    return f"fairest:{{ratings}}:board:{variant}"


def board_days(variant: str) -> str:
    """Sorted set: the players of `board`, by the last day on which their rating is established without another round.
    A player is removed with its entry in `board`.
    """
    return f"fairest:{{ratings}}:days:{variant}"


def opened(player_id: str) -> str:
    """String: how many rooms this player has opened. Expires OPENED_SECONDS after the first of them."""
    return f"fairest:opened:{{{player_id}}}"


def opened_at(address: str) -> str:
    """String: how many rooms everybody at this address has opened. Expires OPENED_SECONDS after the first of them."""
    return f"fairest:opened:{address}"


def opened_with(player_id: str, key: str) -> str:
    """String: the room that this player has opened with this key of its own, so that it can ask again without opening
    another one. Expires after OPENED_SECONDS.
    """
    return f"fairest:opened:{{{player_id}}}:{key}"


def player_rooms(player_id: str) -> str:
    """List: rooms in which this player was given a seat, the newest first, up to PLAYER_ROOMS_KEPT. A room is
    removed when its player leaves it. Expires PLAYER_ROOMS_SECONDS after the last seat, or the last hello.
    """
    return f"fairest:rooms:{player_id}"


def last_opponent(player_id: str) -> str:
    """String: the player that the queue has paired with this one last. Expires after LAST_OPPONENT_SECONDS."""
    return f"fairest:opponent:{player_id}"


def name(text: str) -> str:
    """String: the player that uses this name, whatever its case. Expires NAME_SECONDS after the player's last hello,
    or after the player has changed it; a name that the operator has taken from the player, after RENAMED_SECONDS.
    """
    return f"fairest:name:{text.lower()}"


def record(match_id: str) -> str:
    """String of a bucket: the record of a finished match of its rooms, as the lines of its file. Expires after
    RECORD_SECONDS. The last digit of the id is the bucket.
    """
    # A node that fails over and loses the end of a race, which is in the log, loses the record behind it as well.
    return f"fairest:{{{int(match_id[-1], BUCKETS)}}}:record:{match_id}"
