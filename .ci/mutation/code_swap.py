"""Put a mutant into a process that has loaded everything: give its functions the code of the mutant."""

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Final

CO_OPTIMIZED: Final = 0x1
"""The flag of a function's code; that of a module or a class body has it not."""

Functions = dict[CodeType, list[FunctionType]]


def loaded_functions(filename: str) -> Functions:
    """Return the functions of a file that exist in this process, by their code."""
    found: Functions = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename == filename:
            found.setdefault(thing.__code__, []).append(thing)
    return found


def changed_functions(before: CodeType, after: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Return the functions that differ between two versions of a module; None if it differs outside of functions.

    Code inside a function comes after the code of that function.
    """
    nested = list(zip(_nested(before), _nested(after), strict=False))
    is_function = bool(before.co_flags & CO_OPTIMIZED)
    if not is_function and (_own(before) != _own(after) or len(list(_nested(before))) != len(list(_nested(after)))):
        return None
    pairs = []
    for inner_before, inner_after in nested:
        inner = changed_functions(inner_before, inner_after)
        if inner is None:
            return None
        pairs += inner
    return [(before, after), *pairs] if is_function and (pairs or _own(before) != _own(after)) else pairs


def _nested(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _own(code: CodeType) -> tuple[object, ...]:
    """Return what makes the code what it is, apart from the code nested in it and from its places in the source."""
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, code.co_flags, code.co_exceptiontable, constants, names, len(code.co_consts)


def swap(functions: Functions, pairs: list[tuple[CodeType, CodeType]]) -> bool:
    """Give the functions their new code; False, and nothing useful done, if one cannot take it."""
    try:
        for before, after in pairs:
            for function in functions.get(before, ()):
                function.__code__ = after
    except ValueError:  # another number of variables shared with the function around it
        return False
    return True
