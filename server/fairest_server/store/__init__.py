"""What Fairest keeps, all of it on Redis: logs of rooms, players, records, processes."""
