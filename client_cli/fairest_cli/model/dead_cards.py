"""The cards that can no longer be placed, whatever the stock still brings. Pure."""

from collections.abc import Iterable
from functools import lru_cache

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, full_deck, rank
from fairest_protocol.calculation.rules import Foundation


@lru_cache(maxsize=8)
def dead_cards(board: Board) -> frozenset[Card]:
    """Return cards of the waste piles that no continuation of the game can place.

    It never names a card that can still be placed; it may miss some that cannot. Proof: take any legal continuation,
    and follow it in a relaxed game in which every rank seen or possible once may be used any number of times.

    1. A rank is at hand if an unseen card of a stock that is not empty has it, or the turned card has it, or a pile
       card that is not covered by a card which stays. With a redeal left, every card of a pile may come back, so all
       of them are at hand. The unseen cards contain the stock, as every card lies in one place only.
    2. A foundation reaches each rank of its sequence up to the first that is not at hand, beginning with the wanted
       one. By induction over the moves, a real game never places a card on a foundation further on: it needs every
       rank before it, and took each from the turned card, the stock, or the top of a pile.
    3. A card of a pile can leave it only for a foundation that reaches its rank, and only after all cards above it
       have left. So the pile gives cards from its top down to the first that no foundation reaches.

    Ranks at hand only grow, and with them what foundations reach and what piles give, so repeating 1 to 3 ends. Every
    card that a real game places has left its pile by 3; a card that stays when the steps repeat no more is dead. With
    a redeal left, a card is dead only if no foundation reaches its rank.
    """
    at_hand = {rank(card) for card in _unseen(board)}
    if board.turned is not None:
        at_hand.add(rank(board.turned))
    if board.redeals:
        at_hand.update(rank(card) for pile in board.piles for card in pile)
    staying = [list(pile) for pile in board.piles]
    while True:
        at_hand.update(rank(pile[-1]) for pile in staying if pile)
        reached = _reached(board, at_hand)
        gone = False
        for pile in staying:
            while pile and rank(pile[-1]) in reached:
                pile.pop()
                gone = True
        if not gone:
            break
    if board.redeals:
        return frozenset(card for pile in board.piles for card in pile if rank(card) not in reached)
    return frozenset(card for pile in staying for card in pile)


def _unseen(board: Board) -> Iterable[Card]:
    """Return every card that may lie in the stock: of the deck, all that are not on the board."""
    if not board.stock:
        return ()
    seen = {card for cards in (*board.foundations, *board.piles) for card in cards}
    if board.turned is not None:
        seen.add(board.turned)
    decks = 1 if len(seen) + board.stock <= 52 else 2
    return [card for card in full_deck(decks) if card not in seen]


def _reached(board: Board, at_hand: set[int]) -> set[int]:
    """Return the ranks that a foundation still needs and comes to if ranks at hand are used any number of times."""
    reached: set[int] = set()
    for foundation, cards in zip(board.layout, board.foundations, strict=True):
        reached |= _run(foundation, len(cards), at_hand)
    return reached


def _run(foundation: Foundation, placed: int, at_hand: set[int]) -> set[int]:
    run: set[int] = set()
    for number in foundation.sequence()[placed:]:
        if number not in at_hand:
            break
        run.add(number)
    return run
