"""Metrics exist before they count. The fast counter and histogram expose what those of prometheus_client expose."""

from collections.abc import Iterable

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest

from fairest_protocol.messages.refusals import Breach, Refusal
from fairest_server.ops.metrics import CutOff, Durability, FastCounter, FastHistogram, Part, TurnedAway
from fairest_server.store.appends import Answer

BOUNDS = (0.5, 1, 20)


def exposed(registry: CollectorRegistry) -> list[str]:
    """The lines of the registry, without the creation times that only the library exposes."""
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]


def test_a_fast_counter_exposes_what_a_counter_exposes() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    fast_counter = FastCounter("moves", "Moves.", "kind", ("up", "down"), ours)
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


@pytest.mark.parametrize(
    ("name", "label", "values"),
    [
        ("fairest_turned_away_total", "reason", TurnedAway),
        ("fairest_breaches_total", "code", Breach),
        ("fairest_refusals_total", "code", Refusal),
        ("fairest_cut_off_total", "reason", CutOff),
        ("fairest_appends_total", "answer", Answer),
        ("fairest_faults_total", "where", Part),
        ("fairest_durability", "promise", Durability),
        ("fairest_messages_total", "type", ("hello", "create", "play", "get_lobby")),
    ],
)
def test_every_value_of_a_label_exists_before_it_counts(name: str, label: str, values: Iterable[str]) -> None:
    """Otherwise an alarm on an increase stays silent for the first event."""
    assert [value for value in values if REGISTRY.get_sample_value(name, {label: str(value)}) is None] == []


def test_a_counter_that_was_counted_keeps_its_count_when_more_values_are_declared() -> None:
    registry = CollectorRegistry()
    counted = FastCounter("moves", "Moves.", "kind", ("up",), registry)
    counted.add("up")
    counted.declare(("up", "down"))
    assert registry.get_sample_value("moves_total", {"kind": "up"}) == 1
