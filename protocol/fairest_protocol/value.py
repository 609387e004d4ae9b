"""What the game, a room and its log are made of: values, which are made and never changed."""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import msgspec

__all__ = ["Value", "message_dataclass", "replace", "replace_in_pair"]

_Value = TypeVar("_Value")


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, gc=False):
    """What never changes. Two that say the same are equal.

    A value holds values, so that it is never part of a circle, and Python need not look for one. What holds somebody
    who may hold it says `gc=True` (docs/decisions/0021-what-a-move-costs.md).
    """


@dataclass_transform(frozen_default=True)
def message_dataclass(cls: type[_Value]) -> type[_Value]:
    """A value that stands in messages: pydantic reads dataclasses.

    That it is frozen is mypy's to see. To have Python see to it makes each five times as dear, and the board is one.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


if TYPE_CHECKING:
    # mypy knows this one, and looks at the fields.
    from dataclasses import replace
else:

    def replace(value: _Value, /, **changes: Any) -> _Value:
        """The next value: this one, but for these fields."""
        following = msgspec.structs.replace if isinstance(value, msgspec.Struct) else dataclasses.replace
        return following(value, **changes)


def replace_in_pair(pair: tuple[_Value, _Value], seat: int, value: _Value) -> tuple[_Value, _Value]:
    """Return the pair (one value for each seat) with `value` at this seat, 0 or 1."""
    return (value, pair[1]) if seat == 0 else (pair[0], value)
