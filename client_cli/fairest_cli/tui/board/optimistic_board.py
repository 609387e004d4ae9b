"""The board as it will stand once the server has answered: every client knows the rules of a move. Pure."""

from fairest_cli.model.known_room import KnownRoom
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.messages.from_server import FromServer, Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.value import Value


class Foresight(Value):
    """Our board with the moves on their way already made, and the cards that these have moved.

    The card that the next turn brings is known to the server alone: until it answers, nothing is turned.
    """

    board: Board
    moving: frozenset[Card] = frozenset()


def foresee(model: KnownRoom) -> Foresight | None:
    """What the player sees of its own race; None where there is no board yet."""
    board = model.board
    if board is None:
        return None
    moving: set[Card] = set()
    for play in model.sent:
        if play.move in (STOP, RESIGN) or board.refusal(play.move):
            break
        card = board.card_of(play.move)
        moving |= set() if card is None else {card}
        board = board.play(play.move)
    return Foresight(board, frozenset(moving))


def taken_back(before: KnownRoom, message: FromServer | None) -> Move | None:
    """The move that was shown as made and that the server has refused: it lies where it lay before."""
    if not isinstance(message, Refused) or message.to != "play" or message.code is Refusal.TRY_AGAIN:
        return None
    return next((play.move for play in before.sent if play.number == message.number), None)
