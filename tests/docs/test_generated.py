"""The parts of docs/ that are generated from the code say what the code says now.

They are the contract with clients in other languages: every type, field, default, bound, code and test vector.
"""

import re
from collections.abc import Callable

import pytest

from docs.generate import DOCS, make_asyncapi, make_cards, make_operations, make_parts

PAGES: dict[str, Callable[[], dict[str, str]]] = {
    "protocol.md": make_parts,
    "rules.md": make_cards,
    "operations.md": make_operations,
}
MARKED = re.compile(r"<!-- generated: (.+?) -->\n\n(.*?)\n\n<!-- end -->", re.DOTALL)


def test_the_asyncapi_document_is_that_of_the_code() -> None:
    assert (DOCS / "asyncapi.json").read_text("utf-8") == make_asyncapi()


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_of_a_page_are_those_of_the_code(page: str) -> None:
    written = dict(MARKED.findall((DOCS / page).read_text("utf-8")))
    assert written == PAGES[page]()
