"""Exit codes of the command `fairest`, as scripts see them."""

from typing import Final

FAULT: Final = 1
"""The command could not do its work, or `fairest doctor` found a fault; a sentence on standard error says why."""
USAGE: Final = 2
"""The command line was wrong; typer ends the program with the same code."""
BROKEN_SEAL: Final = 3
"""A server, or a record, was caught cheating."""
INTERRUPTED: Final = 130
"""Ctrl-C ended the program (128 + SIGINT)."""
