"""The parts of docs/ that are generated from the code say what the code says now.

They are the contract with clients in other languages: every type, field, default, bound, code and test vector.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from docs.asyncapi import make_asyncapi
from docs.generate import DOCS, make_cards, make_operations, make_parts, make_reference
from docs.openapi import make_openapi
from docs.schemas import SCHEMAS, all_schemas
from docs.typescript import make_typescript

PAGES: dict[str, Callable[[], dict[str, str]]] = {
    "protocol.md": make_parts,
    "rules.md": make_cards,
    "operations.md": make_operations,
}
MARKED = re.compile(r"<!-- generated: (.+?) -->\n\n(.*?)\n\n<!-- end -->", re.DOTALL)


FILES: dict[str, Callable[[], str]] = {
    "asyncapi.json": make_asyncapi,
    "openapi.json": make_openapi,
    "reference.md": make_reference,
    "types/fairest.d.ts": make_typescript,
}


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_that_of_the_code(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == FILES[name]()


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_of_a_page_are_those_of_the_code(page: str) -> None:
    written = dict(MARKED.findall((DOCS / page).read_text("utf-8")))
    assert written == PAGES[page]()


def references(node: Any) -> Iterator[str]:
    """Yield the names of the schemas that a schema refers to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].removeprefix(SCHEMAS)
        for each in node.values():
            yield from references(each)
    elif isinstance(node, list):
        for each in node:
            yield from references(each)


def reachable(names: list[str], schemas: dict[str, Any]) -> set[str]:
    """Return these schemas and all that they refer to, directly or not."""
    found, waiting = set[str](), set(names)
    while waiting:
        found |= waiting
        waiting = {name for each in waiting for name in references(schemas[each])} - found
    return found


def test_every_field_but_four_is_always_there_in_messages_of_the_server() -> None:
    _, servers, _, schemas = all_schemas()
    objects = {name: schemas[name] for name in reachable(servers, schemas) if "properties" in schemas[name]}
    optional = [set(each["properties"]) - set(each.get("required", ())) for each in objects.values()]
    assert set().union(*optional) == {"id", "certified", "credit", "step"}


def test_a_field_that_the_server_always_writes_has_no_default() -> None:
    _, servers, _, schemas = all_schemas()
    assert not any('"default"' in json.dumps(schemas[name]) for name in reachable(servers, schemas))


def test_the_page_defines_every_object_inside_messages() -> None:
    clients, servers, shown, schemas = all_schemas()
    inside = reachable(clients + servers, schemas) - {*clients, *servers, *shown}
    objects = (DOCS / "protocol.md").read_text("utf-8").partition("### Objects inside messages")[2]
    assert {name for name in inside if f"**{name}**:" not in objects and f"`{name}` is " not in objects} == set()
