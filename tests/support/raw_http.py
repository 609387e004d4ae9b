"""Requests over plain HTTP with any method and headers, also with those that no library sends."""

import asyncio
from email.message import Message
from email.parser import BytesHeaderParser

from fairest_protocol.value import Value
from tests.support.raw_websocket import raw_connection
from tests.support.waiting import PATIENCE_SECONDS


class Answer(Value):
    """The answer to a request."""

    status: int
    headers: Message
    body: bytes

    @property
    def allowed_origin(self) -> str | None:
        """The origin whose scripts may read it."""
        return self.headers["Access-Control-Allow-Origin"]


async def ask(url: str, path: str, *headers: str, method: str = "GET", host: str | None = "127.0.0.1") -> Answer:
    """Send a request with these headers, each as `Name: value`; with None as `host`, without that header."""
    lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host is not None else []), *headers]
    async with raw_connection(url) as client, asyncio.timeout(PATIENCE_SECONDS):
        client.writer.write("\r\n".join([*lines, "", ""]).encode())
        head, _, body = (await client.reader.read()).partition(b"\r\n\r\n")
    status_line, _, fields = head.partition(b"\r\n")
    return Answer(int(status_line.split()[1]), BytesHeaderParser().parsebytes(fields), body)
