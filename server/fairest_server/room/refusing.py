"""Refusals: of a request with a code, of a command for now, of options that make no room."""

from fairest_protocol.calculation.rules import BadRules
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_server.room.commands import Command, MakeMove, PlayerRequest


def refuse(to: str, code: Refusal, detail: str = "", number: int | None = None) -> Refused:
    """Return a refusal of the message of type `to`, with the code's sentence or with `detail` instead of it."""
    return Refused(to=to, code=code, sentence=detail or SENTENCES[code], number=number)


def refuse_for_now(command: Command, code: Refusal = Refusal.TRY_AGAIN) -> Refused:
    """Return the refusal of a command that cannot be decided or stored at the moment, or that may be stored already."""
    match command:
        case MakeMove(number=number):
            return refuse("play", code, number=number)
        case PlayerRequest(message=message):
            return refuse(message.type, code)
        case _:
            return refuse(getattr(command, "to", "create"), code)


def resolve_options(options: RoomOptions) -> RoomOptions | Refused:
    """Return the options of a new room with all defaults filled in, or the refusal of rules that nobody plays."""
    try:
        return options.resolved()
    except BadRules as reason:
        return refuse("create", Refusal.BAD_RULES, f"{str(reason)[:1].upper()}{str(reason)[1:]}.")
