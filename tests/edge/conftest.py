"""Fixtures for tests of what a client may do to a server."""

from functools import partial

import pytest

from tests.support.limited import Limited, limited_server


@pytest.fixture
def limited(redis_url: str) -> Limited:
    """A server with these settings."""
    return partial(limited_server, redis_url)
