"""Records of matches and raw logs of rooms: what is stored, and whether it follows from the rules.

From docs/protocol.md ("The record of a match") and docs/rules.md. The signatures are not checked.
"""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.histories.board import BEHIND_THE_LAST_CARD, Board, IllegalMoveError, Turn
from benchmarks.histories.sealing import deal_of, entropy_hash, envelopes_of, hash_of, seed_of

CHAIN = re.compile(r',"chain":"([0-9a-f]{64})"(?=}$)')
MOVE = re.compile(r"([01])([sa-h][1-8a-h]|redeal|stop|resign)")
AFTER_A_STOP = "stuck", "won", "stopped", "resigned"
"""The endings that follow from a move of the seat's own."""


@dataclass
class StoredRound:
    """A round as it is stored: the moves of each seat, and its turn after each of them, first of all its first turn."""

    id: str
    moves: list[tuple[int, str]] = field(default_factory=list)
    turns: tuple[list[Turn], list[Turn]] = field(default_factory=lambda: ([], []))
    endings: list[str] = field(default_factory=list)
    redeals: int = 0

    def moves_of(self, seat: int) -> list[str]:
        """Return the moves of a seat, in order."""
        return [move for mover, move in self.moves if mover == seat]


def check_chain(lines: Sequence[str]) -> Iterator[str]:
    """Yield a problem for each line whose chain does not follow."""
    chain = b""
    for number, line in enumerate(lines[:-1], 1):
        found = CHAIN.search(line)
        chain = hash_of("line", chain, CHAIN.sub("", line).encode())
        if found is None or found[1] != chain.hex():
            yield f"line {number} breaks the chain of the record"


def rounds_of_record(lines: Sequence[str]) -> tuple[list[StoredRound], list[str]]:
    """Return the rounds of a record and its problems."""
    told = [json.loads(line) for line in lines]
    problems = list(check_chain(lines))
    rounds: list[StoredRound] = []
    start = None
    for line in [*told[1:-1], {"type": "round", "id": ""}]:
        if line["type"] != "round":
            assert start is not None
            start.append(line)
            continue
        if start is not None and start[-1]["type"] == "result":
            stored, found = _check_round(told[0], start)
            rounds.append(stored)
            problems += [f"record, round {stored.id[:8]}: {problem}" for problem in found]
        start = [line]
    return rounds, problems


def _check_round(match: dict[str, Any], lines: list[dict[str, Any]]) -> tuple[StoredRound, list[str]]:
    head, result = lines[0], lines[-1]
    terms = dict(field.split("=") for field in match["terms"].split(" "))
    stored = StoredRound(head["id"], redeals=int(terms["redeals"]))
    stored.moves = [(line["seat"], line["move"]) for line in lines if line["type"] == "move"]
    stored.endings = [score["ending"] for score in result["scores"]]
    problems = []
    round_id, secret = bytes.fromhex(head["id"]), bytes.fromhex(head["secret"])
    if hash_of("secret", round_id, secret).hex() != head["commitment"]:
        problems.append("the secret is not the one that was committed to")
    for seat, (hashed, shown) in enumerate(zip(head["entropy_hashes"], head["entropies"], strict=True)):
        if shown and entropy_hash(round_id, seat, bytes.fromhex(shown)) != hashed:
            problems.append(f"the bytes of seat {seat} do not belong to their hash")
    if not all(head["entropies"]):
        if stored.moves:
            problems.append("moves without a deal")
        return stored, problems
    first, second = (bytes.fromhex(shown) for shown in head["entropies"])
    seed = seed_of(secret, (first, second), round_id)
    deal = deal_of(seed, terms["rules"], stored.redeals)
    if envelopes_of(seed, round_id, deal) != head["envelopes"]:
        problems.append("the secret deals other cards than those in the envelopes")
    tables = [Table(Board(deal.layout, [[card] for card in deal.starters], [[] for _ in range(int(terms["piles"]))],
                          len(deal.orders[0]), stored.redeals), deal.orders) for _ in (0, 1)]  # fmt: skip
    for seat, table in enumerate(tables):
        stored.turns[seat].append(table.board.turn)
    for seat, move in stored.moves:
        try:
            tables[seat].play(move)
        except IllegalMoveError as reason:
            problems.append(f"seat {seat} plays {move}: {reason}")
            break
        stored.turns[seat].append(tables[seat].board.turn)
    before_start = [line for line in lines if line["type"] == "stop" and line["at_ms"] is None]
    seats_before_start = {seat for line in before_start for seat in line["seats"]}
    if any(line["ending"] == "resigned" for line in before_start):
        seats_before_start = {0, 1}
    for seat, (score, table) in enumerate(zip(result["scores"], tables, strict=True)):
        board, turned = table.board, 0 if seat in seats_before_start else table.board.turns
        if (score["placed"], score["direct"], score["cards_turned"]) != (board.placed, board.direct, turned):
            problems.append(f"seat {seat} scored {score}, its moves lead to {board.placed}, {board.direct} direct")
        if (score["ending"] == "won") != board.is_complete:
            problems.append(f"seat {seat} has the ending {score['ending']} with {board.placed} cards")
    return stored, problems


class Table:
    """A board with its stock: cards turn by themselves."""

    def __init__(self, board: Board, orders: Sequence[Sequence[str]]) -> None:
        self.board = board
        self._orders = orders
        self._stock = list(enumerate(orders[0]))
        self._turn()

    def play(self, move: str) -> None:
        """Make a move, then turn the next card if none is turned. Raises IllegalMoveError."""
        waste = [card for pile in self.board.piles for card in pile]
        self.board.play(move)
        if move == "redeal":
            order = self._orders[min(self.board.pass_number, len(self._orders) - 1)]
            # Positions are those of the whole stock in the order of this pass.
            self._stock = [(place, card) for place, card in enumerate(order) if card in waste]
        self._turn()

    def _turn(self) -> None:
        if self.board.turned is None and self._stock:
            place, card = self._stock.pop(0)
            self.board.turn_card(self.board.pass_number, place, card)


def rounds_of_log(log: Sequence[tuple[int, int, str]]) -> tuple[list[StoredRound], list[str]]:
    """Return the rounds in the raw log of a room, and what is wrong with its indexes and times."""
    rounds: list[StoredRound] = []
    problems = []
    for (index, at_ms, _), (next_index, next_at_ms, _) in itertools.pairwise(log):
        if next_index != index + 1:
            problems.append(f"log: entry {next_index} follows {index}")
        if next_at_ms < at_ms:
            problems.append(f"log: entry {next_index} is older than the one before")
    for _, _, text in log:
        move = MOVE.fullmatch(text)
        if move and rounds:
            rounds[-1].moves.append((int(move[1]), move[2]))
        elif not move and (told := json.loads(text))["type"] == "round_opened":
            rounds.append(StoredRound(told["round"]))
    return rounds, problems


def is_last_turn(turn: Turn, redeals: int) -> bool:
    """Return whether nothing is hidden at this turn any more: the stock is empty, and no redeal is left."""
    return turn == (redeals, BEHIND_THE_LAST_CARD)
