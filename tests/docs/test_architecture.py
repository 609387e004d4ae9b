"""The two pictures of docs/architecture.md, held against the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = {
    "fairest_protocol": ROOT / "protocol" / "fairest_protocol",
    "fairest_server": ROOT / "server" / "fairest_server",
    "fairest_cli": ROOT / "client_cli" / "fairest_cli",
}
MOVE, PARTS = re.findall(r"```mermaid\n(.*?)```", PAGE, flags=re.DOTALL)
IMPORT = re.compile(r"^ *(from fairest_[\w.]+ import (?:\([^)]*\)|[^(\n]+))", re.MULTILINE)
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
    """The modules of ours that a module imports. Only its imports are parsed: that is a tenth of the time."""
    found: set[str] = set()
    for node in ast.parse("\n".join(IMPORT.findall(path.read_text()))).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found & module_names().keys())


class Names(NamedTuple):
    """The names in a module."""

    mentioned: frozenset[str]
    """Every name and attribute that it mentions, and every name that it defines."""
    given: frozenset[str]
    """Every function that it defines, and every attribute that it sets."""


@cache
def names_in(path: Path) -> Names:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    functions = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    mentioned = functions | {node.attr for node in attributes}
    mentioned |= {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    mentioned |= {node.id for node in nodes if isinstance(node, ast.Name)}
    mentioned |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    return Names(frozenset(mentioned), frozenset(functions | stored))


@cache
def module_of(path: str) -> str:
    """The one module with this path below one of the packages."""
    [name] = [name for name, file in module_names().items() if str(file).endswith(f"/{path}")]
    return name


@cache
def boxes() -> dict[str, str]:
    """The modules of the first picture, by the names that its arrows use."""
    return {box: module_of(path) for box, path in re.findall(NODE, MOVE) if path.endswith(".py")}


def arrows(kind: str) -> Iterator[tuple[str, str, str]]:
    """The arrows of a kind in the first picture: module, label, module."""
    for line in MOVE.splitlines():
        plain = re.sub(r"\[\"[^\"]+\"\]", "", line)
        for start, label, end in re.findall(rf"(?=\b(\w+) {re.escape(kind)}\|(\w+)\| (\w+))", plain):
            yield boxes()[start], label, boxes()[end]


@cache
def drawn_parts() -> frozenset[tuple[str, str]]:
    """The arrows of the second picture."""
    found: set[tuple[str, str]] = set()
    for starts, ends in re.findall(r"^ *([\w &]+?) --> ([\w &]+)$", PARTS, flags=re.MULTILINE):
        found |= set(product(starts.split(" & "), ends.split(" & ")))
    return frozenset(found)


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


def is_call(caller: str, name: str, called: str) -> bool:
    """Return whether a module imports another one, and both mention the name."""
    paths = module_names()
    through = imports_of(paths[caller])
    # A value may come from a module between, as a session's connection does; its class is known to the caller.
    is_known = called in through or any(called in imports_of(paths[each]) for each in through)
    return is_known and all(name in names_in(paths[each]).mentioned for each in (caller, called))


def test_each_solid_arrow_is_a_call_of_what_is_imported() -> None:
    assert {arrow for arrow in arrows("-->") if not is_call(*arrow)} == set()


def is_callback(caller: str, name: str, called: str) -> bool:
    """Return whether a module that does not import another one mentions the name of a function of that one."""
    paths = module_names()
    # The function that is handed over may be private to its module.
    is_given = bool(names_in(paths[called]).given & {name, f"_{name}"})
    return is_given and name in names_in(paths[caller]).mentioned and called not in imports_of(paths[caller])


def test_each_dashed_arrow_is_a_callback_by_its_name() -> None:
    assert {arrow for arrow in arrows("-.->") if not is_callback(*arrow)} == set()


def is_message(sender: str, name: str, receiver: str) -> bool:
    """Return whether the name is that of a message, and the modules are in different packages."""
    messages = (module_names()[f"fairest_protocol.messages.{union}"] for union in ("from_client", "from_server"))
    packages = {module.split(".", maxsplit=1)[0] for module in (sender, receiver)}
    return len(packages) == 2 and any(name in names_in(path).mentioned for path in messages)


def test_each_thick_arrow_is_a_message_of_the_wire() -> None:
    assert {arrow for arrow in arrows("==>") if not is_message(*arrow)} == set()


def test_the_first_picture_has_arrows_of_each_kind() -> None:
    assert all(list(arrows(kind)) for kind in ("-->", "-.->", "==>"))


def test_every_arrow_between_parts_is_an_import() -> None:
    assert drawn_parts() - imported_parts() == set()


def test_every_import_between_parts_is_drawn() -> None:
    assert {(start, end) for start, end in imported_parts() if end not in reachable(start)} == set()


def test_no_part_imports_itself_by_a_detour() -> None:
    assert {start for start, _ in drawn_parts() if start in reachable(start)} == set()
