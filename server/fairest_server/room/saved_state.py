"""A room's state as JSON in the log, without its race: it is saved only while none is under way."""

from typing import Any, Final

import msgspec

from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.state import RoomState, open_round

_RULES: Final = msgspec.to_builtins(RoomOptions().chosen_rules())
"""Stands in for the rules, which follow from the options."""


def without_race(state: RoomState) -> RoomState:
    """Return the state without the race and the deal of a round that is over.

    Of the race it keeps only what a player who repeats the last move is answered by.
    """
    race = state.race
    if race is None:
        return state
    first, second = (
        replace(state.seat(seat), moves=racer.moves, last_move=racer.last_move.text if racer.last_move else "")
        for seat, racer in enumerate(race.racers)
    )
    return replace(state, seats=(first, second), race=None, round=replace(open_round(state), sealed=None))


def save_state(state: RoomState) -> dict[str, Any]:
    """Return a state without a race as JSON values. Bytes become base64."""
    saved: dict[str, Any] = msgspec.to_builtins(state, enc_hook=_save_options)
    del saved["rules"]
    return saved


def restore_state(saved: object) -> RoomState:
    """Return the state that `save_state` saved; a state is returned as it is. Raises ValueError."""
    if isinstance(saved, RoomState):
        return saved
    if not isinstance(saved, dict):
        raise ValueError("a saved state is an object")
    options = RoomOptions.model_validate(saved.get("options"))
    rules = options.chosen_rules()
    try:
        state = msgspec.convert({**saved, "rules": _RULES}, RoomState, dec_hook=lambda *_: options)
    except msgspec.ValidationError as reason:
        raise ValueError(f"not a saved state: {reason}") from None
    return replace(state, rules=rules)


def _save_options(value: object) -> Any:
    """Return the options of a room as JSON. Raises NotImplementedError for any other value, as msgspec asks."""
    if isinstance(value, RoomOptions):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"a state holds no {type(value).__name__}")
