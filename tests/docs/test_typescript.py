"""The types for TypeScript: `make check` compiles them; here they are held against the game, and the example is run."""

import asyncio
import re
import sys
from itertools import product
from pathlib import Path

from docs.typescript import comment
from fairest_protocol.calculation.cards import full_deck
from fairest_protocol.calculation.moves import MOVES

ROOT = Path(__file__).parents[2]
TYPES = (ROOT / "docs/types/fairest.d.ts").read_text()


def texts_of(name: str) -> set[str]:
    """Return all texts of a type that is a union of texts, templates and names of other such types."""
    found = re.search(rf"^export type {name} = (.*);$", TYPES, re.MULTILINE)
    assert found, f"{name} is declared in one line"
    return texts_of_union(found[1])


def texts_of_union(union: str) -> set[str]:
    texts: set[str] = set()
    for member in re.findall(r"`[^`]*`|\"[^\"]*\"|\w+", union):
        match member[0]:
            case "`":
                parts = re.findall(r"\$\{(.*?)\}|([^$`]+)", member)
                choices = (texts_of_union(inner) if inner else {plain} for inner, plain in parts)
                texts |= {"".join(chosen) for chosen in product(*choices)}
            case '"':
                texts.add(member.strip('"'))
            case _:
                texts |= texts_of(member)
    return texts


def test_a_card_is_one_of_two_decks() -> None:
    assert texts_of("Card") == set(full_deck(2))


def test_a_move_is_one_of_all_moves() -> None:
    assert texts_of("Move") == set(MOVES)


def test_a_comment_cannot_be_ended_by_its_text() -> None:
    assert comment("a */ b") == "/** a * / b */"


def test_no_line_is_longer_than_the_width_of_the_code() -> None:
    assert [line for line in TYPES.splitlines() if len(line) > 120] == []


async def test_the_example_client_opens_a_room(server_url: str) -> None:
    node = Path(sys.executable).parent / "node"
    client = await asyncio.create_subprocess_exec(
        node, ROOT / "docs/types/client.ts", server_url, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await client.communicate()
    assert re.fullmatch(r"[a-z-]+: seat 0, waiting\n", printed.decode())
