"""The processes that share a port, by the sockets that they have in a folder."""

from pathlib import Path

import pytest

from fairest_server.edge.neighbours import LEFT_OUT_SECONDS, Neighbours

ROOMS = [f"room-{number}" for number in range(100)]


class Clock:
    """A monotonic clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def neighbours(tmp_path: Path, clock: Clock) -> Neighbours:
    """The neighbours as process `a` knows them, which has one, `b`."""
    for process in "ab":
        (tmp_path / process).touch()
    return Neighbours(tmp_path, "a", clock)


def serving(neighbours: Neighbours) -> set[str]:
    return {neighbours.serving(room) for room in ROOMS}


def test_rooms_are_spread_over_all_processes(neighbours: Neighbours) -> None:
    assert serving(neighbours) == {"a", "b"}


def test_a_process_that_comes_is_known_at_once(neighbours: Neighbours, tmp_path: Path) -> None:
    assert serving(neighbours) == {"a", "b"}
    (tmp_path / "c").touch()
    assert serving(neighbours) == {"a", "b", "c"}


def test_a_process_that_removes_its_socket_serves_no_room(neighbours: Neighbours, tmp_path: Path) -> None:
    assert serving(neighbours) == {"a", "b"}
    (tmp_path / "b").unlink()
    assert serving(neighbours) == {"a"}


def test_a_forgotten_process_serves_no_room(neighbours: Neighbours) -> None:
    neighbours.forget("b")
    assert serving(neighbours) == {"a"}


def test_a_process_that_did_not_take_a_socket_is_left_out_for_a_while(neighbours: Neighbours, clock: Clock) -> None:
    neighbours.leave_out("b")
    assert serving(neighbours) == {"a"}
    clock.now += LEFT_OUT_SECONDS
    assert serving(neighbours) == {"a", "b"}


def test_two_processes_agree_on_every_room(neighbours: Neighbours, tmp_path: Path) -> None:
    other = Neighbours(tmp_path, "b")
    assert [neighbours.serving(room) for room in ROOMS] == [other.serving(room) for room in ROOMS]


def test_without_its_folder_a_process_serves_all_rooms(neighbours: Neighbours, tmp_path: Path) -> None:
    for path in tmp_path.iterdir():
        path.unlink()
    tmp_path.rmdir()
    assert serving(neighbours) == {"a"}


def test_the_last_process_removes_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    for process in "ab":
        (folder / process).touch()
    Neighbours(folder, "a").leave()
    assert folder.exists()
    Neighbours(folder, "b").leave()
    assert not folder.exists()
