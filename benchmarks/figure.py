"""One measured figure beside its goal."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured value with its goal, and whether the goal holds. Results are compared by the names of figures."""

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
    """The median of several measurements, the lowest and the highest: the spread to expect of the figure."""
    value = statistics.median(values)
    return [
        Figure(figure, value, unit, goal, holds(value)),
        written_down(f"{figure}_lowest", min(values), unit),
        written_down(f"{figure}_highest", max(values), unit),
    ]


def within(figure: str, value: float, unit: str, goal: float, tolerance: float) -> Figure:
    """A figure whose goal is `goal`, with a tolerance."""
    return Figure(figure, value, unit, f"{goal} +- {tolerance}", abs(value - goal) <= tolerance)
