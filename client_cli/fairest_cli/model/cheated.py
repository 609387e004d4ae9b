"""The alarm of a client: the server broke a promise that only a server that cheats breaks."""

from fairest_protocol.calculation.race import Turn


class Cheated(Exception):
    """The server broke the seal. The text says which of its promises it broke, and what shows it."""


def name_place(turn: Turn) -> str:
    """Return the name of a place in the deal for people, who count from one."""
    return f"position {turn.position + 1}" + (f" of redeal {turn.pass_number}" if turn.pass_number else "")
