"""Private names of other projects (and of the standard library) that our code uses.

A private name is one with a leading underscore, or an inside of Python and pydantic that `INSIDES` matches. Names like
`_replace` of a named tuple and `_missing_` of an enum are documented, so they are not counted. Our code is only parsed,
but the library classes that it inherits from are imported: `self._name` is theirs if one of them has it.
"""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from measures.tree import Module

INSIDES: Final = re.compile(r"__pydantic_\w+|(?:gi|cr|ag)_(?:yieldfrom|code|frame|await)|__code__")
DOCUMENTED: Final = re.compile(r"_|_[a-z]\w*_|_(?:asdict|exit|field_defaults|fields|make|replace)")
REFLECTION: Final = frozenset({"delattr", "getattr", "hasattr", "setattr"})
OWN: Final = frozenset({"cls", "self"})

Classes = Mapping[str, tuple[Module, ast.ClassDef]]
"""Our classes, by dotted name."""


class Use(NamedTuple):
    """A private name where it stands."""

    path: str
    line: int
    name: str

    def __str__(self) -> str:
        """The place and the name, in one line."""
        return f"{self.path}:{self.line}: {self.name}"


def private_uses(modules: Iterable[Module], drivers: Iterable[str]) -> list[Use]:
    """Return the uses outside the driver files; `drivers` holds the ends of their paths (`redis/driver.py`)."""
    modules = list(modules)
    classes = {
        f"{module.name}.{node.name}": (module, node)
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    }
    ends = tuple(f"/{driver}" for driver in drivers)
    found: list[Use] = []
    for module in modules:
        if not module.path.as_posix().endswith(ends):
            found.extend(sorted({*_accesses(module), *_imports(module), *_inherited(module, classes)}))
    return found


def is_private(name: str) -> bool:
    """Return whether `name` is private to the module or class that defines it."""
    if INSIDES.fullmatch(name):
        return True
    return name.startswith("_") and not name.startswith("__") and not DOCUMENTED.fullmatch(name)


def _accesses(module: Module) -> Iterator[Use]:
    """Yield `thing._name` and `getattr(thing, "_name")`, unless this file itself defines that name."""
    own = _defined_names(module)
    for node in module.nodes:
        name = ""
        if isinstance(node, ast.Attribute) and not _is_own(node.value):
            name = node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFLECTION:
            subject, *arguments = node.args or [ast.Name("self")]
            if arguments and isinstance(arguments[0], ast.Constant) and not _is_own(subject):
                name = str(arguments[0].value)
        if is_private(name) and name not in own:
            yield Use(str(module.path), getattr(node, "lineno", 0), name)


def _is_own(node: ast.expr) -> bool:
    """Return whether `node` is `self`, `cls` or `super()`: `_inherited` judges those."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in OWN


def _imports(module: Module) -> Iterator[Use]:
    """Yield private modules and names that are imported from other projects."""
    package = module.name.partition(".")[0]
    for node in module.nodes:
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in dotted:
            if not name.startswith(f"{package}.") and any(is_private(part) for part in name.split(".")):
                yield Use(str(module.path), node.lineno, name)


def _inherited(module: Module, classes: Classes) -> Iterator[Use]:
    """Yield private names in our classes that a library base has too, whether they read, set or override it."""
    for node in module.nodes:
        if isinstance(node, ast.ClassDef):
            theirs = _library_names(module, node, classes)
            for line, name in _mentioned_names(node):
                if name in theirs and is_private(name):
                    yield Use(str(module.path), line, f"{node.name}.{name}")


def _mentioned_names(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that a class defines in its body, and each `name` of its `self.name`."""
    yield from _names_in_body(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and _is_own(inner.value):
            yield inner.lineno, inner.attr


def _names_in_body(node: ast.AST) -> Iterator[tuple[int, str]]:
    for statement in getattr(node, "body", ()):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.lineno, statement.name
        elif isinstance(statement, ast.Assign):
            yield from ((statement.lineno, target.id) for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.lineno, statement.target.id


def _defined_names(module: Module) -> set[str]:
    """Return the names at the top of a module, those in its classes, and each `name` of a `self.name`."""
    places = [module.tree, *(node for node in module.nodes if isinstance(node, ast.ClassDef))]
    names = {name for place in places for _, name in _names_in_body(place)}
    return names | {node.attr for node in module.nodes if isinstance(node, ast.Attribute) and _is_own(node.value)}


def _library_names(module: Module, node: ast.ClassDef, classes: Classes) -> frozenset[str]:
    """Return all names of the library classes among the ancestors of a class of ours."""
    aliases = _aliases(module)
    names: frozenset[str] = frozenset()
    for base in node.bases:
        first, _, rest = ast.unparse(base.value if isinstance(base, ast.Subscript) else base).partition(".")
        dotted = ".".join(filter(None, (aliases.get(first, f"{module.name}.{first}"), rest)))
        if dotted in classes:
            names |= _library_names(*classes[dotted], classes)
        else:
            names |= _names_of_library_class(dotted)
    return names


def _aliases(module: Module) -> dict[str, str]:
    """Return the dotted name behind each name that the module imports."""
    aliases = {}
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                aliases[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            aliases.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return aliases


@cache
def _names_of_library_class(dotted: str) -> frozenset[str]:
    """Return the names in a library class and its ancestors, with those that their methods set on `self`.

    A base that cannot be found (a builtin, one made by a call) has none.
    """
    module, _, name = dotted.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return frozenset()
    names: set[str] = set()
    for ancestor in inspect.getmro(found) if inspect.isclass(found) else ():
        names.update(vars(ancestor))
        names.update(_names_in_source(ancestor.__module__, ancestor.__name__))
    return frozenset(names)


@cache
def _names_in_source(module: str, class_name: str) -> set[str]:
    """Return the names that a class of a module mentions; none for a module that is not written in Python."""
    return {
        name for node in _classes_in_source(module) if node.name == class_name for _, name in _mentioned_names(node)
    }


@cache
def _classes_in_source(module: str) -> tuple[ast.ClassDef, ...]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return ()
    return tuple(node for node in tree.body if isinstance(node, ast.ClassDef))
