"""No two programs of a run of the tests are given the same port."""

import pytest

from tests.support import ports
from tests.support.ports import free_port


def test_no_port_is_returned_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_given", set())
    monkeypatch.setattr(ports, "HIGHEST", ports.LOWEST + 40 * ports.WORKERS)
    returned: list[int] = []
    try:
        while True:
            returned.append(free_port())
    except RuntimeError:
        assert len(set(returned)) == len(returned) > 0


def test_no_port_is_returned_by_two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "WORKERS", 8)
    returned: list[set[int]] = []
    for worker in (0, 1):
        monkeypatch.setattr(ports, "WORKER", worker)
        monkeypatch.setattr(ports, "_given", set())
        returned.append({free_port() for _ in range(200)})
    assert not returned[0] & returned[1]
