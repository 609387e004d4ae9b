"""Pictures of measured figures: bar charts as SVG, which `make bench` writes beside its results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from benchmarks.figure import Figure

WIDTH = 720
LABELS_WIDTH = 250
ROW_HEIGHT = 26
BAR_HEIGHT = 14
TOP = 54
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.race { fill: #1a7f37 } .redis { fill: #9a6700 } .control { fill: #8c959f }
.spread { stroke: #1f2328; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .spread { stroke: #e6edf3 } svg { background: #0d1117 } }
"""


@dataclass(frozen=True)
class Bar:
    """A row of a chart. Each part is the name of a figure and its class: `race`, `redis` or `control`."""

    label: str
    parts: tuple[tuple[str, str], ...]

    def figures(self) -> Iterable[str]:
        return (figure for figure, _ in self.parts)


@dataclass(frozen=True)
class Chart:
    """A chart with the name of its file, its title and its rows."""

    name: str
    title: str
    bars: tuple[Bar, ...]


def _race(label: str, server: str, redis: str | None = None) -> Bar:
    return Bar(label, ((server, "race"), *(((redis, "redis"),) if redis else ())))


def _control(label: str, figure: str) -> Bar:
    return Bar(label, ((figure, "control"),))


LOADS = (("500/s", "500"), ("2,500/s", "2500"), ("6,000/s", "6000"), ("without a pause", "saturated"))
PERCENTILES = (
    *(("half of all", "p50_ms"), ("9 of 10", "p90_ms")),
    *(("99 of 100", "p99_ms"), ("999 of 1,000", "p999_ms")),
)
CHARTS = (
    Chart(
        "cost_saturated",
        "CPU for a move, 500 rooms without a pause (us; brown: Redis)",
        (
            _race("Fairest", "move_us", "move_redis_us"),
            _control("echo", "echo_us"),
            _control("relay", "relay_us"),
            _control("hand-written race, nothing stored", "handwritten_us"),
            _control("the same on Node and ws", "node_us"),
            _control("relay that stores (Redis left out)", "stored_us"),
            _control("judged and stored, no more (same)", "bare_us"),
            _control("the same by our pure core (same)", "core_us"),
        ),
    ),
    Chart(
        "cost_paced",
        "CPU for a move at a person's pace, 50 rooms (us; brown: Redis)",
        (
            _race("Fairest", "move_us_paced", "move_redis_us_paced"),
            _control("echo", "echo_us_paced"),
            _control("relay", "relay_us_paced"),
            _control("hand-written race, nothing stored", "handwritten_us_paced"),
            _control("the same on Node and ws", "node_us_paced"),
            _control("relay that stores (Redis left out)", "stored_us_paced"),
            _control("judged and stored, no more (same)", "bare_us_paced"),
            _control("the same by our pure core (same)", "core_us_paced"),
        ),
    ),
    Chart(
        "cost_whole_races",
        "CPU for a move, whole races to their records (us; brown: Redis)",
        (
            _race("Fairest, 500 rooms saturated", "total_server_us", "total_redis_us"),
            _control("hand-written race", "total_handwritten_us"),
            _control("relay that stores, with Redis", "total_stored_us"),
            _control("judged and stored, no more", "total_bare_us"),
            _control("the same by our pure core", "total_core_us"),
            _race("Fairest, random games", "random_server_us", "random_redis_us"),
            _control("hand-written race", "random_handwritten_us"),
            _race("Fairest, independent players", "independent_server_us", "independent_redis_us"),
            _control("hand-written race", "independent_handwritten_us"),
            _control("relay that stores, with Redis", "independent_stored_us"),
            _control("judged and stored, no more", "independent_bare_us"),
            _control("the same by our pure core", "independent_core_us"),
        ),
    ),
    Chart(
        "cost_by_load",
        "CPU for a move by load (us; brown: Redis)",
        tuple(
            bar
            for label, load in LOADS
            for bar in (
                _race(f"Fairest, {label}", f"load_{load}_server_us", f"load_{load}_redis_us"),
                _control("hand-written race", f"load_{load}_handwritten_server_us"),
                _control("the same on Node and ws", f"load_{load}_node_server_us"),
            )
        ),
    ),
    Chart(
        "latency_distribution",
        "The answer to a move at 2,500 moves a second (ms)",
        tuple(
            bar
            for label, field in PERCENTILES
            for bar in (
                _race(f"Fairest, {label}", f"load_2500_{field}"),
                _control("hand-written race", f"load_2500_handwritten_{field}"),
                _control("the same on Node and ws", f"load_2500_node_{field}"),
            )
        ),
    ),
    Chart(
        "cost_by_spectators",
        "CPU for a move by spectators (us)",
        (
            _race("50 matches without a pause, none", "watched_50_move_us_alone"),
            _race("ten on each", "watched_50_move_us"),
            _control("echo", "watched_50_echo_us"),
            _race("100 matches at a person's pace, none", "matches_100_move_us_alone"),
            _race("ten on each", "matches_100_move_us_watched"),
            _race("one match, none", "crowd_move_us_alone"),
            _race("a thousand", "crowd_move_us_watched"),
        ),
    ),
    Chart(
        "cost_by_rooms",
        "CPU for a move by rooms, over that in 100 rooms",
        (
            *(_race(f"Fairest, {rooms:,} rooms", f"room_scaling_{rooms}") for rooms in (10, 1_000, 9_900)),
            _control("hand-written race, 9,900", "room_scaling_9900_handwritten"),
            _control("the same on Node and ws, 9,900", "room_scaling_9900_node"),
        ),
    ),
    Chart(
        "latency",
        "99th percentile of the answer to a move (ms)",
        (
            _race("Fairest, at half of its load", "move_p99_ms_half_load"),
            _control("echo", "echo_p99_ms_half_load"),
            _control("hand-written race", "handwritten_p99_ms_half_load"),
            _race("Fairest, saturated", "move_p99_ms"),
            _race("Fairest, a person's pace", "move_p99_ms_paced"),
        ),
    ),
)


def drawings(figures: Iterable[Figure]) -> dict[str, str]:
    """Return the SVG of each chart whose figures were all measured, by its name."""
    values = {figure.figure: figure.value for figure in figures}
    return {
        chart.name: draw(chart, values)
        for chart in CHARTS
        if all(figure in values for bar in chart.bars for figure in bar.figures())
    }


def draw(chart: Chart, values: Mapping[str, float]) -> str:
    """Return a chart as SVG. A line over the end of a bar shows the lowest and the highest of several measurements."""
    longest = max(max(_total(bar, values), _spread(bar, values)[1]) for bar in chart.bars)
    per_unit = (WIDTH - LABELS_WIDTH - 110) / longest
    height = TOP + ROW_HEIGHT * len(chart.bars)
    rows = "".join(
        _row(bar, values, TOP + ROW_HEIGHT * number - ROW_HEIGHT / 2, per_unit) for number, bar in enumerate(chart.bars)
    )
    title = escape(chart.title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">'
        f'<style>{STYLE}</style><text class="title" x="8" y="24">{title}</text>{rows}</svg>\n'
    )


def _row(bar: Bar, values: Mapping[str, float], top: float, per_unit: float) -> str:
    baseline = top + BAR_HEIGHT - 2
    drawn = [f'<text x="{LABELS_WIDTH - 8}" y="{baseline:.0f}" text-anchor="end">{escape(bar.label)}</text>']
    left = float(LABELS_WIDTH)
    for figure, kind in bar.parts:
        width = values[figure] * per_unit
        drawn.append(f'<rect class="{kind}" x="{left:.1f}" y="{top:.0f}" width="{width:.1f}" height="{BAR_HEIGHT}"/>')
        left += width
    lowest, highest = _spread(bar, values)
    if highest > lowest:
        middle = top + BAR_HEIGHT / 2
        ends = [LABELS_WIDTH + value * per_unit for value in (lowest, highest)]
        drawn.append(f'<path class="spread" d="M{ends[0]:.1f} {middle:.1f}H{ends[1]:.1f}"/>')
        left = max(left, ends[1])
    drawn.append(f'<text x="{left + 6:.1f}" y="{baseline:.0f}">{_shown(_parts(bar, values))}</text>')
    return "".join(drawn)


def _parts(bar: Bar, values: Mapping[str, float]) -> Sequence[float]:
    return [values[figure] for figure in bar.figures()]


def _total(bar: Bar, values: Mapping[str, float]) -> float:
    return sum(_parts(bar, values))


def _spread(bar: Bar, values: Mapping[str, float]) -> tuple[float, float]:
    """Return the lowest and the highest measurement of a bar with one part; twice 0 if it was measured once."""
    figure = bar.parts[0][0]
    return (
        (values.get(f"{figure}_lowest", 0.0), values.get(f"{figure}_highest", 0.0)) if len(bar.parts) == 1 else (0, 0)
    )


def _shown(parts: Sequence[float]) -> str:
    return " + ".join(f"{part:.3g}" for part in parts)
