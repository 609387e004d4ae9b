"""The processes to which the address of a room may lead."""

from pathlib import Path
from string import ascii_lowercase

import pytest

from fairest_server.edge.room_address import preferred_process, room_of_target
from fairest_server.edge.room_handover import RoomHandover
from fairest_server.edge.room_places import RoomPlaces

ROOM = "amber-quiet-lynx"


def test_a_process_that_is_alone_serves_all_rooms() -> None:
    assert not RoomPlaces(None, lambda: 1, has_tls=False).may_be_elsewhere(ROOM)


def test_behind_a_balancer_a_room_may_be_at_another_process() -> None:
    assert RoomPlaces(None, lambda: 2, has_tls=False).may_be_elsewhere(ROOM)


def test_nobody_can_read_an_address_under_tls() -> None:
    assert not RoomPlaces(None, lambda: 2, has_tls=True).may_be_elsewhere(ROOM)


async def may_be_elsewhere(folder: Path, process_id: str, alive: int) -> bool:
    """Return whether a room of process `process_id` may be elsewhere than at `a`, which shares its port with `b`."""
    both = [RoomHandover(folder, each) for each in "ab"]
    for handover in both:
        handover.open(lambda accepted: accepted.close())
    codes = (f"amber-quiet-{letter}" for letter in ascii_lowercase)
    room = next(code for code in codes if preferred_process(code, "ab") == process_id)
    try:
        return RoomPlaces(both[0], lambda: alive, has_tls=False).may_be_elsewhere(room)
    finally:
        for handover in both:
            handover.close()


async def test_a_room_of_another_process_on_the_port_is_there(tmp_path: Path) -> None:
    assert await may_be_elsewhere(tmp_path, "b", alive=2)


async def test_a_room_of_our_own_is_here(tmp_path: Path) -> None:
    assert not await may_be_elsewhere(tmp_path, "a", alive=2)


async def test_a_room_of_our_own_may_be_at_a_process_of_another_machine(tmp_path: Path) -> None:
    assert await may_be_elsewhere(tmp_path, "a", alive=3)


@pytest.mark.parametrize(
    ("target", "room"),
    [(f"/r/{ROOM}", ROOM), (f"/r/{ROOM}?key=1", ROOM), ("/", ""), ("/r/", ""), (f"/r/{ROOM}/board", ""), ("", "")],
)
def test_the_target_of_a_request_may_be_the_address_of_a_room(target: str, room: str) -> None:
    assert room_of_target(target) == room
