"""Immutable values, of which the game, a room and its log are made. A changed value is a new value.

Which kind of class is used when:

| kind | used for | examples |
|---|---|---|
| `Value` (a msgspec Struct) | every immutable value, unless a row below applies | `Move`, `Race`, `Step` |
| `messages.fields.Message` (pydantic) | text that must be validated: messages, JSON events | `Play`, `SeatTaken` |
| `message_dataclass` | a value of the game that is also a field of messages | `Board`, `Foundation`, `Outcome` |
| `NamedTuple` | a value that is compared or unpacked as a tuple | `Turn`, `ViewCursor` |
| plain `dataclass` | an object with state that changes, or with a cache | `View`, `SealedDeal` |

The figures behind this choice are in docs/decisions/0021-what-a-move-costs.md.
"""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import msgspec

__all__ = ["Value", "fields_of", "message_dataclass", "replace", "replace_in_pair"]

_Value = TypeVar("_Value")


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, gc=False):
    """Base of all immutable values, compared by content.

    Instances are not tracked by the garbage collector (`gc=False`): a value holds only values, so it is never part of
    a reference cycle. A subclass that can be part of one must pass `gc=True`, or its instances are never freed
    (docs/decisions/0021-what-a-move-costs.md).
    """


@dataclass_transform(frozen_default=True)
def message_dataclass(cls: type[_Value]) -> type[_Value]:
    """Make `cls` a value that can be a field of a message: pydantic reads dataclasses, but not Structs.

    Only mypy sees that it is frozen. Python does not check it, because a frozen dataclass takes five times as long to
    make, and every move makes a board.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


if TYPE_CHECKING:
    # mypy knows this function and checks the names and types of the fields.
    from dataclasses import replace
else:

    def replace(value: _Value, /, **changes: Any) -> _Value:
        """Return a copy of `value`, a Struct or a dataclass, with these fields changed."""
        following = msgspec.structs.replace if isinstance(value, msgspec.Struct) else dataclasses.replace
        return following(value, **changes)


def fields_of(value: object) -> dict[str, Any]:
    """Return the fields of a value by their names, and those of each value in it; `asdict` takes twenty times as long.

    Members of an enum become their values.
    """
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields


def replace_in_pair(pair: tuple[_Value, _Value], seat: int, value: _Value) -> tuple[_Value, _Value]:
    """Return `pair`, which holds one value for each seat, with `value` for `seat` (0 or 1)."""
    return (value, pair[1]) if seat == 0 else (pair[0], value)
