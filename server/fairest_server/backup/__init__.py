"""Backups: everything that Fairest keeps in Redis as one file, and the way back."""
