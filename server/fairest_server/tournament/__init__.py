"""Tournaments as pure functions and values: the pairs of a round, how it goes on, and the ranks of its players."""
