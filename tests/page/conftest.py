"""Browsers for the tests of the page."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import firefox as firefox_browser
from tests.support.browser import PROGRAM, Browser, open_browser
from tests.support.firefox import Firefox, open_firefox

VARIABLE = "TESTS_NEED_BROWSER"
"""Set by CI: a machine without a browser then fails the tests, which it would skip otherwise."""


@asynccontextmanager
async def needed_browser(**options: Any) -> AsyncIterator[Browser]:
    """Start a browser with these options; skip the test on a machine that has none."""
    if PROGRAM is None and VARIABLE not in os.environ:
        pytest.skip("there is no Chromium on the PATH: install Debian's package chromium")
    async with open_browser(**options) as started:
        yield started


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Yield a browser; skip the test on a machine that has none."""
    async with needed_browser() as started:
        yield started


@pytest.fixture
async def firefox(tmp_path: Path) -> AsyncIterator[Firefox]:
    """Yield a Firefox; skip the test on a machine that has none."""
    if firefox_browser.PROGRAM is None and VARIABLE not in os.environ:
        pytest.skip("there is no Firefox on the PATH: install Debian's package firefox-esr")
    profile = tmp_path / "profile"
    profile.mkdir()
    async with open_firefox(profile) as started:
        yield started
