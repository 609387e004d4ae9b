"""Search all moves of a game whose stock order is known: the proof that no line wins.

Only positions of few cards, or with few choices, can be searched to the end: a game with one pile, or the last cards of
any game. Two facts keep the search small, and both are proved where they are used.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from fairest_protocol.calculation.moves import REDEAL, Move, pile_to_foundation, stock_to_foundation, stock_to_pile
from fairest_protocol.calculation.open_stock import OpenGame, Position, redealt


class Verdict(StrEnum):
    """Whether a game can be won by a player who knows the order of the stock."""

    WINNABLE = "winnable"
    UNWINNABLE = "unwinnable"
    OPEN = "open"
    """Neither was shown within the bound of nodes."""


def exhaust(game: OpenGame, start: Position, max_nodes: int) -> tuple[Verdict, tuple[Move, ...], int]:
    """Look at all positions that can be reached, depth first; return the verdict, a line that wins, and the nodes.

    A node is one position. Positions that differ only in the order of their piles count once, and so do those that
    differ only in suits while no redeal is left.
    """
    known = {_key(game, start)}
    path: list[Move] = []
    branches = [_branches(game, start)]
    nodes = 1
    while branches:
        move, position = next(branches[-1], (None, start))
        if move is None:
            branches.pop()
            if path:
                path.pop()
            continue
        key = _key(game, position)
        if key in known:
            continue
        if nodes == max_nodes:
            return Verdict.OPEN, (), nodes
        nodes += 1
        known.add(key)
        path.append(move)
        if sum(position.heights) == game.goal:
            return Verdict.WINNABLE, tuple(path), nodes
        branches.append(iter(()) if is_lost(game, position) else _branches(game, position))
    return Verdict.UNWINNABLE, (), nodes


def is_lost(game: OpenGame, position: Position) -> bool:
    """Return whether a position of the last pass is lost, by a test that is quick, and blind to many lost positions.

    Proof: follow any line in an easier game, in which all cards of the stock are at hand now, and a rank at hand may be
    used any number of times. A foundation reaches each rank of its sequence up to the first that is not at hand; a pile
    gives cards from its top down to the first that no foundation reaches. A foundation that does not reach its last
    card in the easier game never does in the real one.
    """
    if position.pass_number + 1 < len(game.orders):
        return False
    ranks = game.ranks
    at_hand = {ranks[card] for card in position.stock[position.at :]}
    left = [len(pile) for pile in position.piles]
    at_hand.update(ranks[pile[-1]] for pile in position.piles if pile)
    while True:
        reached: set[int] = set()
        is_won = True
        for sequence, height in zip(game.sequences, position.heights, strict=True):
            for number in sequence[height:]:
                if number not in at_hand:
                    is_won = False
                    break
                reached.add(number)
        if is_won:
            return False
        gone = False
        for source, pile in enumerate(position.piles):
            while left[source] and ranks[pile[left[source] - 1]] in reached:
                left[source] -= 1
                gone = True
                if left[source]:
                    at_hand.add(ranks[pile[left[source] - 1]])
        if not gone:
            return True


def _branches(game: OpenGame, position: Position) -> Iterator[tuple[Move | None, Position]]:
    """Yield the legal moves with the positions that they lead to; only one where one is at least as good as all others.

    That is a move that places the last card left of a rank that one foundation still needs. Any line that wins places
    this card on this foundation. If it does so now, all its other moves stay legal: nothing lay on the card, nothing
    else goes to the foundation before it, and a card less in the waste leaves the order of the others in a redeal.
    """
    placing = list(_placing(game, position))
    left = Counter(game.ranks[card] for card in position.stock[position.at :])
    left.update(game.ranks[card] for pile in position.piles for card in pile)
    for move, after, number in placing:
        if left[number] == 1:
            yield move, after
            return
    for move, after, _ in placing:
        yield move, after
    card = position.turned
    if card is None:
        following = redealt(game, position)
        if following is not None:
            yield REDEAL, following
        return
    for to in range(len(position.piles)):
        yield stock_to_pile(to), laid(position, to)


def laid(position: Position, to: int) -> Position:
    """Return the position after the turned card was put on the pile `to`."""
    piles = position.piles
    laid_piles = (*piles[:to], (*piles[to], position.stock[position.at]), *piles[to + 1 :])
    return Position(position.heights, laid_piles, position.stock, position.at + 1, position.pass_number)


def placed(position: Position, to: int) -> Position:
    """Return the position after the turned card was put on the foundation `to`."""
    return Position(_higher(position, to), position.piles, position.stock, position.at + 1, position.pass_number)


def fitting(game: OpenGame, position: Position, card: int) -> Iterator[int]:
    """Yield the foundations that need this card next."""
    number = game.ranks[card]
    for to, (sequence, height) in enumerate(zip(game.sequences, position.heights, strict=True)):
        if height < len(sequence) and sequence[height] == number:
            yield to


def _placing(game: OpenGame, position: Position) -> Iterator[tuple[Move, Position, int]]:
    """Yield each move that places a card, with the position after it and the rank of the card."""
    card = position.turned
    if card is not None:
        for to in fitting(game, position, card):
            yield stock_to_foundation(to), placed(position, to), game.ranks[card]
    piles = position.piles
    for source, pile in enumerate(piles):
        if pile:
            shorter = (*piles[:source], pile[:-1], *piles[source + 1 :])
            for to in fitting(game, position, pile[-1]):
                higher = _higher(position, to)
                after = Position(higher, shorter, position.stock, position.at, position.pass_number)
                yield pile_to_foundation(source, to), after, game.ranks[pile[-1]]


def _higher(position: Position, to: int) -> tuple[int, ...]:
    return (*position.heights[:to], position.heights[to] + 1, *position.heights[to + 1 :])


def _key(game: OpenGame, position: Position) -> object:
    """Return a value that is the same for positions that are won or lost alike."""
    piles: object = tuple(sorted(position.piles))
    if position.pass_number + 1 == len(game.orders):
        piles = tuple(sorted(tuple([game.ranks[card] for card in pile]) for pile in position.piles))
    return position.heights, piles, position.at, position.pass_number
