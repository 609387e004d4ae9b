"""Why a server could not be reached, in sentences: what was tried, what answered, and what to do. Pure.

Another program may answer at the address: of its answer nothing is shown but the status, since it can be any page.
"""

import http.client
import os
import re
import socket
import ssl
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from websockets.exceptions import InvalidHandshake, InvalidStatus

from fairest_cli.model.round_end import WayOut
from fairest_cli.session.websocket import LOCAL_HOSTS, OPEN_SECONDS, Rejected

MAX_SENTENCE: Final = 300
"""Characters of the longest sentence with which a server of ours refuses a request."""
_ERROR_NUMBER: Final = re.compile(r"\[Errno (\d+)\]")


def describe_failure(url: str, reason: Exception) -> str:
    """Return a sentence about an attempt to open a WebSocket at `url` that failed."""
    if isinstance(reason, InvalidStatus):
        said = own_sentence(bytes(reason.response.body or b""))
        return f"The server at {url} says: {said}" if said else describe_stranger(url, reason.response.status_code)
    if isinstance(reason, InvalidHandshake):
        return describe_stranger(url)
    return f"No server answers at {url}: {explain_failure(reason, url)}."


def describe_stranger(url: str, status: int | None = None) -> str:
    """Return the sentence about a server at `url` that is not one of Fairest; `status` is its HTTP status."""
    answered = "with something else than HTTP" if status is None else f"with HTTP status {status}"
    return f"Another program than Fairest answers at {url}, {answered}: check the host and the port."


def explain_failure(reason: Exception, url: str = "") -> str:
    """Return why an attempt to connect failed, without the numbers of the operating system."""
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({reason.verify_message})"
    if isinstance(reason, ssl.SSLError):
        return "what answers there does not speak TLS; without TLS an address begins with ws://"
    if isinstance(reason, socket.gaierror):
        host = urlsplit(url).hostname
        return f"there is no host {host!r}" if host else "there is no such host"
    if isinstance(reason, TimeoutError):
        return f"nothing came within {OPEN_SECONDS:.0f} seconds"
    if isinstance(reason, http.client.HTTPException):
        return "what answers there does not speak HTTP"
    if isinstance(reason, OSError) and reason.errno and reason.errno > 0:
        return os.strerror(reason.errno).lower()
    # Where a name has several addresses, one error names the failure of each.
    number = _ERROR_NUMBER.search(str(reason))
    return os.strerror(int(number[1])).lower() if number else str(reason) or type(reason).__name__


def own_sentence(body: bytes) -> str:
    """Return the sentence in the body of a refusal by a server of ours; empty for the page of another program."""
    text = body.decode(errors="replace").strip()
    is_sentence = len(text) <= MAX_SENTENCE and "\n" not in text and not text.startswith(("<", "{"))
    return text if is_sentence else ""


def refuse_banned_address(failure: Exception) -> None:
    """Raise `Rejected` with the server's sentence if it forbids connections from our address (HTTP 403)."""
    if isinstance(failure, InvalidStatus) and failure.response.status_code == HTTPStatus.FORBIDDEN:
        sentence = own_sentence(bytes(failure.response.body or b""))
        raise Rejected(sentence or "The server forbids connections from here.", WayOut.BANNED) from failure


def advise_without_server(url: str) -> str:
    """Return what to do when no server answers at `url`: start one, if it is on this machine."""
    if (urlsplit(url).hostname or "") in LOCAL_HOSTS:
        return "Is it running? Start one with: fairest-server"
    return "Is the address right, and does the server run?"
