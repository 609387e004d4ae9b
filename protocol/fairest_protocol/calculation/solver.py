"""The open-stock solver: whether a deal can be won by a player who knows the order of its stock.

First a beam search for a line that wins, then the search of all moves (`exhaustion`). Both are bounded by nodes, never
by time, and use no randomness: everybody who solves the same deal gets the same answer.
"""

from collections.abc import Iterator
from heapq import nsmallest
from typing import Final

from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.exhaustion import Verdict, exhaust, fitting, laid, placed
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.open_stock import (
    Position,
    open_game,
    open_position,
    plan_order,
    play_out,
    redealt,
    settle,
)
from fairest_protocol.calculation.race import Ending, Race, start_race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.value import Value

BEAMS: Final = ((1, 2, 1), (4, 8, 1), (16, 1, 2), (16, 8, 1), (64, 1, 2), (64, 4, 1), (256, 1, 2), (256, 4, 1))
"""Each beam: how many positions it keeps of each turn, and the weights of the cost in the easier game and of the cost
of the game played out. The next one is tried when the one before finds no line; beams of other weights miss others."""
MAX_NODES: Final = 40_000
"""The default bound: about a second of computation for a deal that stays open; `make bench ONLY=solver` measures it."""
ONE_PILE_BEAMS: Final = 2
"""How many of the beams are tried where one pile leaves few choices: the search of all moves goes further there."""


class Solution(Value):
    """The answer of the solver. `line` holds the moves that win a winnable deal; `nodes` counts the positions seen."""

    verdict: Verdict
    line: tuple[Move, ...]
    nodes: int


def solve(rules: Rules, deal: Deal, max_nodes: int = MAX_NODES) -> Solution:
    """Find a line that wins this deal, or prove that there is none, within `max_nodes`; see `solve_race`."""
    return solve_race(start_race(rules, deal, seats=1), 0, max_nodes)


def solve_race(race: Race, seat: int, max_nodes: int = MAX_NODES) -> Solution:
    """Find a line that wins from where this seat stands, or prove that there is none, within `max_nodes`.

    Half of the nodes are for the beam search, the rest for the search of all moves. A line is returned only after
    it was played by the rules. Raises AssertionError for a line that the rules refuse, which would be a fault here.
    """
    search = LineSearch(race, seat, max_nodes // 2)
    line = search.find()
    if line is None:
        game, start = open_game(race.deal), open_position(race.deal, race.racers[seat])
        verdict, line, nodes = exhaust(game, start, max_nodes - search.nodes)
        nodes += search.nodes
    else:
        verdict, nodes = Verdict.WINNABLE, search.nodes
    if verdict is Verdict.WINNABLE:
        assert wins(race, seat, line), "a line that the solver finds is one by the rules"
    return Solution(verdict, line, nodes)


def wins(race: Race, seat: int, line: tuple[Move, ...]) -> bool:
    """Return whether these moves are legal for this seat one after the other, and win at the last one."""
    for move in line:
        if race.racers[seat].ending or race.refusal(seat, move):
            return False
        race = race.play(seat, move)
    return race.racers[seat].ending is Ending.WON


class _Node(Value, gc=True):
    """A position of a beam with the moves that led to it from the node before, and its cost."""

    cost: tuple[int, ...]
    position: Position
    before: "_Node | None"
    moves: tuple[Move, ...]


class LineSearch:
    """A beam search for a line that wins a seat's game, of at most `max_nodes` nodes; `nodes` counts those seen.

    A position is judged by playing it out in two ways (`open_stock`). A game played out that is won ends the search,
    so most deals need only a few positions.
    """

    def __init__(self, race: Race, seat: int, max_nodes: int) -> None:
        self.nodes = 0
        self._max_nodes = max_nodes
        self._game = open_game(race.deal)
        self._start = open_position(race.deal, race.racers[seat])
        self._order = [0] * len(self._game.ranks)
        self._easier: int
        self._played: int
        """The weights of the present beam."""
        self._won: tuple[Move, ...] | None = None

    def find(self) -> tuple[Move, ...] | None:
        """Return the moves of a line that wins, or None if no beam found one within the bound."""
        return finish(self.finding())

    def finding(self) -> Sliced[tuple[Move, ...] | None]:
        """Do what `find` does, in slices of one node."""
        moves: list[Move] = []
        position = settle(self._game, self._start, moves)
        root = _Node((), position, None, tuple(moves))
        if sum(position.heights) == self._game.goal:
            return root.moves
        for width, self._easier, self._played in BEAMS if len(position.piles) > 1 else BEAMS[:ONE_PILE_BEAMS]:
            passes = [root]
            while passes and self._won is None and self.nodes < self._max_nodes:
                ended = yield from self._search_pass(passes, width)
                passes = [node for node in map(self._redeal, nsmallest(width, ended, key=_cost)) if node]
            if self._won is not None or self.nodes >= self._max_nodes:
                break
        return self._won

    def _search_pass(self, beam: list[_Node], width: int) -> Sliced[list[_Node]]:
        """Follow a beam to the end of the pass; return the nodes whose stock is empty. In slices."""
        ended: list[_Node] = []
        while beam and self._won is None and self.nodes < self._max_nodes:
            following: dict[object, _Node] = {}
            for node in beam:
                yield
                if node.position.turned is None:
                    ended.append(node)
                else:
                    self._add_following(node, following)
            beam = nsmallest(width, following.values(), key=_cost)
        return ended

    def _add_following(self, node: _Node, following: dict[object, _Node]) -> None:
        game = self._game
        for move, branch in self._branches(node.position):
            moves = [move]
            position = settle(game, branch, moves) if move.places else branch
            key = position.heights, tuple(sorted(position.piles))
            if key in following:
                continue
            self.nodes += 1
            planned = plan_order(game, position, self._order)
            missing, played = play_out(game, position, self._order)
            cost = self._easier * planned + self._played * played
            after = _Node((cost, missing), position, node, tuple(moves))
            if not missing:
                rest: list[Move] = []
                play_out(game, position, self._order, rest)
                self._won = (*_line(after), *rest)
                return
            following[key] = after

    def _branches(self, position: Position) -> Iterator[tuple[Move, Position]]:
        """Yield the moves of the turned card that are tried: to a foundation where one needs it, otherwise to piles."""
        card = position.turned
        assert card is not None, "a node with an empty stock is not followed"
        fits = list(fitting(self._game, position, card))
        for to in fits:
            yield MOVES[f"s{to + 1}"], placed(position, to)
        known = set()
        for to, pile in enumerate(position.piles):
            if not fits and pile not in known:
                known.add(pile)
                yield MOVES["s" + "abcdefgh"[to]], laid(position, to)

    def _redeal(self, node: _Node) -> _Node | None:
        following = redealt(self._game, node.position)
        return None if following is None else _Node(node.cost, following, node, (MOVES["redeal"],))


def _cost(node: _Node) -> tuple[int, ...]:
    return node.cost


def _line(node: _Node | None) -> tuple[Move, ...]:
    """Return all moves from the start to a node."""
    parts = []
    while node is not None:
        parts.append(node.moves)
        node = node.before
    return tuple(move for moves in reversed(parts) for move in moves)
