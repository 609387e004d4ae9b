"""No two programs of a run of the tests are given the same port."""

import socket
from contextlib import suppress

import pytest

from tests.support import ports
from tests.support.ports import free_ports


def only_these(range_of_ports: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only these ports to choose from, none of them returned yet."""
    monkeypatch.setattr(ports, "LOWEST", range_of_ports.start)
    monkeypatch.setattr(ports, "HIGHEST", range_of_ports.stop)
    monkeypatch.setattr(ports, "WORKER", 0)
    monkeypatch.setattr(ports, "WORKERS", 1)
    monkeypatch.setattr(ports, "_given", set())


@pytest.mark.parametrize("count", [1, 3])
def test_no_port_is_returned_twice(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    only_these(free_ports(40), monkeypatch)
    returned: list[int] = []
    with suppress(RuntimeError):
        while True:
            returned += free_ports(count)
    assert len(set(returned)) == len(returned) > 0


def test_no_port_is_returned_by_two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "WORKERS", 8)
    returned: list[set[int]] = []
    for worker in (0, 1):
        monkeypatch.setattr(ports, "WORKER", worker)
        monkeypatch.setattr(ports, "_given", set())
        returned.append({port for _ in range(200) for port in free_ports(2)})
    assert not returned[0] & returned[1]


def test_a_free_port_below_one_that_is_taken_is_not_returned_as_two(monkeypatch: pytest.MonkeyPatch) -> None:
    free, taken = free_ports(2)
    only_these(range(free, taken + 1), monkeypatch)
    with socket.socket() as held:
        held.bind(("127.0.0.1", taken))
        with pytest.raises(RuntimeError):
            free_ports(2)
