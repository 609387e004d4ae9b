"""The game can be read, and ported, on its own: it imports the standard library and the base of its values."""

import ast
import sys
from pathlib import Path

from fairest_protocol import calculation

OWN = ("fairest_protocol.calculation", "fairest_protocol.value")


def imported_by(module: Path) -> set[str]:
    tree = ast.parse(module.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_the_game_imports_the_standard_library_and_the_value_base_only() -> None:
    modules = [Path(folder) / name for folder in calculation.__path__ for name in Path(folder).glob("*.py")]
    imported = {name for module in modules for name in imported_by(module)}
    assert len(modules) > 8
    assert [
        name for name in imported if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith(OWN)
    ] == []
