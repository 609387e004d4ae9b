"""axe, which finds what a page keeps from people who cannot see, hear or point: its rules, run in a real browser."""

import os
import sys
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Page

SCRIPT: Final = Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"
"""From npm, by the lock file in .ci/node; `make test-long` installs it."""
RUN: Final = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}"""


def axe_source() -> str:
    """Return the script; skip the test on a machine that has not installed it, where CI fails."""
    if not SCRIPT.is_file() and "TESTS_NEED_BROWSER" not in os.environ:
        pytest.skip("axe is not installed: run the test by `make test-long`")
    return SCRIPT.read_text()


async def violations(page: Page) -> list[str]:
    """Return what axe finds on the page as it is now. No animation may be under way: it would dim what it moves."""
    await page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null)))")
    await page.evaluate(axe_source())
    found: list[str] = await page.evaluate(RUN)
    return found
