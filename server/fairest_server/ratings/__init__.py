"""Ratings as pure functions of values: what of a match is rated, and what it changes. No Redis, clock or chance."""
