"""How far a run of benchmarks is, and how long it still takes by the durations of earlier runs."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path


class Progress:
    """The groups of one run. `durations` is the file with the seconds of each in earlier runs; `clock` counts seconds.

    A group that was never measured, or a file that cannot be read, leaves the time unknown, and is not waited for.
    """

    def __init__(self, names: Sequence[str], durations: Path, clock: Callable[[], float]) -> None:
        self._names = names
        self._file = durations
        self._clock = clock
        self._began = clock()
        self._known = _read(durations)

    def line(self, name: str) -> str:
        """Return the line that announces a group."""
        place = self._names.index(name)
        left = self._names[place:]
        gone_min = (self._clock() - self._began) / 60
        known_min = sum(self._known.get(each, 0.0) for each in left) / 60
        unknown = sum(each not in self._known for each in left)
        unmeasured = f" and {unknown} that were not measured before" if unknown else ""
        return (
            f"{name}: {place + 1} of {len(self._names)}, {gone_min:.0f} min gone, {known_min:.0f} min left{unmeasured}"
        )

    def finish(self, name: str, seconds: float) -> None:
        """Write down how long a group took."""
        self._known[name] = round(seconds, 1)
        self._file.write_text(json.dumps(self._known, indent=1, sort_keys=True) + "\n")


def _read(file: Path) -> dict[str, float]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: seconds for name, seconds in found.items() if isinstance(seconds, (int, float))}
