"""The address of a room in a request, and the process that serves the room by preference."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_server.edge.room_address import MAX_LINE_BYTES, preferred_process, room_of_request
from fairest_server.live.room_codes import draw_code

PROCESSES = ("1a2b3c4d", "5e6f7a8b", "9c0d1e2f")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /r/amber-quiet-lynx HTTP/1.1\r\n",
        b"GET /r/amber-quiet-lynx HTTP/1.1\r\nHost: example.org\r\n\r\n",
        b"GET /r/amber-quiet-lynx?from=mail HTTP/1.1\r\nHost: example.org\r\n",
    ],
)
def test_a_request_to_the_address_of_a_room_names_the_room(head: bytes) -> None:
    assert room_of_request(head) == "amber-quiet-lynx"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\n",
        b"GET /r/ HTTP/1.1\r\n",
        b"GET /r/amber HTTP/1.1\r\n",
        b"GET /r/AMBER-QUIET-LYNX HTTP/1.1\r\n",
        b"GET /r/amber-quiet-lynx/../x HTTP/1.1\r\n",
        b"GET /r/amber-quiet-lynx\x00 HTTP/1.1\r\n",
        b"GET /x/r/amber-quiet-lynx HTTP/1.1\r\n",
        b"POST /r/amber-quiet-lynx HTTP/1.1\r\n",
        b"GET /r/amber-quiet-lynx HTTP/1.0\r\n",
        b"GET http://example.org/r/amber-quiet-lynx HTTP/1.1\r\n",
    ],
)
def test_any_other_request_names_no_room(head: bytes) -> None:
    assert room_of_request(head) is None


def test_a_first_line_that_is_not_whole_names_no_room() -> None:
    line = b"GET /r/amber-quiet-lynx HTTP/1.1\r\n"
    assert {room_of_request(line[:size]) for size in range(len(line))} == {None}


@given(st.binary(max_size=MAX_LINE_BYTES))
def test_no_bytes_are_a_fault(head: bytes) -> None:
    assert room_of_request(head) is None


def test_the_longest_code_fits_into_the_bytes_that_are_looked_at() -> None:
    line = b"GET /r/%s-b HTTP/1.1\r\n" % (58 * b"a")
    assert len(line) < MAX_LINE_BYTES
    assert room_of_request(line) is not None


def test_the_order_in_which_processes_are_known_does_not_matter() -> None:
    rooms = [draw_code() for _ in range(50)]
    assert [preferred_process(room, PROCESSES) for room in rooms] == [
        preferred_process(room, PROCESSES[::-1]) for room in rooms
    ]


def test_rooms_are_spread_evenly_over_the_processes() -> None:
    counts = Counter(preferred_process(f"room-{number}", PROCESSES) for number in range(3_000))
    assert all(900 < counts[process] < 1_100 for process in PROCESSES)


def test_only_the_rooms_of_a_process_that_ends_move() -> None:
    rooms = [f"room-{number}" for number in range(300)]
    before = {room: preferred_process(room, PROCESSES) for room in rooms}
    after = {room: preferred_process(room, PROCESSES[:2]) for room in rooms}
    assert all(after[room] == before[room] for room in rooms if before[room] != PROCESSES[2])
