"""How Fairest talks to Redis: a single one, a Cluster, or one that it starts itself."""
