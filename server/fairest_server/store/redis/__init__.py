"""How to talk to Redis: connections, batches, scripts, a Cluster, the embedded engine."""
