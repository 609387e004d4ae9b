"""The language of docstrings and comments: one or two words, "What ..." as a subject, "who" without its noun."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final, NamedTuple

from measures.tree import Module

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

CODE: Final = re.compile(r"(`+).*?\1", re.DOTALL)
"""Names and expressions in backticks: no part of the language."""

WHAT_AS_SUBJECT: Final = re.compile(r"(?:^|[.!?:;]\s+|\n\s*\n\s*)(?:What|Who|Whoever)\b(?![^.!?]*\?)")
"""A sentence that begins so, unless it is a question."""

BARE_WHO: Final = re.compile(
    r"\bwhoever\b|(?:[;:(]\s*|\b(?:about|against|as|at|before|but|by|for|from|if|in|is|like|of|on|than|that|through"
    r"|to|when|with|without)\s+)who\b"
)
"""A "who" that follows no noun, or "whoever", inside a sentence: `WHAT_AS_SUBJECT` finds those that begin one."""


class Text(NamedTuple):
    """A docstring or a comment."""

    path: str
    line: int
    """Of its first line in the file, from 1."""
    words: str

    def __str__(self) -> str:
        """The place and the text, in one line."""
        return f"{self.path}:{self.line}: {' '.join(self.words.split())}"


def short_docstrings(module: Module) -> list[Text]:
    """Return the docstrings of one or two words of modules, classes and functions."""
    found = []
    for node in module.nodes:
        if isinstance(node, Documented):
            docstring = ast.get_docstring(node)
            if docstring is not None and len(docstring.split()) <= 2:
                found.append(Text(str(module.path), node.body[0].lineno, docstring))
    return found


def read_texts(module: Module) -> Iterator[Text]:
    """Yield the docstrings (of attributes too) and the comments of a module; successive comment lines are one text."""
    for node in module.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield Text(str(module.path), node.lineno, node.value.value)
    yield from _comments(module)


def _comments(module: Module) -> Iterator[Text]:
    start = last = 0
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type == tokenize.COMMENT:
            if lines and token.start[0] != last + 1:
                yield Text(str(module.path), start, "\n".join(lines))
                lines = []
            if not lines:
                start = token.start[0]
            last = token.start[0]
            lines.append(token.string.lstrip("#: "))
    if lines:
        yield Text(str(module.path), start, "\n".join(lines))


def find_phrases(text: Text, pattern: re.Pattern[str]) -> list[Text]:
    """Return the places in `text` that match, each with the sentence that stands there, up to 80 characters of it."""
    words = CODE.sub(lambda match: re.sub(r"[^\n]", "x", match.group()), text.words)
    found = []
    for match in pattern.finditer(words):
        line = text.line + words.count("\n", 0, match.end())
        found.append(Text(text.path, line, text.words[match.start() : match.start() + 80].strip(" .:;(\n")))
    return found
