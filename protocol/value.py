"""What the game, a room and its log are made of: values, which are made and never changed."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Value = TypeVar("_Value")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[_Value]) -> type[_Value]:
    """A frozen dataclass; `dataclasses.replace` makes the next one.

    That it is frozen is mypy's to see. To have Python see to it as well makes each value five times as dear, and a move
    makes a dozen of them (docs/decisions/0031-values.md).
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
