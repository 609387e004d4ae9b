"""Servers in this process with limits of their own."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import pytest

from fairest_server.app import running
from fairest_server.settings import Settings

Limited = Callable[..., AbstractAsyncContextManager[str]]
"""Runs a server with the settings that it is called with, and gives its URL."""


@asynccontextmanager
async def limited_server(redis_url: str, **settings: object) -> AsyncIterator[str]:
    """Run a server with these settings on any free port, and yield its URL."""
    async with running(Settings.model_validate({"port": 0, "redis_url": redis_url, **settings})) as url:
        yield url


@pytest.fixture
def limited(redis_url: str) -> Limited:
    """Return a function that runs a server with these settings on the Redis of the run."""
    return partial(limited_server, redis_url)
