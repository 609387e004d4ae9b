"""Each test module is imported early by one worker, and a broken one is left to collection."""

import sys
from pathlib import Path

import pytest

from tests.support.collection import import_early, own_share

MODULES = [Path(f"test_{number}.py") for number in range(20)]


@pytest.mark.parametrize("workers", [1, 3, 6, 32])
def test_every_module_is_in_the_share_of_one_worker(workers: int) -> None:
    shares = [own_share(MODULES, f"gw{number}", workers) for number in range(workers)]
    assert sorted(module for share in shares for module in share) == sorted(MODULES)


@pytest.mark.parametrize(
    "text", ["import no_such_module", "def f(:", "import pytest; pytest.importorskip('no_such_module')"]
)
def test_a_module_that_cannot_be_imported_ends_no_worker(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cannot_be_imported.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import_early("cannot_be_imported")
    assert "cannot_be_imported" not in sys.modules
