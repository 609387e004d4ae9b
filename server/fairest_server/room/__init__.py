"""A room, pure: what may happen in it, what follows, and who may see it. No sockets, no Redis, no clock.

A room is the fold of its log. `decide` turns a command into events or a refusal; `evolve` turns an event into the next
state; `news` says what happened in the words of the wire, `view` what of it each viewer is shown.
"""
