"""The modules of a checkout, parsed once."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

PACKAGES: Final = ("fairest_protocol", "fairest_server", "fairest_cli")
"""The three import packages, in the order of `FOLDERS`."""

FOLDERS: Final = ("protocol", "server", "client_cli")
"""The top-level folders. Up to commit 9a3feff each was itself the import package."""


@dataclass(frozen=True)
class Module:
    """One file of Python source."""

    name: str
    """The dotted name by which it is imported; a package's `__init__.py` has the name of the package."""
    path: Path
    """Relative to the root of the checkout."""
    source: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree. Each measure looks at all of them, and walking a tree takes longer than a look."""
        return tuple(ast.walk(self.tree))

    @property
    def is_package(self) -> bool:
        """True for an `__init__.py`."""
        return self.path.name == "__init__.py"

    @property
    def line_count(self) -> int:
        """The number of lines of the file, blank ones included."""
        return len(self.source.splitlines())


def package_folders(root: Path) -> dict[str, Path]:
    """Return the folder of each import package, by the package's name; knows the layout of commit 9a3feff too."""
    named = {package: root / folder / package for package, folder in zip(PACKAGES, FOLDERS, strict=True)}
    if all(folder.is_dir() for folder in named.values()):
        return named
    return {folder: root / folder for folder in FOLDERS}


def read_modules(root: Path) -> list[Module]:
    """Parse every module of the three packages. Raises FileNotFoundError if `root` is not a checkout of Fairest."""
    modules: list[Module] = []
    for package, folder in package_folders(root).items():
        if not folder.is_dir():
            raise FileNotFoundError(f"{root} is not a checkout of Fairest: it has no {folder.relative_to(root)}/")
        modules.extend(_read_package(root, package, folder))
    return modules


def _read_package(root: Path, package: str, folder: Path) -> Iterator[Module]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        source = path.read_text()
        yield Module(".".join((package, *parts)), path.relative_to(root), source, ast.parse(source))
