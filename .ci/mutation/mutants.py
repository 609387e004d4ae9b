"""The single mutants of a source file."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitAnd,
}
LOGS: Final = re.compile(
    r"(?:\w+\.)*_?(?:log|LOG)\.(?:bind|debug|error|exception|info|warning)$|print$|warnings\.warn$"
)
"""Calls without an effect on what the program computes."""

TYPES: Final = re.compile(r"(?:typing\.)?(?:Literal|NewType|ParamSpec|TypeVar|TypeAliasType|cast)$")
"""Calls and subscripts that only a type checker reads."""

ERRORS: Final = re.compile(r"(?:\w+\.)*\w+(?:Error|Exception)$")
"""Exceptions, whose arguments are texts for people."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mutant:
    """A source file with one change."""

    path: str
    """Relative to the root of the checkout."""
    line: int
    source: str
    """The whole file with the change."""
    removed: str
    """The changed lines before, without indentation, in one line."""
    added: str
    """The changed lines after, likewise."""


@dataclass(frozen=True, slots=True)
class Change:
    """A node of a file and the code that is to replace it; it may turn out to make no mutant."""

    path: str
    node: ast.expr | ast.stmt
    text: str

    def apply(self, source: str) -> Mutant | None:
        """Return the mutant of `source`; None if that is the same program, or does not compile."""
        encoded = source.encode()
        start = _offset(encoded, self.node.lineno, self.node.col_offset)
        end = _offset(encoded, self.node.end_lineno or 0, self.node.end_col_offset or 0)

        padding = "\n" * ((self.node.end_lineno or 0) - self.node.lineno)
        """Keeps the numbers of the lines below, so that only the code of one function differs."""

        def replaced(text: str) -> str:
            return (encoded[:start] + text.encode() + encoded[end:]).decode()

        is_expression = isinstance(self.node, ast.expr)
        mutated = replaced(f"({self.text}{padding})" if is_expression else f"{self.text}{padding}")
        program = _parsed(mutated)
        if program is None or program == _parsed(source):
            return None
        if is_expression and not padding and _parsed(replaced(self.text)) == program:
            mutated = replaced(self.text)
        removed, added = _differing_lines(source, mutated)
        return Mutant(self.path, self.node.lineno, mutated, removed, added)


def _offset(encoded: bytes, line: int, column: int) -> int:
    """Return the place of a line (from 1) and a column (in bytes) in a file."""
    return sum(map(len, encoded.splitlines(keepends=True)[: line - 1])) + column


def _parsed(source: str) -> str | None:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return None


def _differing_lines(source: str, mutated: str) -> tuple[str, str]:
    """Return the lines that are not the same: those between the longest common beginning and end."""
    before, after = source.splitlines(), mutated.splitlines()
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return " ".join(map(str.strip, before)), " ".join(map(str.strip, after))


def list_changes(path: str, source: str) -> list[Change]:
    """Return all changes of a file, in an order that depends on its text alone."""
    return [Change(path, node, text) for node, text in _changes(ast.parse(source))]


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield a node and the code that replaces it, for each change."""
    for node in _mutable_nodes(tree):
        if isinstance(node, ast.expr):
            yield from ((node, ast.unparse(changed)) for changed in _changed_expressions(node))
        elif isinstance(node, ast.stmt):
            yield from ((node, text) for text in _changed_statements(node))


def _mutable_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below `node` whose change may be seen: no annotations, docstrings, logging, asserts."""
    for child in _mutable_children(node):
        yield child
        yield from _mutable_nodes(child)


def _mutable_children(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, Function):
        arguments = node.args
        return [
            *node.decorator_list,
            *arguments.defaults,
            *filter(None, arguments.kw_defaults),
            *_statements(node.body),
        ]
    if isinstance(node, ast.AnnAssign):
        return [node.value] if node.value else []
    if isinstance(node, ast.JoinedStr):
        return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    if isinstance(node, ast.Raise):
        return []
    if isinstance(node, ast.Module | ast.ClassDef):
        return [statement for statement in _statements(node.body) if not _is_member_text(node, statement)]
    if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.ExceptHandler | ast.match_case):
        return [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt) or _is_mutable(child)]
    if isinstance(node, ast.Call | ast.Subscript):
        name = ast.unparse(node.func if isinstance(node, ast.Call) else node.value)
        return [] if TYPES.match(name) or LOGS.match(name) or ERRORS.match(name) else ast.iter_child_nodes(node)
    return ast.iter_child_nodes(node)


def _is_member_text(owner: ast.AST, statement: ast.stmt) -> bool:
    """Return whether a statement gives a member of a plain Enum its text, which only people read.

    The code compares members. The text of a StrEnum's member is its value on the wire.
    """
    is_plain_enum = isinstance(owner, ast.ClassDef) and [ast.unparse(base) for base in owner.bases] == ["Enum"]
    value = statement.value if isinstance(statement, ast.Assign) else None
    return is_plain_enum and isinstance(value, ast.Constant) and isinstance(value.value, str)


def _statements(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    return [statement for statement in body if _is_mutable(statement)]


def _is_mutable(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assert | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal | ast.Pass):
        return False
    if isinstance(statement, ast.Expr):
        return not (isinstance(statement.value, ast.Constant) or _is_log(statement))
    if isinstance(statement, ast.If):
        only_logs = not statement.orelse and all(map(_is_log, statement.body))
        return not only_logs and not re.search(r"\bTYPE_CHECKING\b|__name__", ast.unparse(statement.test))
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) not in {"__all__", "__slots__", "__match_args__"}
    return not (isinstance(statement, Function) and any("overload" in ast.unparse(d) for d in statement.decorator_list))


def _is_log(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and LOGS.match(ast.unparse(call.func)) is not None


def _changed_expressions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what may stand for an expression; the nodes that did not change are shared."""
    match node:
        case ast.Compare(left, ops, comparators):
            for place, operator in enumerate(ops):
                for other in COMPARISONS[type(operator)]:
                    yield ast.Compare(left, [*ops[:place], other(), *ops[place + 1 :]], comparators)
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            for place in range(len(values)):
                rest = [*values[:place], *values[place + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.UnaryOp(ast.USub(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(str() | bytes() as value):
            yield ast.Constant(value + "x" if isinstance(value, str) else value + b"x")
        case ast.Call(func, args, keywords):
            if not TYPES.match(ast.unparse(func)) and ast.unparse(func) not in {"max", "min", "suppress"}:
                yield from (ast.Call(func, swapped, keywords) for swapped in _swaps(args))


def _swaps(args: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield the arguments with each pair of neighbours swapped."""
    for place in range(len(args) - 1):
        pair = args[place : place + 2]
        if not any(isinstance(arg, ast.Starred) for arg in pair):
            yield [*args[:place], *reversed(pair), *args[place + 2 :]]


def _changed_statements(node: ast.stmt) -> Iterator[str]:
    """Yield the code that may stand for a statement."""
    match node:
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "pass"
        case ast.Return(value) if value is not None:
            yield "return None"
        case ast.Break():
            yield "continue"
        case ast.Continue():
            yield "break"
        case ast.Assign(targets) if isinstance(targets[0], ast.Attribute | ast.Subscript):
            yield "pass"
