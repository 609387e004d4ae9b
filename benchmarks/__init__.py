"""Measured figures, each with its goal: `make bench` measures all of them, `make bench ONLY=name` one group."""
