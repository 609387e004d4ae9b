"""The test modules that each worker of a parallel run imports before it collects all tests."""

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest


def import_own_share(config: pytest.Config) -> None:
    """Import this worker's share of the test modules, if the whole suite is about to be collected.

    pytest rewrites the assertions of each module that it imports, and keeps the result beside the module. Workers that
    begin with the same module rewrite all of them, each for itself: on a fresh clone, six needed 89 s of CPU to
    collect, and with shares 71 s.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    modules = sorted(Path(config.rootpath, "tests").rglob("test_*.py"))
    for module in own_share(modules, worker["workerid"], worker["workercount"]):
        import_early(".".join(module.relative_to(config.rootpath).with_suffix("").parts))


def import_early(name: str) -> None:
    """Import a module of tests, if it can be. Collection imports a broken one again, and reports what is wrong."""
    with suppress(Exception, pytest.skip.Exception):
        import_module(name)


def own_share(modules: Sequence[Path], worker_id: str, workers: int) -> Sequence[Path]:
    """Return every `workers`-th module, beginning at the number in `worker_id`, which is "gw0", "gw1" and so on."""
    return modules[int(worker_id.removeprefix("gw")) :: workers]
