"""One measured figure beside its goal."""

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


def within(figure: str, value: float, unit: str, goal: float, tolerance: float) -> Figure:
    """A figure that should be this, give or take a tolerance."""
    return Figure(figure, value, unit, f"{goal} +- {tolerance}", abs(value - goal) <= tolerance)
