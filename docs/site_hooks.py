"""Hooks of mkdocs: the records of decisions in the navigation, and links to files that are not part of the site."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """List every record of a decision, in the place of `*`."""
    records = sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / "decisions").glob("0*.md"))
    for entry in config["nav"]:
        for title, pages in entry.items():
            if isinstance(pages, list):
                entry[title] = [each for page in pages for each in (records if page == "*" else [page])]
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write a link to a file of the project that is not a page of the site as its path."""

    def rewrite(found: re.Match[str]) -> str:
        target = (DOCS / page.file.src_uri).parent / found[2]
        if not target.exists():
            return found[0]
        path = target.resolve()
        if path.is_relative_to(DOCS) and (
            path.suffix in (".md", ".svg", ".json", ".ts", ".mjs") or path.parent == DOCS / "examples"
        ):
            return found[0]
        return f"{found[1]} (`{path.relative_to(ROOT).as_posix()}` of the project)"

    return LINK.sub(rewrite, markdown)
