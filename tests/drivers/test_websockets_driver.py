"""The names of `websockets` that edge/fast_websocket.py relies on and that the library does not document."""

import gc
from collections.abc import Iterator
from inspect import isgenerator, isgeneratorfunction
from typing import Any

import pytest
from websockets import frames
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Protocol
from websockets.server import ServerProtocol
from websockets.streams import StreamReader
from websockets.typing import Subprotocol

from fairest_server.edge.fast_websocket import FastWebSocket
from tests.support.wire_client import open_client

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@pytest.fixture
def protocol() -> ServerProtocol:
    """A server's side of an open connection that has exchanged no frame yet."""
    protocol = ServerProtocol()
    protocol.receive_data(UPGRADE)
    [request] = protocol.events_received()
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    return protocol


def parts_of_a_message(data: bytes) -> Iterator[bytes]:
    """Two fragments of one text message, as a client sends them."""
    yield Frame(Opcode.TEXT, data[:1], fin=False).serialize(mask=True)
    yield Frame(Opcode.CONT, data[1:]).serialize(mask=True)


def test_a_subprotocol_is_chosen_by_the_function_in_the_instance(protocol: ServerProtocol) -> None:
    vars(protocol)["select_subprotocol"] = lambda offered: Subprotocol(f"chosen from {len(offered)}")
    assert protocol.process_subprotocol(Headers({"Sec-WebSocket-Protocol": "a, b"})) == "chosen from 2"


def test_the_parser_is_a_generator_that_parse_makes(protocol: ServerProtocol) -> None:
    assert isgenerator(protocol.parser)
    assert isgenerator(protocol.parse())


def test_a_closed_parser_may_be_replaced_before_the_first_data() -> None:
    protocol = ServerProtocol()
    protocol.parser.close()
    protocol.parser = protocol.parse()
    next(protocol.parser)
    protocol.receive_data(UPGRADE)
    assert len(protocol.events_received()) == 1


@pytest.mark.parametrize("where", [Connection.connection_lost, Connection.data_received, Connection.recv])
def test_an_error_that_ends_a_connection_is_set_by_the_method_that_is_overridden(where: object) -> None:
    assert "set_connection_exc" in vars(Connection)
    assert "set_connection_exc" in where.__code__.co_names  # type: ignore[attr-defined]


def test_the_error_that_ends_a_connection_is_set_nowhere_else() -> None:
    """An error that is set in another way would keep the stack frames that the override drops."""
    users = {
        name
        for base in (Connection, ServerConnection)
        for name, function in vars(base).items()
        if "connection_exc" in getattr(getattr(function, "__code__", None), "co_names", ())
    }
    assert users == {"__init__", "set_connection_exc"}


def test_the_errors_of_the_parser_and_of_the_handshake_are_attributes(protocol: ServerProtocol) -> None:
    assert (protocol.parser_exc, protocol.handshake_exc) == (None, None)


def test_the_error_of_the_parser_is_kept_where_it_is_looked_for(protocol: ServerProtocol) -> None:
    protocol.receive_data(b"\xff" * 20)
    assert isinstance(protocol.parser_exc, Exception)


def test_the_error_of_the_handshake_is_kept_where_it_is_looked_for() -> None:
    protocol = ServerProtocol()
    protocol.receive_data(b"\x16\x03\x01\r\n\r\n")
    assert isinstance(protocol.handshake_exc, Exception)


def waits_in_at_eof(protocol: Protocol) -> bool:
    parser: Any = protocol.parser
    inner = parser.gi_yieldfrom.gi_yieldfrom
    return inner is not None and inner.gi_code is StreamReader.at_eof.__code__


def test_the_parser_waits_in_at_eof_before_each_frame(protocol: ServerProtocol) -> None:
    assert isgeneratorfunction(StreamReader.at_eof)
    waits = [waits_in_at_eof(protocol)]
    for byte in Frame(Opcode.TEXT, b"{}").serialize(mask=True):
        protocol.receive_data(bytes([byte]))
        waits.append(waits_in_at_eof(protocol))
    assert waits == [True, *[False] * 7, True]


def test_the_current_size_is_none_between_messages_only(protocol: ServerProtocol) -> None:
    sizes = [protocol.current_size]
    for part in parts_of_a_message(b"{}"):
        protocol.receive_data(part)
        sizes.append(protocol.current_size)
    assert sizes == [None, 1, None]


def test_close_sent_is_none_until_a_close_frame_is_sent(protocol: ServerProtocol) -> None:
    assert protocol.close_sent is None
    protocol.send_close()
    assert protocol.close_sent is not None


def test_apply_mask_masks() -> None:
    assert frames.apply_mask(b"\x01\x02\x03\x04\x05", b"\x01\x02\x03\x04") == b"\0\0\0\0\4"  # type: ignore[attr-defined]


async def test_what_each_move_needs_is_in_slots(server_url: str) -> None:
    """A name that is missing in `__slots__` is an attribute all the same, in a dictionary too large for a cache."""
    async with open_client(server_url):
        (websocket,) = [each for each in gc.get_objects() if type(each) is FastWebSocket]
        assert {"fast_path", "is_at_message_boundary", "protocol", "transport"}.isdisjoint(vars(websocket))
