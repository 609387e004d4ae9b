"""One measured figure beside its goal."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    figure: str
    value: float
    unit: str
    goal: str
    holds: bool


def written_down(figure: str, value: float, unit: str) -> Figure:
    """A figure without a goal."""
    return Figure(figure, value, unit, "(written down)", holds=True)


def median_of(
    figure: str,
    values: Sequence[float],
    unit: str,
    goal: str = "(written down)",
    holds: Callable[[float], bool] = lambda _: True,
) -> list[Figure]:
    """The median of what was measured several times, the lowest and the highest: the spread to expect of it."""
    value = statistics.median(values)
    return [
        Figure(figure, value, unit, goal, holds(value)),
        written_down(f"{figure}_lowest", min(values), unit),
        written_down(f"{figure}_highest", max(values), unit),
    ]


def within(figure: str, value: float, unit: str, goal: float, tolerance: float) -> Figure:
    """A figure that should be this, give or take a tolerance."""
    return Figure(figure, value, unit, f"{goal} +- {tolerance}", abs(value - goal) <= tolerance)
