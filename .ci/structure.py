"""Measure how the source code is built: import circles, sizes, language, private names of other projects.

`python .ci/structure.py` prints a table; `--check` exits 1 if a figure is over its limit in pyproject.toml
([tool.fairest.structure]) and prints the places; `--root` measures another checkout, back to the layout of commit
9a3feff, so that figures of before and after come from one script.
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from measures.imports import Graph, count_layers, find_circles, fold_into_children, import_graph
from measures.private_names import private_uses
from measures.sentences import BARE_WHO, WHAT_AS_SUBJECT, find_phrases, read_texts, short_docstrings
from measures.tree import Module, package_folders, read_modules

ROOT: Final = Path(__file__).resolve().parent.parent

MANY_METHODS: Final = 15
LONG_FILE_LINES: Final = 320
LARGEST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number."""

    key: str
    """Its name in [tool.fairest.structure.limits]."""
    title: str
    value: int
    places: Sequence[object] = field(default=())
    """The places that were counted."""


def measure(root: Path, drivers: Iterable[str]) -> list[Figure]:
    """Return all figures of a checkout. Raises FileNotFoundError if `root` is not one."""
    modules = read_modules(root)
    graph = import_graph(modules)
    return [
        *_import_figures(graph),
        *_size_figures(modules),
        *_language_figures(modules),
        _figure("private_names", "private names of dependencies outside driver files", private_uses(modules, drivers)),
        *_child_figures(graph, [*package_folders(root)]),
    ]


def _figure(key: str, title: str, places: Sequence[object]) -> Figure:
    return Figure(key, title, len(places), places)


def _import_figures(graph: Graph) -> Iterable[Figure]:
    circles = [" <-> ".join(circle) for circle in find_circles(graph)]
    yield _figure("circles", "import circles between modules", circles)


def _size_figures(modules: Sequence[Module]) -> Iterable[Figure]:
    classes = sorted(((count, place) for module in modules for count, place in _classes(module)), reverse=True)
    shown = [f"{place}: {count} methods" for count, place in classes]
    many = sum(count > MANY_METHODS for count, _ in classes)
    yield Figure("largest_class", "largest class, in methods", classes[0][0] if classes else 0, shown[:LARGEST_SHOWN])
    yield _figure("large_classes", f"classes of more than {MANY_METHODS} methods", shown[:many])
    files = sorted(((module.line_count, module.path.as_posix()) for module in modules), reverse=True)
    long_files = [f"{path}: {count} lines" for count, path in files if count > LONG_FILE_LINES]
    yield _figure("long_files", f"files of more than {LONG_FILE_LINES} lines", long_files)


def _classes(module: Module) -> Iterable[tuple[int, str]]:
    """Yield the number of methods of each class and its place; a property and its setter are one method."""
    for node in module.nodes:
        if isinstance(node, ast.ClassDef):
            methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)}
            yield len(methods), f"{module.path}:{node.lineno} {node.name}"


def _language_figures(modules: Sequence[Module]) -> Iterable[Figure]:
    texts = [text for module in modules for text in read_texts(module)]
    short = [text for module in modules for text in short_docstrings(module)]
    what = [place for text in texts for place in find_phrases(text, WHAT_AS_SUBJECT)]
    bare_who = [place for text in texts for place in find_phrases(text, BARE_WHO)]
    yield _figure("short_docstrings", "docstrings of one or two words", short)
    yield _figure("what_sentences", 'sentences that begin with "What", "Who" or "Whoever"', what)
    yield _figure("bare_who", '"who" without a noun before it, and "whoever"', bare_who)


def _child_figures(graph: Graph, packages: Sequence[str]) -> Iterable[Figure]:
    """Yield how many modules and folders stand side by side in a package, in how many layers, with how many imports."""
    _, server, client = packages
    for key, package in (("server", server), ("client", client), ("tui", f"{client}.tui")):
        children = fold_into_children(graph, package)
        arrows = [f"{package}: {child} -> {target}" for child in sorted(children) for target in sorted(children[child])]
        circles = [f"{package}: {' <-> '.join(circle)}" for circle in find_circles(children)]
        yield _figure(f"{key}_children", f"{key}: modules and folders side by side", sorted(children))
        yield Figure(f"{key}_layers", f"{key}: layers of them", count_layers(children))
        yield _figure(f"{key}_arrows", f"{key}: imports between them", arrows)
        yield _figure(f"{key}_child_circles", f"{key}: import circles between them", circles)


def print_table(figures: Iterable[Figure], limits: Mapping[str, int], write: Callable[[str], object] = print) -> None:
    """Print one row for each figure."""
    write(f"{'figure':<55} | {'now':>4} | limit")
    write(f"{'-' * 55}-|-{'-' * 4}-|------")
    for figure in figures:
        write(f"{figure.title:<55} | {figure.value:>4} | {limits.get(figure.key, '')!s:>5}".rstrip())


def broken(figures: Iterable[Figure], limits: Mapping[str, int]) -> list[Figure]:
    """Return the figures that are over their limits. Raises KeyError if a limit is for a figure that is not there."""
    by_key = {figure.key: figure for figure in figures}
    return [by_key[key] for key, limit in limits.items() if by_key[key].value > limit]


def main() -> int:
    """Print the table; return 1 if `--check` was asked for and a limit is broken."""
    parser = argparse.ArgumentParser(description="Measure how the source code is built.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure; default: this one")
    parser.add_argument("--check", action="store_true", help="exit 1 if a figure is over its limit in pyproject.toml")
    parser.add_argument("--list", metavar="FIGURE", help="print the places that a figure counts, as `private_names`")
    options = parser.parse_args()
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["fairest"]["structure"]
    limits: dict[str, int] = config["limits"]
    figures = measure(options.root.resolve(), config["drivers"])
    if options.list:
        by_key = {figure.key: figure for figure in figures}
        if options.list not in by_key:
            parser.error(f"{options.list} is not a figure; they are {', '.join(by_key)}")
        print(*by_key[options.list].places, sep="\n")
        return 0
    over = broken(figures, limits)
    if over or not options.check:
        print_table(figures, limits)
    else:
        print(f"Structure: all {len(limits)} limits hold.")
    if not options.check:
        return 0
    for figure in over:
        print(f"\n{figure.title}: {figure.value}, more than {limits[figure.key]}:", *figure.places, sep="\n  ")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
