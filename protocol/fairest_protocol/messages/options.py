"""The options of a room, chosen when it is created. Every option has a default that suits two friends."""

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import ErrorDetails, PydanticKnownError

from fairest_protocol.calculation.certified import check_certifiable
from fairest_protocol.calculation.rules import BadRules, Rules, choose_rules
from fairest_protocol.calculation.terms import CLOCKS, format_terms
from fairest_protocol.messages.explanation import explain
from fairest_protocol.messages.fields import Message, RulesName


class Spectators(StrEnum):
    """The view of spectators: up to the horizon, everything at once, or nothing."""

    HORIZON = "horizon"
    OPEN = "open"
    CLOSED = "closed"


def _seconds(clock: str) -> Any:
    """Return the limits of the field of this clock."""
    return Field(ge=CLOCKS[clock][0], le=CLOCKS[clock][-1])


class RoomOptions(Message):
    """Rules with their parameters, length of the match, and the clocks of a round in seconds.

    A `listed` room stands in the lobby: strangers may join it, and watch it. `certified` is the number of the procedure
    by which deals are certified, and `credit` that of the procedure by which distance is credited; each is left out
    where it is not used, so that the terms of such rooms have no word of it.
    """

    rules: RulesName = "classic"
    piles: int | None = None
    redeals: int | None = None
    best_of: Literal[1, 3, 5, 7, 9] = 1
    limit_seconds: Annotated[int, _seconds("limit_seconds")] = 1200
    chase_seconds: Annotated[int, _seconds("chase_seconds")] = 180
    grace_seconds: Annotated[int, _seconds("grace_seconds")] = 60
    ready_seconds: Annotated[int, _seconds("ready_seconds")] = 300
    reveal_seconds: Annotated[int, _seconds("reveal_seconds")] = 10
    idle_seconds: Annotated[int, _seconds("idle_seconds")] = 600
    countdown_seconds: Annotated[int, _seconds("countdown_seconds")] = 3
    spectators: Spectators = Field(default=Spectators.HORIZON, strict=False)
    direct_breaks_ties: bool = False
    listed: bool = False
    certified: Annotated[Literal[1] | None, Field(exclude_if=lambda value: value is None)] = None
    credit: Annotated[Literal[1] | None, Field(exclude_if=lambda value: value is None)] = None

    @field_validator("certified", "credit", mode="before")
    @classmethod
    def _check_procedure(cls, value: object) -> object:
        return None if value is None else cls._check_integer(value)

    @field_validator("best_of", mode="before")
    @classmethod
    def _check_integer(cls, value: object) -> object:
        # A literal also equals `true` and numbers with a fraction.
        if type(value) is not int:
            raise PydanticKnownError("int_type")
        return value

    def resolved(self) -> "RoomOptions":
        """Return these options with the variant's own name and its parameters filled in.

        Clients then read the numbers, and need not know the variant. Raises `BadRules`, as `chosen_rules` does.
        """
        rules = self.chosen_rules()
        if self.certified:
            check_certifiable(rules)
        return self.model_copy(update={"rules": rules.name, "piles": rules.piles, "redeals": rules.redeals})

    def terms(self) -> str:
        """Return these options, which are `resolved`, as the text that the server signs for each round.

        It also works for a variant that this version does not know.
        """
        return _format_terms(self)

    def chosen_rules(self) -> Rules:
        """Return the rules with these parameters. Raises `BadRules` if the variant does not allow them."""
        return choose_rules(self.rules, self.piles, self.redeals)


@lru_cache(maxsize=128)
def _format_terms(options: RoomOptions) -> str:
    """Return the terms of these options. Most rooms have the same few, and each round and each record needs them."""
    return format_terms(options.model_dump())


class UnplayableOptions(RoomOptions):
    """Options of the right types of which one has a value that no room can have; the other fields are the defaults.

    A client may ask for them, and is refused, so they are not a breach of the protocol.
    """

    problem: str

    def chosen_rules(self) -> Rules:
        """Raise `BadRules` with the problem."""
        raise BadRules(self.problem)


def keep_unplayable(options: object, validate: ValidatorFunctionWrapHandler) -> RoomOptions:
    """Validate the options that a client asks for. Raises ValidationError only for a wrong type or a wrong key."""
    try:
        valid: RoomOptions = validate(options)
    except ValidationError as reason:
        errors = reason.errors(include_url=False)
        if not all(map(_is_of_right_type, errors)):
            raise
        return UnplayableOptions(problem=f"a room cannot have these options: {explain(errors[0]).removesuffix('.')}")
    return valid


def _is_of_right_type(error: ErrorDetails) -> bool:
    """Return whether a field has the right type, and a value that is not allowed."""
    kind = error["type"]
    is_of_limits = kind in ("greater_than_equal", "less_than_equal", "string_pattern_mismatch", "literal_error")
    return is_of_limits or (kind == "enum" and isinstance(error["input"], str))
