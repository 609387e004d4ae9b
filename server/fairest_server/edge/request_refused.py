"""The refusal of a request, before it is a connection or is answered with a page."""

from http import HTTPStatus

from websockets.http11 import Request

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_server import Error
from fairest_protocol.messages.refusals import CLOSE_CODES, Breach
from fairest_server.edge.frame_stream import Rejection
from fairest_server.ops.metrics import TurnedAway


class RequestRefused(Exception):
    """A request that may not become a connection, or not have its page. The text tells the client why.

    `breach` is the code of the `error` for a browser that asks for a connection; None if no browser sends such a
    request. Every other client is answered with `status`.
    """

    def __init__(self, status: HTTPStatus, reason: TurnedAway, sentence: str, breach: Breach | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason
        self.sentence = sentence
        self.breach = breach

    def rejection_of(self, request: Request) -> Rejection | None:
        """Return the answer to a handshake of a browser, or None for a request of another client.

        The script of a page sees neither the status nor the text of a refused handshake, only close code 1006
        (docs/decisions/0060-a-reason-that-a-browser-can-read.md).
        """
        if self.breach is None or "Origin" not in request.headers:
            return None
        error = encode(Error(code=self.breach, sentence=self.sentence))
        return Rejection(request, error, CLOSE_CODES[self.breach], self.breach)
