"""Tests of which `make test` runs a few values, and `make test-long` all others."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def parametrize_with_long(
    names: str | tuple[str, ...],
    values: Iterable[Any],
    *,
    quick: int,
    ids: Callable[[Any], str] | tuple[str, ...] | None = None,
) -> pytest.MarkDecorator:
    """Return a `pytest.mark.parametrize` in which all values but the first `quick` ones are marked as long."""
    has_one_name = isinstance(names, str) and "," not in names
    marked = [
        value if place < quick else _as_long(value, has_one_name=has_one_name) for place, value in enumerate(values)
    ]
    return pytest.mark.parametrize(names, marked, ids=ids)


def _as_long(value: Any, *, has_one_name: bool) -> Any:
    return pytest.param(*((value,) if has_one_name else value), marks=pytest.mark.long)
