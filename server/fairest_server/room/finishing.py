"""The request of a player whose race has ended that the other one may finish too."""

from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import Phase, Seat
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.events import FinishAsked
from fairest_server.room.refusing import refuse
from fairest_server.room.state import RoomState, dealt_race


def ask_finish(state: RoomState, seat: Seat) -> tuple[FinishAsked, ...] | Refused:
    """Return the event of a request to finish; nothing if this seat has asked in this round already."""
    ending = dealt_race(state).racers[seat].ending if state.phase is Phase.RACING else None
    # In a room with credit the other player is not shown that a seat has placed every card before the round is over.
    if ending is None or ending is Ending.WON:
        sentence = "You can ask the other player to finish once your own race has ended and the other one goes on."
        return refuse("ask_finish", Refusal.WRONG_PHASE, sentence)
    # Once a round: a player who asks again and again cannot disturb the other one, nor fill the log.
    return () if state.seat(seat).has_asked_finish else (FinishAsked(seat=seat),)
