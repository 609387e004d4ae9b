"""The import graph: which module imports which, where it has a circle, and how folders stand on each other."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from measures.tree import Module

Graph = dict[str, set[str]]
"""For each module (or folder), those that it imports."""


def import_graph(modules: Iterable[Module]) -> Graph:
    """Return the imports between `modules`, including those inside functions and under TYPE_CHECKING."""
    by_name = {module.name: module for module in modules}
    return {name: set(_imported(module, by_name)) - {name} for name, module in by_name.items()}


def _imported(module: Module, by_name: Mapping[str, Module]) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in by_name)
        elif isinstance(node, ast.ImportFrom):
            source = _source_of(node, module)
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                if submodule in by_name:
                    yield submodule
                elif source in by_name:
                    yield source


def _source_of(node: ast.ImportFrom, module: Module) -> str:
    """Return the absolute name of the module after `from`."""
    if not node.level:
        return node.module or ""
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


def find_circles(graph: Graph) -> list[list[str]]:
    """Return the groups of nodes that reach each other, largest first: Tarjan's strongly connected components."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            start = stack.index(node)
            circle = sorted(stack[start:])
            del stack[start:]
            if len(circle) > 1:
                circles.append(circle)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(circles, key=len, reverse=True)


def fold_into_children(graph: Graph, package: str) -> Graph:
    """Return the imports between the direct children (modules and folders) of `package`."""
    prefix = f"{package}."
    children: Graph = {}
    for name, imported in graph.items():
        if name.startswith(prefix):
            child = _child(name, prefix)
            targets = {_child(target, prefix) for target in imported if target.startswith(prefix)}
            children.setdefault(child, set()).update(targets - {child})
    return children


def _child(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).partition(".")[0]


def count_layers(children: Graph) -> int:
    """Return the number of layers: the most of them in a row in which each imports the next; a circle counts as one."""
    circle_of = {child: min(circle) for circle in find_circles(children) for child in circle}
    merged: Graph = {}
    for child, targets in children.items():
        name = circle_of.get(child, child)
        merged.setdefault(name, set()).update({circle_of.get(target, target) for target in targets} - {name})
    heights: dict[str, int] = {}

    def height(child: str) -> int:
        if child not in heights:
            heights[child] = 1 + max((height(target) for target in merged.get(child, ())), default=0)
        return heights[child]

    return max((height(child) for child in merged), default=0)
