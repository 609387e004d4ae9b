"""The options of a room, chosen when it is created. Every option has a default that suits two friends."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from fairest_protocol.calculation.rules import Rules, choose_rules
from fairest_protocol.messages.fields import Message


class Spectators(StrEnum):
    """What spectators of a room may see: up to the horizon, everything at once, or nothing."""

    HORIZON = "horizon"
    OPEN = "open"
    CLOSED = "closed"


class RoomOptions(Message):
    """Rules with their parameters, length of the match, and the clocks of a round in seconds.

    A `listed` room stands in the lobby: strangers may join it, and watch it.
    """

    rules: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,40}$")] = "classic"
    piles: int | None = None
    redeals: int | None = None
    best_of: Literal[1, 3, 5, 7, 9] = 1
    limit_seconds: Annotated[int, Field(ge=10, le=7200)] = 1200
    chase_seconds: Annotated[int, Field(ge=5, le=7200)] = 180
    grace_seconds: Annotated[int, Field(ge=1, le=3600)] = 60
    ready_seconds: Annotated[int, Field(ge=5, le=3600)] = 300
    reveal_seconds: Annotated[int, Field(ge=1, le=60)] = 10
    idle_seconds: Annotated[int, Field(ge=5, le=3600)] = 600
    countdown_seconds: Annotated[int, Field(ge=0, le=10)] = 3
    spectators: Spectators = Field(default=Spectators.HORIZON, strict=False)
    direct_breaks_ties: bool = False
    listed: bool = False

    def resolved(self) -> "RoomOptions":
        """Return these options with the variant's own name and its parameters filled in.

        Clients then read the numbers, and need not know the variant. Raises `BadRules`, as `chosen_rules` does.
        """
        rules = self.chosen_rules()
        return self.model_copy(update={"rules": rules.name, "piles": rules.piles, "redeals": rules.redeals})

    def rules_id(self) -> str:
        """Return what `Rules.rules_id` is for these options, which are `resolved`.

        It also works for a variant that this version does not know.
        """
        return f"{self.rules} {self.piles} {self.redeals}"

    def chosen_rules(self) -> Rules:
        """Return the rules with these parameters. Raises `BadRules` if the variant does not allow them."""
        return choose_rules(self.rules, self.piles, self.redeals)
