"""The game of Calculation, pure: no clock, no randomness of its own, no I/O, standard library only.

Read it in this order: `cards`, `rules`, `seal`, `deal`, `moves`, `board`, `round`, `record`.
"""
