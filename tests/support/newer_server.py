"""A server of a later version: a relay that adds what version 1 of the protocol may grow by to every message.

It adds fields to every object, entries and messages of unknown types, codes of refusals, and capabilities. It can cut
its clients off after so many views, and answer `hello` as a server does that needs a capability.
"""

import asyncio
import itertools
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fairest_protocol.messages.fields import MAX_SERVER_MESSAGE_BYTES
from fairest_protocol.messages.refusals import SEND_AGAIN

NEEDS_MORE = {
    "type": "refused",
    "to": "hello",
    "code": "missing_capability",
    "sentence": "This server needs a client with the capability time_travel; update yours.",
    "number": None,
}
CLOSED_OBJECTS = ("options",)
"""Objects to which version 1 adds nothing."""


class NewerServer:
    """The relay. `added` counts what it has added, by kind."""

    def __init__(self, url: str, *, views_until_cut: int | None = None, needs_more: bool = False) -> None:
        self.url = ""
        self.added = {"fields": 0, "entries": 0, "messages": 0, "codes": 0}
        self.resumes = 0
        self.needs_more = needs_more
        """Whether `hello` is refused for a missing capability."""
        self.positions: defaultdict[str, dict[int, int]] = defaultdict(dict)
        """By the player's token, the position in the server's view for each that the client was shown."""
        self._server_url, self._views_until_cut = url, views_until_cut

    async def carry(self, client: ServerConnection) -> None:
        """Carry the messages of one client to the server and back."""
        async with connect(
            self._server_url,
            subprotocols=[Subprotocol("fairest.v1")],
            max_size=MAX_SERVER_MESSAGE_BYTES,
            proxy=None,
        ) as server:
            line = _Line(self)
            both = [asyncio.create_task(line.up(client, server)), asyncio.create_task(line.down(server, client))]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for each in both:
                each.cancel()
            ended = await asyncio.gather(*both, return_exceptions=True)
        if any(isinstance(end, _Cut) for end in ended):
            client.transport.abort()
        await client.close(server.close_code or 1000, server.close_reason or "")

    def lets_view_pass(self) -> bool:
        """Count a view; return whether its client stays connected."""
        if self._views_until_cut is not None:
            self._views_until_cut -= 1
            if self._views_until_cut == 0:
                return False
        return True

    def grown(self, value: Any, name: str = "") -> Any:
        """Return a value of a message with a new field in each of its objects."""
        if isinstance(value, list):
            return [self.grown(each) for each in value]
        if not isinstance(value, dict) or name in CLOSED_OBJECTS:
            return value
        self.added["fields"] += 1
        return {key: self.grown(each, key) for key, each in value.items()} | {"since_v1_7": {"mood": ["fair"]}}


class _Cut(Exception):
    """The client is cut off now."""


class _Line:
    """One client's connection."""

    def __init__(self, relay: NewerServer) -> None:
        self._relay = relay
        self._token = ""
        self._ahead = 0
        """How far the client's positions are ahead of the server's."""

    async def up(self, client: ServerConnection, server: Any) -> None:
        async for text in client:
            message = json.loads(text)
            if message["type"] == "hello" and self._relay.needs_more:
                await client.send(json.dumps(NEEDS_MORE))
                continue
            self._token = message.get("token") or self._token
            if message["type"] == "resume":
                self._relay.resumes += 1
                shown = message["position"]
                message["position"] = self._relay.positions[self._token][shown]
                self._ahead = shown - message["position"]
            await server.send(json.dumps(message))

    async def down(self, server: Any, client: ServerConnection) -> None:
        added = self._relay.added
        for count in itertools.count():
            try:
                message = json.loads(await server.recv())
            except ConnectionClosed:
                return
            self._change(message)
            await client.send(json.dumps(self._relay.grown(message)))
            if count % 3 == 0:
                added["messages"] += 1
                await client.send(json.dumps({"type": "weather", "sky": "clear", "position": 5, "entries": [{}]}))
            if message["type"] == "view" and not self._relay.lets_view_pass():
                raise _Cut

    def _change(self, message: dict[str, Any]) -> None:
        """Add an entry, a capability or another code to the message, and count the positions of the client."""
        added = self._relay.added
        match message["type"]:
            case "welcome":
                self._token = message["token"] or self._token
                message["capabilities"] = [*message["capabilities"], "time_travel"]
            case "snapshot":
                self._ahead = 0
                self._relay.positions[self._token][message["position"]] = message["position"]
            case "view":
                place = len(message["entries"]) // 2
                message["entries"].insert(place, {"type": "gift", "seat": 1, "card": "XX", "until_ms": -1})
                added["entries"] += 1
                self._ahead += 1
                message["position"] += self._ahead
                self._relay.positions[self._token][message["position"]] = message["position"] - self._ahead
            # Of a request that has to be sent again, a server of any version says so by these codes.
            case "refused" if message["code"] not in SEND_AGAIN:
                added["codes"] += 1
                message["code"] = "not_on_a_sunday"


@asynccontextmanager
async def newer_server(
    url: str, *, views_until_cut: int | None = None, needs_more: bool = False
) -> AsyncIterator[NewerServer]:
    """A server of a later version in front of the one at `url`."""
    relay = NewerServer(url, views_until_cut=views_until_cut, needs_more=needs_more)
    async with serve(relay.carry, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")], compression=None) as server:
        relay.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield relay
