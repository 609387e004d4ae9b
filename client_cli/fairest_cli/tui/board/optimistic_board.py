"""The player's board with the moves that the server has not answered yet already made. Pure.

Every client knows the rules of a move, so a key press shows at once; docs/decisions/0024-the-optimistic-board.md gives
the reasons why this is safe.
"""

from fairest_cli.model.known_room import KnownRoom
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.messages.from_server import FromServer, Refused
from fairest_protocol.messages.refusals import SEND_AGAIN
from fairest_protocol.value import Value


class OptimisticBoard(Value):
    """A board with unanswered moves made, and the cards that these moved.

    Only the server knows the card that the next turn brings: until it answers, nothing is turned.
    """

    board: Board
    unconfirmed: frozenset[Card] = frozenset()


def optimistic_board(model: KnownRoom) -> OptimisticBoard | None:
    """Return the board as the player should see it, or None if there is no board yet."""
    board = model.board
    if board is None:
        return None
    unconfirmed: set[Card] = set()
    for play in model.sent:
        if play.move in (STOP, RESIGN) or board.refusal(play.move):
            # The server will refuse this move and those after it; the board stays as it is before them.
            break
        card = board.card_of(play.move)
        unconfirmed |= set() if card is None else {card}
        board = board.play(play.move)
    return OptimisticBoard(board, frozenset(unconfirmed))


def refused_move(before: KnownRoom, message: FromServer | None) -> Move | None:
    """Return the move that was shown as made and that `message` refuses, or None if it refuses none.

    A move refused with `TRY_AGAIN` or `IN_DOUBT` is sent again, so it stays as it is shown.
    """
    if not isinstance(message, Refused) or message.to != "play" or message.code in SEND_AGAIN:
        return None
    return next((play.move for play in before.sent if play.number == message.number), None)
