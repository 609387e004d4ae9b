"""Everything that Fairest stores, all of it on Redis: logs of rooms, players, records, processes."""
