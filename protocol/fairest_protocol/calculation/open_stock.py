"""A game whose stock order is known, in small numbers, and the two estimates by which a solver finds a line that wins.

Cards are numbers here: their positions in the order of the first pass. Suits are forgotten, except that a card keeps
its own place in the orders of later passes.

The cards of a waste pile leave it last in, first out. So a card should lie on cards that are needed later, and the
order of the stock says when each card will be needed: `plan_order` computes it for an easier game, and `play_out`
plays the real one by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fairest_protocol.calculation.cards import rank
from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.moves import Move, pile_to_foundation, stock_to_foundation, stock_to_pile
from fairest_protocol.calculation.race import Racer

NEVER = 10**6
"""The order of a card that no foundation takes in the easier game: it should lie below all others."""
EMPTY = 10**7
"""The order of an empty pile: any card may lie on it, and no pile with cards is worse to take."""
TURNED = -1
"""Stands for the turned card where otherwise the pile of a card is given."""

Piles = tuple[tuple[int, ...], ...]
Waiting = list[list[int]]
"""For each rank, the foundations that need it next, or the piles whose top card has it."""


@dataclass(frozen=True, slots=True)
class OpenGame:
    """The part that stays the same in a game with an open stock.

    `sequences` holds the ranks of each foundation, `ranks` the rank of each card, and `orders` the cards of each pass
    in the order in which they are turned.
    """

    sequences: tuple[tuple[int, ...], ...]
    ranks: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]

    @property
    def goal(self) -> int:
        """The number of cards on all foundations when the game is won."""
        return sum(map(len, self.sequences))


@dataclass(frozen=True, slots=True)
class Position:
    """A board with an open stock: `stock[at]` is the turned card, and `heights` counts the cards of each foundation."""

    heights: tuple[int, ...]
    piles: Piles
    stock: tuple[int, ...]
    at: int = 0
    pass_number: int = 0

    @property
    def turned(self) -> int | None:
        """The turned card, or None if the stock is empty."""
        return self.stock[self.at] if self.at < len(self.stock) else None


def open_game(deal: Deal) -> OpenGame:
    """Return the game of a deal."""
    numbers = {card: number for number, card in enumerate(deal.orders[0])}
    return OpenGame(
        sequences=tuple(foundation.sequence() for foundation in deal.foundations),
        ranks=tuple(map(rank, deal.orders[0])),
        orders=tuple(tuple(numbers[card] for card in order) for order in deal.orders),
    )


def open_position(deal: Deal, racer: Racer) -> Position:
    """Return the position of a racer on this deal."""
    board, pass_number = racer.board, racer.turn.pass_number
    numbers = {card: number for number, card in enumerate(deal.orders[0])}
    turned = () if board.turned is None else (board.turned,)
    ahead = (deal.orders[pass_number][position] for position in racer.ahead)
    return Position(
        heights=tuple(map(len, board.foundations)),
        piles=tuple(tuple(numbers[card] for card in pile) for pile in board.piles),
        stock=tuple(numbers[card] for card in (*turned, *ahead)),
        pass_number=pass_number,
    )


def redealt(game: OpenGame, position: Position) -> Position | None:
    """Return the position after a redeal, or None if the stock is not empty, no redeal is left, or no waste."""
    pass_number = position.pass_number + 1
    if position.turned is not None or pass_number == len(game.orders) or not any(position.piles):
        return None
    waste = {card for pile in position.piles for card in pile}
    stock = tuple(card for card in game.orders[pass_number] if card in waste)
    return Position(position.heights, ((),) * len(position.piles), stock, 0, pass_number)


def settle(game: OpenGame, position: Position, moves: list[Move]) -> Position:
    """Play every top card of a pile that a foundation needs, the least advanced foundation first; note the moves."""
    heights, piles = list(position.heights), list(position.piles)
    by_height = range(len(heights))
    settled = False
    while not settled:
        settled = True
        for to in sorted(by_height, key=heights.__getitem__):
            sequence = game.sequences[to]
            wanted = sequence[heights[to]] if heights[to] < len(sequence) else 0
            source = next((at for at, pile in enumerate(piles) if pile and game.ranks[pile[-1]] == wanted), None)
            if source is not None:
                piles[source] = piles[source][:-1]
                heights[to] += 1
                moves.append(pile_to_foundation(source, to))
                settled = False
    return Position(tuple(heights), tuple(piles), position.stock, position.at, position.pass_number)


def plan_order(game: OpenGame, position: Position, order: list[int]) -> int:
    """Play an easier game to the end of the pass, and write into `order` when each card goes to a foundation.

    In the easier game, a stock card that no foundation needs stays at hand, on no pile. The position is one that
    `settle` returns, or one with the turned card of such a position on a pile. `order` has an item for each card: 0
    for the first one placed, `NEVER` for one that is not placed. Return the cost: for each card that was not on a
    foundation before, the number of cards turned until it is; all of the pass for one that never is.

    This function and `play_out` are called for every position that the solver looks at, so their loops stay in one
    piece: a function call for each card doubles their time.
    """
    ranks, sequences, piles = game.ranks, game.sequences, position.piles
    heights, left = list(position.heights), [len(pile) for pile in piles]
    waiting, tops = _waiting_ranks(game, position)
    hand: list[list[int]] = [[] for _ in range(14)]
    for pile in piles:
        for card in pile:
            order[card] = NEVER
    cost = placed = 0
    pending: list[tuple[int, int]] = []
    stock = position.stock
    for turn in range(position.at, len(stock)):
        card = stock[turn]
        order[card] = NEVER
        number = ranks[card]
        if waiting[number]:
            pending.append((number, TURNED))
        else:
            hand[number].append(card)
        while pending:
            number, source = pending.pop()
            wanting = waiting[number]
            if not wanting or (source != TURNED and not tops[number]):
                continue
            if source != TURNED:
                source = tops[number].pop()
                left[source] -= 1
                card = piles[source][left[source]]
                _uncover(ranks, piles[source], left[source], source, tops, waiting, pending)
            to = wanting.pop() if len(wanting) == 1 else _pop_least(wanting, heights)
            while True:
                order[card] = placed
                placed += 1
                cost += turn
                height = heights[to] = heights[to] + 1
                if height == len(sequences[to]):
                    break
                number = sequences[to][height]
                if tops[number]:
                    source = tops[number].pop()
                    left[source] -= 1
                    card = piles[source][left[source]]
                    _uncover(ranks, piles[source], left[source], source, tops, waiting, pending)
                elif hand[number]:
                    card = hand[number].pop()
                else:
                    waiting[number].append(to)
                    break
    return cost + (game.goal - sum(heights)) * len(stock)


def play_out(
    game: OpenGame, position: Position, order: Sequence[int], moves: list[Move] | None = None
) -> tuple[int, int]:
    """Play by the rules to the end of the pass, each card that no foundation needs on the pile where it fits best.

    That is the pile whose top card is needed soonest after it, by `order`; where it is needed after all top cards,
    the one that is needed last. Every card that fits a foundation is played. Note the moves in `moves` if it is given.
    Return the number of cards missing on foundations, and the cost as `plan_order` counts it.
    """
    ranks, sequences = game.ranks, game.sequences
    heights, piles = list(position.heights), list(map(list, position.piles))
    waiting, tops = _waiting_ranks(game, position)
    keys = [order[pile[-1]] if pile else EMPTY for pile in piles]
    cost = 0
    pending: list[tuple[int, int]] = []
    stock = position.stock
    for turn in range(position.at, len(stock)):
        card = stock[turn]
        number = ranks[card]
        if waiting[number]:
            pending.append((number, TURNED))
        else:
            key = order[card]
            after = [(other, source) for source, other in enumerate(keys) if other >= key]
            source = min(after)[1] if after else keys.index(max(keys))
            pile = piles[source]
            if pile:
                tops[ranks[pile[-1]]].remove(source)
            pile.append(card)
            keys[source] = key
            tops[number].append(source)
            if moves is not None:
                moves.append(stock_to_pile(source))
        while pending:
            number, source = pending.pop()
            wanting = waiting[number]
            if not wanting or (source != TURNED and source not in tops[number]):
                continue
            to = wanting.pop() if len(wanting) == 1 else _pop_least(wanting, heights)
            while True:
                if source != TURNED:
                    tops[number].remove(source)
                    pile = piles[source]
                    pile.pop()
                    keys[source] = order[pile[-1]] if pile else EMPTY
                    _uncover(ranks, pile, len(pile), source, tops, waiting, pending)
                if moves is not None:
                    moves.append(stock_to_foundation(to) if source == TURNED else pile_to_foundation(source, to))
                cost += turn
                height = heights[to] = heights[to] + 1
                if height == len(sequences[to]):
                    break
                number = sequences[to][height]
                if not tops[number]:
                    waiting[number].append(to)
                    break
                source = tops[number][-1]
    missing = game.goal - sum(heights)
    return missing, cost + missing * len(stock)


def _waiting_ranks(game: OpenGame, position: Position) -> tuple[Waiting, Waiting]:
    """Return for each rank the foundations that need it next, and the piles whose top card has it."""
    waiting: Waiting = [[] for _ in range(14)]
    tops: Waiting = [[] for _ in range(14)]
    for to, (sequence, height) in enumerate(zip(game.sequences, position.heights, strict=True)):
        if height < len(sequence):
            waiting[sequence[height]].append(to)
    for source, pile in enumerate(position.piles):
        if pile:
            tops[game.ranks[pile[-1]]].append(source)
    return waiting, tops


def _uncover(
    ranks: Sequence[int],
    pile: Sequence[int],
    left: int,
    source: int,
    tops: Waiting,
    waiting: Waiting,
    pending: list[tuple[int, int]],
) -> None:
    """Make the topmost of the `left` cards of a pile a top card, and a pending one if a foundation needs it."""
    if left:
        below = ranks[pile[left - 1]]
        tops[below].append(source)
        if waiting[below]:
            pending.append((below, source))


def _pop_least(wanting: list[int], heights: Sequence[int]) -> int:
    """Remove the least advanced foundation from the list and return it."""
    return wanting.pop(min(range(len(wanting)), key=lambda at: heights[wanting[at]]))
