"""A race in few words, for a person who reads or hears lines: only what has changed, and answers to short questions.

The whole board is printed on request. A screen reader reads everything that is printed, so a board after each move
would take longer than the move. Pure.
"""

from collections.abc import Iterator
from typing import Final

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import count_of
from fairest_cli.text.board_text import card_name, ranks
from fairest_cli.text.narration import describe_changes, describe_entry, player_name
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank_name
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS, REDEAL
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Placed, Snapshot, View
from fairest_protocol.messages.scene import Scene, SeatScene

MOVE_HINT: Final = (
    "To move, type s1: the turned card to foundation 1; sa: onto pile a;",
    "a1: the top of pile a to foundation 1. Type help for the rest.",
)
BOARD_HINT: Final = "For the whole board press Enter; wanted, piles, score and time say a part."


def describe_briefly(before: KnownRoom, update: Update) -> Iterator[str]:
    """Yield what a person wants to know about an update, without boards. `before` is the model before the update."""
    model, message = update.model, update.message
    match message:
        case View() if model.seat is not None and before.scene is not None:
            yield from _describe_view(before, model, message)
        case Placed(placed=placed) if model.seat is not None and before.placed is not None:
            # Our own count is known from our moves.
            if placed[1 - model.seat] != before.placed[1 - model.seat]:
                yield from describe_changes(before, update)
        case _:
            yield from describe_changes(before, update)
    if isinstance(message, Snapshot) and model.phase is Phase.RACING and model.board is not None:
        yield f"Wanted: {describe_wanted(model.board)}."
        yield describe_turned(model.board)
        yield from MOVE_HINT
        yield BOARD_HINT


def describe_wanted(board: Board) -> str:
    """Return the rank that each foundation wants, ``1 wants 5, 2 wants 8``."""
    wanted = zip(FOUNDATION_DIGITS, board.next_ranks(), strict=False)
    return ", ".join(
        f"{digit} is complete" if number is None else f"{digit} wants {rank_name(number)}" for digit, number in wanted
    )


def describe_piles(board: Board) -> Iterator[str]:
    """Yield a line for each waste pile, its ranks from the bottom to the top."""
    for letter, pile in zip(PILE_LETTERS, board.piles, strict=False):
        yield f"Pile {letter}: {ranks(pile)}; on top {card_name(pile[-1])}." if pile else f"Pile {letter}: empty."


def describe_counts_of_cards(model: KnownRoom) -> str:
    """Return how many cards each player has placed, as far as this viewer knows."""
    if model.scene is None or model.phase not in (Phase.RACING, Phase.FINISHED):
        return "No race is on."
    boards = [seat.board for seat in model.scene.seats if seat.board is not None]
    goal = f" of {boards[0].goal}" if boards else ""
    counts = (f"{_name(model, seat)} {count_of(model, seat)}{goal}" for seat in (0, 1))
    return f"Cards placed: {', '.join(counts)}."


def describe_turned(board: Board) -> str:
    """Return the turned card, or why there is none."""
    if board.turned is not None:
        return f"Turned: {card_name(board.turned)}."
    if board.stock:
        return "No card is turned yet."
    return "The stock is empty; redeal deals the waste again." if board.redeals else "The stock is empty."


def _describe_view(before: KnownRoom, model: KnownRoom, message: View) -> Iterator[str]:
    """Yield a sentence or two for each new entry; each is described by the scene right after it."""
    scene = before.scene
    for entry in message.entries[before.position + 1 - message.first :]:
        assert scene is not None, "a view follows a snapshot"
        scene = scene.after(entry)
        match entry:
            case entries.Moved(seat=seat, move=move) if seat == model.seat and (entry.card or move is REDEAL):
                yield _describe_own_move(entry, scene.seats[seat])
                board = scene.seats[seat].board
                if board is not None and board.turned is None and not board.stock and move.takes_turned:
                    yield describe_turned(board)
            case entries.Turned(seat=seat, card=card) if seat == model.seat:
                if entry.turn.position == 0 and entry.turn.pass_number == 0:
                    yield from _describe_start(scene, seat)
                yield f"Turned: {card_name(card)}."
            case _:
                yield from describe_entry(before, model, entry)


def _describe_start(scene: Scene, seat: int) -> Iterator[str]:
    board = scene.seats[seat].board
    if board is not None:
        yield f"Wanted: {describe_wanted(board)}."
        yield from MOVE_HINT
        yield BOARD_HINT


def _describe_own_move(entry: entries.Moved, seat: SeatScene) -> str:
    """Return the card that moved, where it is now, and what that changes; `seat` is as it is after the move."""
    move, board = entry.move, seat.board
    if move is REDEAL or entry.card is None or board is None:
        return "The waste is the stock again."
    name = card_name(entry.card)
    if not move.places:
        return f"{name} on pile {PILE_LETTERS[move.target]}."
    wanted = board.next_ranks()[move.target]
    now = "which is complete" if wanted is None else f"which wants {rank_name(wanted)} now"
    sentence = f"{name} to foundation {FOUNDATION_DIGITS[move.target]}, {now}"
    if move.takes_turned:
        return f"{sentence}."
    pile, letter = board.piles[move.source], PILE_LETTERS[move.source]
    return f"{sentence}; pile {letter} {f'has {card_name(pile[-1])} on top' if pile else 'is empty'}."


def _name(model: KnownRoom, seat: int) -> str:
    return "you" if seat == model.seat else player_name(model, seat)
