"""Everything that survives: rooms as logs, players, records, on Redis and nowhere else."""
