"""A room, pure: which events a command leads to, what follows from them, and who may see it. No I/O, no clock.

A room is the fold of its log (`steps`). `decide` turns a command into events or a refusal; `evolve` turns an event into
the next state, through the phases of `phases`. `projection` turns each step into entries of the wire; `view` decides
when a viewer is shown them. `lobby_entry` makes the room's row in the lobby, `match_record` the records of its matches.
"""
