"""The ready-made errors with which the server closes a connection, some for a fault of its own; `Breach` is their code.

An exception keeps the frames of the stack that it passed through, and everything that lives in them. So an error that
is raised comes new from a factory each time; the constants are only sent, never raised.
"""

from datetime import UTC, datetime
from functools import partial
from typing import Final

from fairest_protocol.messages.codec import ProtocolViolation
from fairest_protocol.messages.refusals import Breach
from fairest_server.live.subscribers import DropReason
from fairest_server.store.bans import Ban

binary_frame: Final = partial(
    ProtocolViolation, Breach.BINARY_FRAME, "Messages are JSON in text frames; this frame was binary."
)
hello_first: Final = partial(ProtocolViolation, Breach.HELLO_FIRST, "The first message of a connection is hello.")
hello_twice: Final = partial(ProtocolViolation, Breach.HELLO_TWICE, "This connection has said hello already.")
hello_late: Final = partial(ProtocolViolation, Breach.HELLO_LATE, "No hello came in time.")
bad_token: Final = partial(
    ProtocolViolation, Breach.BAD_TOKEN, "This server knows no player with this token; say hello without one."
)
too_fast: Final = partial(ProtocolViolation, Breach.TOO_FAST, "You sent more than this server reads, for too long.")


def banned(ban: Ban) -> ProtocolViolation:
    """Return the error for a banned client: until when, and why."""
    return ProtocolViolation(Breach.BANNED, describe_ban(ban))


def describe_ban(ban: Ban) -> str:
    """Return the sentence that a banned client is shown."""
    until = f" until {datetime.fromtimestamp(ban.until_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC" if ban.until_ms else ""
    reason = f": {ban.reason}" if ban.reason else "."
    return f"You are banned from this server{until}{reason}"


REPLACED: Final = ProtocolViolation(Breach.REPLACED, "A newer connection of yours has taken this seat.")
LOG_LOST: Final = ProtocolViolation(
    Breach.RESTARTING, "The server has lost its newest memory of this room; connect again."
)
UNAVAILABLE: Final = ProtocolViolation(Breach.RESTARTING, "This server cannot reach its data; connect again.")
DRAINING: Final = ProtocolViolation(Breach.RESTARTING, "This process is about to end; connect again.")
TOKEN_LOST: Final = ProtocolViolation(Breach.BAD_TOKEN, "This player has taken another token, so yours is worthless.")
SENT_AWAY: Final = {
    DropReason.LOG_LOST: LOG_LOST,
    DropReason.UNAVAILABLE: UNAVAILABLE,
    DropReason.DRAINING: DRAINING,
    DropReason.TOKEN_LOST: TOKEN_LOST,
}
INTERNAL: Final = ProtocolViolation(Breach.INTERNAL, "The server has a fault; it is not yours. Connect again.")
