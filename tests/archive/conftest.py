"""These tests hold on a single Redis and on a Cluster."""

from tests.support.single_and_cluster import redis_url

__all__ = ["redis_url"]
