"""Each test of a folder runs on a single Redis, and again on a Cluster."""

import pytest


@pytest.fixture(params=["single", "cluster"])
def redis_url(request: pytest.FixtureRequest, redis_url: str) -> str:
    """Each of the two in its turn, empty."""
    return requested_url(request, redis_url)


def requested_url(request: pytest.FixtureRequest, redis_url: str) -> str:
    """Return the URL of the kind that the parameter names; `redis_url` is that of the single Redis."""
    return redis_url if request.param == "single" else str(request.getfixturevalue("cluster").url)
