"""Fixtures for tests of what a client may do to a server."""

from tests.support.limited import limited

__all__ = ["limited"]
