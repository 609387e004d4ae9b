"""The wish for a rival: a program that takes the other seat of a listed room when no person has done so in time."""

from typing import Annotated, Final

from pydantic import Field

from fairest_protocol.value import Value

BOT_PREFIX: Final = "bot-"
"""Names of programs begin so; it says that the player is a program, and that its seat is kept for it only in a round.

Every client may choose such a name, and gains nothing by it: docs/protocol.md says what it loses.
"""

RivalSeconds = Annotated[int, Field(ge=0, le=600)]
"""How long a room waits for a person before a rival may take its free seat, in seconds."""
RivalLevel = Annotated[str, Field(pattern=r"^[a-z]{1,20}$")]
"""The level of the rival that is wished for, such as `club`; a service offers another one if it has none of that."""


class RivalWish(Value):
    """A rival may take the free seat of the room after this time; `level` is None if any will do."""

    after_seconds: int
    level: str | None = None


def is_bot_name(name: str | None) -> bool:
    """Return whether the name says that its player is a program."""
    return name is not None and name.lower().startswith(BOT_PREFIX)
