"""The file of the latest results: a run of some groups keeps the figures that others measured before."""

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.figure import Figure

RESULTS = Path(__file__).parent / "results" / "latest.jsonl"


class ResultsFile:
    """The figures of each name that were measured last, one JSON object a line.

    A line that is not a figure is left out, so that an interrupted run costs no more than its last line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._figures = {figure.figure: figure for figure in _read(path)}

    @property
    def figures(self) -> list[Figure]:
        return list(self._figures.values())

    @property
    def values(self) -> dict[str, float]:
        return {name: figure.value for name, figure in self._figures.items()}

    def add(self, figures: Iterable[Figure]) -> None:
        """Replace the figures of these names, or add them, and write the file."""
        self._figures |= {figure.figure: figure for figure in figures}
        self._path.write_text("".join(json.dumps(figure.__dict__) + "\n" for figure in self._figures.values()))


def _read(path: Path) -> list[Figure]:
    if not path.exists():
        return []
    figures: list[Figure] = []
    for line in path.read_text().splitlines():
        try:
            figures.append(Figure(**json.loads(line)))
        except (TypeError, ValueError):
            continue
    return figures
