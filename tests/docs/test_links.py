"""Links between the pages, and from the code to the pages, lead to files and headings that exist."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s:]*)(#[^)\s]*)?\)")
RECORD = re.compile(r"docs/decisions/[\w./-]+?\.md")
SOURCE = re.compile(r"`([\w/]+\.(?:py|lua))(?::[\w.]+)?`")
FOLDERS = ("protocol", "server", "client_cli", "benchmarks", "tests", "docs")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {"#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def code_files() -> list[Path]:
    return [file for folder in FOLDERS for end in ("py", "lua") for file in (ROOT / folder).rglob(f"*.{end}")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_of_a_page_leads_somewhere(page: Path) -> None:
    broken = []
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path) if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(path + anchor)
    assert not broken


def test_each_decision_record_named_in_the_code_exists() -> None:
    named = {name for file in code_files() for name in RECORD.findall(file.read_text())}
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_source_file_that_a_page_names_exists(page: Path) -> None:
    files = [f"/{file.relative_to(ROOT)}" for file in code_files()]
    named = set(SOURCE.findall(page.read_text()))
    assert {name for name in named if not any(file.endswith(f"/{name}") for file in files)} == set()
