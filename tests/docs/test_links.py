"""Links between the pages, and from the code to the pages, lead to files and headings that exist."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s:]*)(#[^)\s]*)?\)")
RECORD = re.compile(r"docs/decisions/[\w./-]+?\.md")
SOURCE = re.compile(r"`([\w/]+\.(?:py|lua))(?::[\w.]+)?`")
FOLDERS = ("protocol", "server", "client_cli", "benchmarks", "tests", "docs")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return frozenset("#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


@cache
def code_files() -> list[Path]:
    return [file for folder in FOLDERS for end in ("py", "lua") for file in (ROOT / folder).rglob(f"*.{end}")]


def leads_somewhere(page: Path, path: str, anchor: str) -> bool:
    """Return whether a link of this page leads to a file, and to one of its headings if it names an anchor."""
    target = (page.parent / path) if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_each_link_of_a_page_leads_somewhere() -> None:
    links = {(page, path, anchor) for page in PAGES for path, anchor in LINK.findall(page.read_text())}
    assert links
    assert {link for link in links if not leads_somewhere(*link)} == set()


def test_each_decision_record_named_in_the_code_exists() -> None:
    named = {name for file in code_files() for name in RECORD.findall(file.read_text())}
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_each_source_file_that_a_page_names_exists() -> None:
    paths = [file.relative_to(ROOT).parts for file in code_files()]
    endings = {"/".join(parts[start:]) for parts in paths for start in range(len(parts))}
    named = {(page, name) for page in PAGES for name in SOURCE.findall(page.read_text())}
    assert named
    assert {(page, name) for page, name in named if name not in endings} == set()
