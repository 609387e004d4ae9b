"""Figures, each with its goal, printed for people and kept as JSON lines. `make bench`, or `make bench ONLY=name`."""
