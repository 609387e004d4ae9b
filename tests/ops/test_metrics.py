"""The fast counter and histogram expose what those of prometheus_client expose."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from fairest_server.ops.metrics import FastCounter, FastHistogram

BOUNDS = (0.5, 1, 20)


def exposed(registry: CollectorRegistry) -> list[str]:
    """The lines of the registry, without the creation times that only the library exposes."""
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]


def test_a_fast_counter_exposes_what_a_counter_exposes() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    fast_counter = FastCounter("moves", "Moves.", "kind", ours)
    counter = Counter("moves", "Moves.", ["kind"], registry=theirs)
    for kind in ("up", "down", "up"):
        fast_counter.add(kind)
        counter.labels(kind).inc()
    assert exposed(ours) == exposed(theirs)


def test_a_fast_histogram_exposes_what_a_histogram_exposes() -> None:
    """Also for observations on a bound, and above all bounds."""
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    fast_histogram = FastHistogram("seconds", "Seconds.", BOUNDS, ours)
    histogram = Histogram("seconds", "Seconds.", buckets=BOUNDS, registry=theirs)
    for amount in (0, 0.5, 0.75, 1, 3, 20, 21):
        fast_histogram.add(amount)
        histogram.observe(amount)
    assert exposed(ours) == exposed(theirs)


def test_an_empty_fast_histogram_exposes_zeros() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    FastHistogram("seconds", "Seconds.", BOUNDS, ours)
    Histogram("seconds", "Seconds.", buckets=BOUNDS, registry=theirs)
    assert exposed(ours) == exposed(theirs)
