"""Fixtures for tests that hold the pages of docs/ against a server."""

from tests.support.limited import limited
from tests.support.room_server import rooms

__all__ = ["limited", "rooms"]
