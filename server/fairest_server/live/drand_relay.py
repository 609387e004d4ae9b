"""A relay of drand over HTTP: the signature of a drand round, checked with the public key of its network."""

import asyncio
import json
from contextlib import suppress
from http.client import HTTPException
from threading import Thread
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from fairest_protocol.calculation.drand import QUICKNET, DrandNetwork
from fairest_protocol.drand_signature import is_drand_signature

ANSWER_SECONDS: Final = 5.0
"""The time that a relay has for its whole answer."""
MAX_ANSWER_BYTES: Final = 4096


class DrandUnavailable(Exception):
    """The relay does not show a drand round that its network has signed; the message says why."""


class DrandRelay:
    """A relay at a URL, such as ``https://api.drand.sh``. It is trusted with nothing: what it shows proves itself."""

    def __init__(self, url: str, network: DrandNetwork = QUICKNET) -> None:
        self.network: Final = network
        self._url = url.rstrip("/")
        self._thread: Thread | None = None

    async def fetch(self, number: int) -> bytes:
        """Return the signature of a drand round. Raises `DrandUnavailable`. Safe to cancel.

        A relay that sends its answer byte by byte holds a thread, one at most, which ends with the process.
        """
        if self._thread is not None and self._thread.is_alive():
            raise DrandUnavailable(f"{self._url} has not ended its last answer yet")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()

        def settle(signature: bytes | None, fault: DrandUnavailable | None) -> None:
            if not answer.done() and fault is not None:
                answer.set_exception(fault)
            elif not answer.done() and signature is not None:
                answer.set_result(signature)

        def ask() -> None:
            signature, fault = None, None
            try:
                signature = self._read(number)
            except DrandUnavailable as reason:
                fault = reason
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, signature, fault)

        self._thread = Thread(target=ask, name="drand", daemon=True)
        self._thread.start()
        try:
            signature = await asyncio.wait_for(answer, ANSWER_SECONDS)
        except TimeoutError:
            raise DrandUnavailable(f"{self._url} has not answered in {ANSWER_SECONDS} seconds") from None
        if not is_drand_signature(self.network, number, signature):
            raise DrandUnavailable(f"{self._url} shows a signature of drand round {number} that is not its network's")
        return signature

    def _read(self, number: int) -> bytes:
        url = self._url + self.network.path(number)
        try:
            with urlopen(url, timeout=ANSWER_SECONDS) as answer:
                text = answer.read(MAX_ANSWER_BYTES + 1)
            if len(text) > MAX_ANSWER_BYTES:
                raise ValueError(f"more than {MAX_ANSWER_BYTES} bytes")
            return bytes.fromhex(json.loads(text)["signature"])
        except HTTPError as reason:
            reason.close()
            raise DrandUnavailable(f"{url}: {reason}") from reason
        except (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError) as reason:
            raise DrandUnavailable(f"{url}: {reason!r}") from reason
