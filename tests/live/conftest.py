"""Fixtures for tests of live rooms: single ones in paper surroundings, and those of a process on a real Redis."""

import pytest

from tests.support.isolated_room import IsolatedRoom
from tests.support.room_server import rooms

__all__ = ["rooms"]


@pytest.fixture
def alone() -> IsolatedRoom:
    """A room whose log is empty."""
    return IsolatedRoom()


@pytest.fixture
def seated() -> IsolatedRoom:
    """A room with two players, before anybody is ready."""
    isolated = IsolatedRoom()
    isolated.seat_both()
    return isolated
