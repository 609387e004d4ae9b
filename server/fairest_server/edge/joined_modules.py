"""The modules of the page joined into two scripts, so that a browser needs one request for them instead of forty.

The modules stay plain files: this is done when the server starts, and nothing is built. Each module becomes a function
of its own, which returns what the module exports, behind the modules that it imports; so names do not meet. A constant
of the script has what the function returned. Scripts of a page share their constants, so the second script uses the
modules of the first. Comments on lines of their own are left out. Only the forms of `import` and `export` are known
here that the page uses.
"""

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Final

_IMPORT: Final = re.compile(r'^import (?:(\w+)|\{([^}]*)\}) from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ((?:const|class|function\*?|async function) (\w+))", re.MULTILINE)
_DEFAULT: Final = re.compile(r"^export default ", re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/) *\n", re.MULTILINE)
_LEFT: Final = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_STRICT: Final = '"use strict";\n'
"""Modules are strict, scripts are not by themselves."""


class NotJoinable(ValueError):
    """A module has an import or an export that is not known here, or modules import one another in a circle."""


def join_modules(sources: Mapping[str, str], entry: str, behind: str | None = None) -> str:
    """Return the script that does what the module `entry` does. `sources` are the texts of modules by their names.

    A script that runs behind that of the module `behind` leaves out the modules that are in that one. Raises
    `NotJoinable`.
    """
    imports = {name: tuple(found[3] for found in _IMPORT.finditer(text)) for name, text in sources.items()}
    known = set[str]() if behind is None else _reached(imports, behind)
    # Sorted, so that all processes of a deployment make the same script: its hash is in the path of the files.
    wanted = sorted(_reached(imports, entry) - known)
    try:
        order = TopologicalSorter({name: sorted({*imports[name]} - known) for name in wanted}).static_order()
        return _STRICT + "".join(_as_function(name, sources[name]) for name in order)
    except CycleError as reason:
        raise NotJoinable(f"modules of the page import one another in a circle: {' '.join(reason.args[1])}") from reason


def _reached(imports: Mapping[str, tuple[str, ...]], entry: str) -> set[str]:
    """Return the modules that are imported from `entry`, with the module itself."""
    found, waiting = set[str](), [entry]
    while waiting:
        name = waiting.pop()
        if name not in imports:
            raise NotJoinable(f"the page has no module {name}.js")
        if name not in found:
            found.add(name)
            waiting += imports[name]
    return found


def _as_function(name: str, source: str) -> str:
    """Return a module as a function that is called once; the constant `$name` has its exports."""
    text = _COMMENT.sub("", source)
    exports = [found[2] for found in _EXPORT.finditer(text)]
    if _DEFAULT.search(text):
        exports.append("default: $default")
    body = _IMPORT.sub(_bind, text)
    body = _DEFAULT.sub("const $default = ", _EXPORT.sub(r"\1", body))
    left = _LEFT.search(body)
    if left is not None:
        raise NotJoinable(f"{name}.js has a form that cannot be joined: {left[0]}")
    return f"const ${name} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


def _bind(found: re.Match[str]) -> str:
    """Return an import as the constants that it binds."""
    default, names, module = found.groups()
    bound = f"default: {default}" if default else re.sub(r"\b(\w+) as (\w+)", r"\1: \2", names.replace("\n", " "))
    return f"const {{ {bound.strip()} }} = ${module};\n"
