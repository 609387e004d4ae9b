"""What the workers of a parallel run share among themselves before each of them collects all tests."""

from importlib import import_module
from pathlib import Path

import pytest


def import_own_share(config: pytest.Config) -> None:
    """Import every n-th module of tests, in the n-th place, when the process is a worker that collects the whole suite.

    pytest rewrites the assertions of each module that it imports, and keeps the result beside the module. Workers that
    began with the same module would all rewrite all of them: on a fresh clone that took 29 s more of CPU for six.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    modules = sorted(Path(config.rootpath, "tests").rglob("test_*.py"))
    for module in modules[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        import_module(".".join(module.relative_to(config.rootpath).with_suffix("").parts))
