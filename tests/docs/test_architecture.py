"""The two pictures of docs/architecture.md, held against the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = {
    "fairest_protocol": ROOT / "protocol" / "fairest_protocol",
    "fairest_server": ROOT / "server" / "fairest_server",
    "fairest_cli": ROOT / "client_cli" / "fairest_cli",
}
MOVE, PARTS = re.findall(r"```mermaid\n(.*?)```", PAGE, flags=re.DOTALL)
NODE = r"(\w+)(?:\[\"([^\"]+)\"\])?"


@cache
def module_names() -> dict[str, Path]:
    """Every module of ours, by its name."""
    return {
        ".".join((package, *path.relative_to(folder).with_suffix("").parts)): path
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*.py")
    }


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The modules of ours that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found & module_names().keys())


@cache
def names_in(path: Path) -> frozenset[str]:
    """Every name and attribute that a module mentions, and every name that it defines."""
    tree = ast.parse(path.read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    defined = {
        node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    return frozenset(used | defined)


@cache
def given_in(path: Path) -> frozenset[str]:
    """Every function that a module defines, and every attribute that it sets."""
    tree = ast.parse(path.read_text())
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return frozenset(defined | {node.attr for node in attributes if isinstance(node.ctx, ast.Store)})


@cache
def module_of(path: str) -> str:
    """The one module with this path below one of the packages."""
    [name] = [name for name, file in module_names().items() if str(file).endswith(f"/{path}")]
    return name


def boxes() -> dict[str, str]:
    """The modules of the first picture, by the names that its arrows use."""
    return {box: module_of(path) for box, path in re.findall(NODE, MOVE) if path.endswith(".py")}


def arrows(kind: str) -> Iterator[tuple[str, str, str]]:
    """The arrows of a kind in the first picture: module, label, module."""
    for line in MOVE.splitlines():
        plain = re.sub(r"\[\"[^\"]+\"\]", "", line)
        for start, label, end in re.findall(rf"(?=\b(\w+) {re.escape(kind)}\|(\w+)\| (\w+))", plain):
            yield boxes()[start], label, boxes()[end]


def drawn_parts() -> set[tuple[str, str]]:
    """The arrows of the second picture."""
    found: set[tuple[str, str]] = set()
    for starts, ends in re.findall(r"^ *([\w &]+?) --> ([\w &]+)$", PARTS, flags=re.MULTILINE):
        found |= set(product(starts.split(" & "), ends.split(" & ")))
    return found


def part_of(module: str) -> str:
    """The folder, or the single module, directly below its package."""
    return module.split(".")[1]


def imported_parts() -> set[tuple[str, str]]:
    """Which part of the code imports which."""
    return {
        (part_of(module), part_of(imported))
        for module, path in module_names().items()
        for imported in imports_of(path)
        if not {part_of(module), part_of(imported)} & {"__init__", "__main__"} and part_of(module) != part_of(imported)
    }


def reachable(start: str) -> set[str]:
    """The parts to which the drawn arrows lead."""
    found: set[str] = set()
    waiting = {start}
    while waiting:
        waiting = {end for begin, end in drawn_parts() if begin in waiting} - found
        found |= waiting
    return found


@pytest.mark.parametrize(("caller", "name", "called"), list(arrows("-->")))
def test_a_solid_arrow_is_a_call_of_what_is_imported(caller: str, name: str, called: str) -> None:
    paths = module_names()
    through = imports_of(paths[caller])
    # A value may come from a module between, as a session's connection does; its class is known to the caller.
    assert called in through or any(called in imports_of(paths[each]) for each in through)
    assert name in names_in(paths[caller])
    assert name in names_in(paths[called])


@pytest.mark.parametrize(("caller", "name", "called"), list(arrows("-.->")))
def test_a_dashed_arrow_is_a_callback_by_its_name(caller: str, name: str, called: str) -> None:
    paths = module_names()
    assert called not in imports_of(paths[caller])
    assert name in names_in(paths[caller])
    # The function that is handed over may be private to its module.
    assert given_in(paths[called]) & {name, f"_{name}"}


@pytest.mark.parametrize(("sender", "name", "receiver"), list(arrows("==>")))
def test_a_thick_arrow_is_a_message_of_the_wire(sender: str, name: str, receiver: str) -> None:
    assert sender.split(".", maxsplit=1)[0] != receiver.split(".", maxsplit=1)[0]
    messages = (module_names()[f"fairest_protocol.messages.{union}"] for union in ("from_client", "from_server"))
    assert any(name in names_in(path) for path in messages)


def test_the_first_picture_has_arrows_of_each_kind() -> None:
    assert all(list(arrows(kind)) for kind in ("-->", "-.->", "==>"))


def test_every_arrow_between_parts_is_an_import() -> None:
    assert drawn_parts() - imported_parts() == set()


def test_every_import_between_parts_is_drawn() -> None:
    assert {(start, end) for start, end in imported_parts() if end not in reachable(start)} == set()


def test_no_part_imports_itself_by_a_detour() -> None:
    assert {start for start, _ in drawn_parts() if start in reachable(start)} == set()
