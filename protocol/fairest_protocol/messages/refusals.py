"""The negative answers of a server: refusals, which change nothing; breaches, which end the connection; close codes."""

from enum import IntEnum, StrEnum
from typing import Final

from fairest_protocol.calculation.board import Illegal


class Refusal(StrEnum):
    """A request that may not be; the connection goes on, and nothing changes, but with `IN_DOUBT`."""

    NO_SUCH_ROOM = "no_such_room"
    ROOM_FULL = "room_full"
    ROOM_CLOSED = "room_closed"
    ALREADY_IN_ROOM = "already_in_room"
    NOT_IN_ROOM = "not_in_room"
    ALREADY_QUEUED = "already_queued"
    NOT_QUEUED = "not_queued"
    NOT_SEATED = "not_seated"
    NO_SPECTATORS = "no_spectators"
    ALREADY_SEATED = "already_seated"
    NAME_TAKEN = "name_taken"
    TOKEN_TAKEN = "token_taken"
    TOO_MANY_PLAYERS = "too_many_players"
    TOO_MANY_ROOMS = "too_many_rooms"
    TOO_MANY_ROUNDS = "too_many_rounds"
    TOO_MANY_MISSES = "too_many_misses"
    BAD_RULES = "bad_rules"
    MISSING_CAPABILITY = "missing_capability"
    WRONG_PHASE = "wrong_phase"
    WRONG_ROUND = "wrong_round"
    ALREADY_READY = "already_ready"
    WRONG_ENTROPY = "wrong_entropy"
    NO_RECORD = "no_record"
    NO_DAILY_DEAL = "no_daily_deal"
    NO_SUCH_TOURNAMENT = "no_such_tournament"
    TOURNAMENT_FULL = "tournament_full"
    NOT_ENTERED = "not_entered"
    NOT_CREATOR = "not_creator"
    RACE_NOT_STARTED = "race_not_started"
    RACE_OVER = "race_over"
    SEAT_STOPPED = "seat_stopped"
    NUMBER_OLD = "number_old"
    NUMBER_REPEATED = "number_repeated"
    NUMBER_FUTURE = "number_future"
    NOTHING_TURNED = Illegal.NOTHING_TURNED
    NO_SUCH_FOUNDATION = Illegal.NO_SUCH_FOUNDATION
    NO_SUCH_PILE = Illegal.NO_SUCH_PILE
    FOUNDATION_COMPLETE = Illegal.FOUNDATION_COMPLETE
    RANK_NOT_NEEDED = Illegal.RANK_NOT_NEEDED
    PILE_EMPTY = Illegal.PILE_EMPTY
    PILE_TO_PILE = Illegal.PILE_TO_PILE
    CARD_STILL_TURNED = Illegal.CARD_STILL_TURNED
    NO_REDEAL_LEFT = Illegal.NO_REDEAL_LEFT
    TRY_AGAIN = "try_again"
    IN_DOUBT = "in_doubt"


SENTENCES: Final[dict[Refusal, str]] = {
    Refusal.NO_SUCH_ROOM: "There is no room with this code; ask for it again, or create one.",
    Refusal.ROOM_FULL: "Both seats of this room are taken; you can watch it.",
    Refusal.ROOM_CLOSED: "This room is closed; create a new one.",
    Refusal.ALREADY_IN_ROOM: "This connection is in a room already; leave it first.",
    Refusal.NOT_IN_ROOM: "This connection is in no room; create, join or watch one first.",
    Refusal.ALREADY_QUEUED: "You wait for an opponent already; leave the queue first.",
    Refusal.NOT_QUEUED: "You do not wait for an opponent.",
    Refusal.NOT_SEATED: "You have no seat in this room; join it first.",
    Refusal.NO_SPECTATORS: "The players of this room do not want to be watched.",
    Refusal.ALREADY_SEATED: "You have a seat in this room, so you cannot watch it; join it to come back to your seat.",
    Refusal.NAME_TAKEN: "Somebody else uses this name now; choose another one.",
    Refusal.TOKEN_TAKEN: "This token is known already; draw another one at random.",
    Refusal.TOO_MANY_PLAYERS: "Too many new players come from your address; try again in some minutes.",
    Refusal.TOO_MANY_ROOMS: "You have opened many rooms lately; use one of them, or wait ten minutes.",
    Refusal.TOO_MANY_ROUNDS: "Too many rounds begin at your address; try again in some minutes.",
    Refusal.TOO_MANY_MISSES: (
        "Too many codes from your address led to no room; try again in some minutes, or join a room of the lobby."
    ),
    Refusal.BAD_RULES: "Nobody plays these rules.",
    Refusal.MISSING_CAPABILITY: "Your client lacks what this room needs; a newer one has it.",
    Refusal.WRONG_PHASE: "This is not the time for that.",
    Refusal.WRONG_ROUND: "This round is not open any more; the newest one is.",
    Refusal.ALREADY_READY: "You are ready already; a hash once sent stays.",
    Refusal.WRONG_ENTROPY: "These bytes do not belong to the hash that you sent with ready.",
    Refusal.NO_RECORD: "There is no such record: no match was finished here yet, or none of this id is kept.",
    Refusal.NO_DAILY_DEAL: "There is no daily deal of these rules on this day, or none that you may begin now.",
    Refusal.NO_SUCH_TOURNAMENT: "There is no tournament with this code; ask for it again, or create one.",
    Refusal.TOURNAMENT_FULL: "No more players may enter this tournament; you can watch it.",
    Refusal.NOT_ENTERED: "You are not a player of this round: you have not entered the tournament, or have left it.",
    Refusal.NOT_CREATOR: "Only the player who created this tournament starts it.",
    Refusal.RACE_NOT_STARTED: "The race has not started yet.",
    Refusal.RACE_OVER: "The race is over.",
    Refusal.SEAT_STOPPED: "Your race has ended; your count stands.",
    Refusal.NUMBER_OLD: "A later move of yours has been accepted already.",
    Refusal.NUMBER_REPEATED: "Another move of yours has been accepted under this number.",
    Refusal.NUMBER_FUTURE: "This number is ahead of your moves.",
    Refusal.NOTHING_TURNED: "The stock is empty: no card is turned. Play from the waste, or redeal.",
    Refusal.NO_SUCH_FOUNDATION: "There is no such foundation in these rules.",
    Refusal.NO_SUCH_PILE: "There is no such waste pile in these rules.",
    Refusal.FOUNDATION_COMPLETE: "This foundation is complete.",
    Refusal.RANK_NOT_NEEDED: "This foundation needs another rank.",
    Refusal.PILE_EMPTY: "This waste pile is empty.",
    Refusal.PILE_TO_PILE: "Cards never move from one waste pile to another.",
    Refusal.CARD_STILL_TURNED: "Redeal only when the stock is empty and no card is turned.",
    Refusal.NO_REDEAL_LEFT: "These rules have no redeal, or none is left.",
    Refusal.TRY_AGAIN: "The server cannot store anything right now; try again in a moment.",
    Refusal.IN_DOUBT: "The server cannot tell whether this was stored; send the very same again in a moment.",
}

SEND_AGAIN: Final = frozenset({Refusal.TRY_AGAIN, Refusal.IN_DOUBT})
"""Refusals after which a client sends the very same request again, a moment later."""


class Breach(StrEnum):
    """The reason for which a server ends a connection, mostly that the client does not speak the protocol.

    The last three, `BANNED` and `RESTARTING` are also the answer to a browser whose connection is not admitted.
    """

    BAD_JSON = "bad_json"
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_KEY = "unknown_key"
    BAD_VALUE = "bad_value"
    BINARY_FRAME = "binary_frame"
    HELLO_FIRST = "hello_first"
    HELLO_TWICE = "hello_twice"
    HELLO_LATE = "hello_late"
    BAD_TOKEN = "bad_token"
    TOO_FAST = "too_fast"
    REPLACED = "replaced"
    BANNED = "banned"
    RESTARTING = "restarting"
    INTERNAL = "internal"
    OTHER_SITE = "other_site"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    SERVER_FULL = "server_full"


class CloseCode(IntEnum):
    """Why a connection was closed. Codes from 4000 are final: connecting again the same way does not help."""

    NORMAL = 1000
    """A normal end."""
    BINARY_FRAME = 1003
    """A binary frame; messages are text."""
    TOO_BIG = 1009
    """A frame was larger than this server takes; no `error` comes before it."""
    INTERNAL = 1011
    """The server has a fault; or, without an `error`, a ping was not answered."""
    RESTARTING = 1012
    """The server restarts, or has lost Redis; connect again, here or elsewhere, and resume."""
    TRY_LATER = 1013
    """There are too many connections, of your address or in all; wait a while, then connect again."""
    BAD_JSON = 4400
    """A frame is not JSON, or an object in it has a key twice."""
    UNKNOWN_TYPE = 4401
    """There is no message of this `type`."""
    UNKNOWN_KEY = 4402
    """A message has a key that is not in its table."""
    BAD_VALUE = 4403
    """A field is missing, or has a value that it cannot have."""
    HELLO_FIRST = 4404
    """Another message came before `hello`."""
    HELLO_TWICE = 4405
    """A second `hello` came on a connection that had been welcomed."""
    HELLO_LATE = 4406
    """No `hello` was accepted in time."""
    BAD_TOKEN = 4407
    """No player has this token; send `hello` without one."""
    TOO_FAST = 4408
    """For too long, more was sent than this server reads."""
    REPLACED = 4409
    """Another connection of this player has the seat; leave it alone."""
    BANNED = 4410
    """The operator has banned this player or this address; the `error` says until when, and why."""
    OTHER_SITE = 4411
    """Pages of this site may not connect to this server; its operator can allow the site."""


_TRY_LATER: Final = frozenset({Breach.TOO_MANY_CONNECTIONS, Breach.SERVER_FULL})
CLOSE_CODES: Final[dict[Breach, CloseCode]] = {
    breach: CloseCode.TRY_LATER if breach in _TRY_LATER else CloseCode[breach.name] for breach in Breach
}
"""The close code that follows the `error` of each breach."""
