"""The version of Fairest that is installed, which both commands and the server show."""

import platform
from functools import cache
from importlib.metadata import version


@cache
def installed_version() -> str:
    """Return the version of the installed package, such as `0.2.0`. It is read once."""
    return version("fairest")


def python_version() -> str:
    """Return the version of the Python that runs this, such as `3.13.0`."""
    return platform.python_version()


def describe_version() -> str:
    """Return the line that `--version` prints."""
    return f"fairest {installed_version()} on Python {python_version()}"
