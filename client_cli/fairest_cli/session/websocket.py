"""One WebSocket to a server: how the client opens it, with which requests it begins, and how its end is understood."""

import secrets
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from fairest_cli.model.known_room import Contradiction, KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_protocol.calculation.certified import CAPABILITY as CERTIFIED
from fairest_protocol.calculation.distance import CAPABILITY as CREDIT
from fairest_protocol.messages.capabilities import RACE_QUEUE, RIVALS
from fairest_protocol.messages.fields import MAX_SERVER_MESSAGE_BYTES, SUBPROTOCOL
from fairest_protocol.messages.from_client import (
    AskFinish,
    Create,
    FromClient,
    GetRecord,
    Hello,
    Join,
    Leave,
    LeaveQueue,
    Queue,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import CloseCode

EntryRequest = Create | Join | Queue | Watch
"""The request with which a client enters a room for the first time."""
RoomRequest = Ready | Reveal | Rematch | AskFinish | GetRecord | Leave | LeaveQueue
"""A message to the room, or to the queue, that a client sends from within; moves are apart."""
OPEN_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 1.0
HEARTBEAT_SECONDS: Final = 5.0
"""A ping is sent this often, and has this long to be answered."""
CREATE_KEY_BYTES: Final = 18
"""Random bytes of the key of a `create`, which no other `create` of this player has."""
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class Rejected(Exception):
    """The server does not let us do what we ask for, and asking again would not help. The text is a sentence.

    `way_out` is the kind of end that this is for a round to which we are bound.
    """

    def __init__(self, sentence: str, way_out: WayOut = WayOut.CLOSED) -> None:
        super().__init__(sentence)
        self.way_out = way_out


class _ConnectWithoutRedirects(connect):
    """A connection attempt that fails on a redirect: no answer may send us, and our token, to another server."""

    def process_redirect(self, exc: Exception) -> Exception:
        """Return the response that redirects as the failure that it would be without a Location header."""
        return exc


def open_websocket(url: str) -> connect:
    """Return the connection attempt to await, or to enter as a context manager, with the client's settings.

    A server on this machine is never reached through a proxy. Raises OSError, TimeoutError, InvalidHandshake and
    InvalidURI when it is awaited.
    """
    return _ConnectWithoutRedirects(
        url,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        max_size=MAX_SERVER_MESSAGE_BYTES,
        open_timeout=OPEN_SECONDS,
        ping_interval=HEARTBEAT_SECONDS,
        ping_timeout=HEARTBEAT_SECONDS,
        close_timeout=CLOSE_SECONDS,
        proxy=None if (urlsplit(url).hostname or "") in LOCAL_HOSTS else True,
    )


def make_hello(token: str | None, name: str | None) -> Hello:
    """Return the greeting of a client that enters rooms."""
    return Hello(token=token, name=name, client="fairest", capabilities=(CERTIFIED, CREDIT))


def check_close(code: int, reason: str, ban_sentence: str = "") -> None:
    """Raise `Rejected` for a close code after which reconnecting would not help.

    `ban_sentence` is the sentence with which the server has banned us, if it has.
    """
    if code == CloseCode.BAD_TOKEN:
        return
    if code in (CloseCode.TOO_BIG, CloseCode.BINARY_FRAME) or code >= 4000:
        if code == CloseCode.BANNED and ban_sentence:
            raise Rejected(ban_sentence, WayOut.BANNED)
        if code == CloseCode.REPLACED:
            raise Rejected("You play this seat from another terminal now.", WayOut.REPLACED)
        raise Rejected(f"The server ended the connection: {reason or code}.")


def make_repeatable(request: EntryRequest) -> EntryRequest:
    """Return the request so that it leads to one room, however often it is sent because its answer was lost."""
    if not isinstance(request, Create):
        return request
    return request.model_copy(update={"key": secrets.token_urlsafe(CREATE_KEY_BYTES)})


def next_entry_request(model: KnownRoom, first: FromClient) -> FromClient:
    """Return the request to send after `welcome`: `first`, or after a drop, the request that leads back to the room.

    A room in which the queue has led nobody to us is given up with the connection.
    """
    has_met_nobody = isinstance(first, Queue) and model.scene is not None and model.scene.round is None
    if model.room is None or has_met_nobody:
        return first
    if model.seat is None:
        return Watch(room=model.room)
    return Resume(room=model.room, position=model.position, tag=model.tag)


def check_options(request: FromClient, options: RoomOptions) -> None:
    """Raise `Contradiction` if a room has other options than the one that was asked for."""
    if isinstance(request, Create):
        is_wanted = options == request.options.resolved()
    else:
        is_wanted = not isinstance(request, Queue) or options.rules == RoomOptions(rules=request.rules).resolved().rules
    if not is_wanted:
        raise Contradiction("it made another room than the one that was asked for")


def fit_request(request: EntryRequest, capabilities: tuple[str, ...]) -> EntryRequest:
    """Return a request as a server with these capabilities knows it: an older one opens a room without credit.

    Raises `Rejected` for a request that means nothing without what the server lacks.
    """
    if isinstance(request, Create) and request.rival is not None and RIVALS not in capabilities:
        raise Rejected("This server does not know rivals: open the room without --rival.", WayOut.REFUSED)
    if isinstance(request, Create) and request.options.certified and CERTIFIED not in capabilities:
        raise Rejected("This server does not certify deals: open the room without --certified.", WayOut.REFUSED)
    if isinstance(request, Queue) and RACE_QUEUE not in capabilities:
        raise Rejected("This server has no queue: create a room, or join one of the lobby.", WayOut.REFUSED)
    if isinstance(request, Create) and request.options.credit and CREDIT not in capabilities:
        return request.model_copy(update={"options": request.options.model_copy(update={"credit": None})})
    return request
