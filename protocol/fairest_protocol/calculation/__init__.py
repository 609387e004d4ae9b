"""The game of Calculation, pure: no clock, no randomness of its own, no I/O.

It imports the standard library and `fairest_protocol.value`, the base of its values, which is built on msgspec.
Read it in this order: `cards`, `rules`, `seal`, `deal`, `moves`, `board`, `round`, `record`, `record_parser`; then
the solver: `open_stock`, `exhaustion`, `solver`.
"""
