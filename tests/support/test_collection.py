"""Each test module is imported first by one worker, and by no other."""

from pathlib import Path

import pytest

from tests.support.collection import own_share

MODULES = [Path(f"test_{number}.py") for number in range(20)]


@pytest.mark.parametrize("workers", [1, 3, 6, 32])
def test_every_module_is_in_the_share_of_one_worker(workers: int) -> None:
    shares = [own_share(MODULES, f"gw{number}", workers) for number in range(workers)]
    assert sorted(module for share in shares for module in share) == sorted(MODULES)
