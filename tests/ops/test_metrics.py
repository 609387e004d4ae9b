"""What is counted without the library's locks is told as the library tells it."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from fairest_server.ops.metrics import FastCounter, FastHistogram

BOUNDS = (0.5, 1, 20)


def told(registry: CollectorRegistry) -> list[str]:
    """All but the times at which the library made its own."""
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]


def test_a_tally_tells_what_a_counter_tells() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    tally = FastCounter("moves", "Moves.", "kind", ours)
    counter = Counter("moves", "Moves.", ["kind"], registry=theirs)
    for kind in ("up", "down", "up"):
        tally.add(kind)
        counter.labels(kind).inc()
    assert told(ours) == told(theirs)


def test_a_spread_tells_what_a_histogram_tells() -> None:
    """Also of what lies on a bound, and above all of them."""
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    spread = FastHistogram("seconds", "Seconds.", BOUNDS, ours)
    histogram = Histogram("seconds", "Seconds.", buckets=BOUNDS, registry=theirs)
    for amount in (0, 0.5, 0.75, 1, 3, 20, 21):
        spread.add(amount)
        histogram.observe(amount)
    assert told(ours) == told(theirs)


def test_nothing_counted_is_told_as_nothing() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    FastHistogram("seconds", "Seconds.", BOUNDS, ours)
    Histogram("seconds", "Seconds.", buckets=BOUNDS, registry=theirs)
    assert told(ours) == told(theirs)
