"""Boards and results as lines of text, for the text client, replays and screen readers. Pure."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, rank, rank_name
from fairest_protocol.calculation.distance import uncertainty_ms
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.rules import Foundation

COLUMNS: Final = 80
"""The width at which lines are wrapped."""

SUIT_NAMES: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}

ENDINGS: Final = {
    Ending.WON: "placed every card",
    Ending.STUCK: "had no move left",
    Ending.STOPPED: "stopped",
    Ending.OUT_OF_TIME: "ran out of time",
    Ending.AWAY: "stayed away too long",
    Ending.RESIGNED: "resigned",
    Ending.NOT_REVEALED: "did not take part in the deal",
    Ending.ROUND_OVER: "was still racing",
}


def ranks(cards: Sequence[Card]) -> str:
    """Return the ranks of a stack of cards, bottom first."""
    return " ".join(rank_name(rank(card)) for card in cards)


def card_name(card: Card) -> str:
    """Return the name of a card for people, ``7 of hearts``."""
    return f"{rank_name(rank(card))} of {SUIT_NAMES[card[1].upper()]}"


def describe_board(board: Board) -> Iterator[str]:
    """Yield the foundations with the rank that each needs next, the waste piles, the turned card and the stock.

    A foundation shows its whole sequence, with the cards still to come in brackets.
    """
    for digit, foundation, cards in zip(FOUNDATION_DIGITS, board.layout, board.foundations, strict=False):
        wanted = foundation.next_rank(len(cards))
        needs = "complete" if wanted is None else f"needs {rank_name(wanted)}"
        yield row_head(digit, f"by {foundation.step:+d}  {needs}") + _sequence(foundation, len(cards))
    for letter, pile in zip(PILE_LETTERS, board.piles, strict=False):
        yield from describe_cards(row_head(letter, _count(len(pile))), pile)
    if board.turned is not None:
        name = rank_name(rank(board.turned))
        yield row_head("s", "the turned card") + f"{name}   ({card_name(board.turned)}; {_stock(board)})"
    elif board.stock:
        yield row_head("s", "nothing turned yet") + f"({_stock(board)})"
    else:
        yield row_head("s", "the stock is empty") + f"({_redeals(board)})"


def row_head(mark: str, label: str) -> str:
    """Return the part of a row before the bar: the letter or digit that moves use, and a label."""
    return f"  {mark}  {label:<18} | "


def describe_cards(head: str, cards: Sequence[Card]) -> Iterator[str]:
    """Yield a row of cards, continued on lines of their own where it is wider than `COLUMNS`."""
    indent = f"{'':{len(head) - 2}}| "
    yield from wrap(ranks(cards) or "-", COLUMNS, initial_indent=head, subsequent_indent=indent)


def describe_ledger(names: Sequence[str], outcome: Outcome) -> Iterator[str]:
    """Yield the times of both players in a round that credits distance, and what follows from them; else nothing."""
    ledger = outcome.ledger
    if ledger is None:
        return
    for name, timing in zip(names, ledger, strict=True):
        credited = f"credited {timing.credit_ms / 1000:.1f} s for distance ({timing.rtt_us / 1000:.0f} ms a card)"
        if timing.arrival_ms is None or timing.corrected_ms is None:
            yield f"  {clean(name)}: {credited}"
        else:
            arrival, corrected = timing.arrival_ms / 1000, timing.corrected_ms / 1000
            yield f"  {clean(name)}: placed the last card after {arrival:.2f} s, {credited}: {corrected:.2f} s"
    if all(timing.arrival_ms is not None for timing in ledger):
        least = uncertainty_ms(ledger[0].credit_ms, ledger[1].credit_ms) / 1000
        dead_heat = f"A dead heat: within the {least:.2f} s that the credits are uncertain by."
        yield f"  {dead_heat if outcome.winner is None else 'The corrected times decide.'}"


def describe_score(name: str, score: Score) -> Iterator[str]:
    """Yield the score of one player: the cards placed, the ending, and the cards turned."""
    near = ", a near miss" if score.is_near_miss else ""
    yield f"  {clean(name)}: {score.placed} of {score.goal} cards{near}; {ENDINGS[score.ending]}"
    turned = "1 stock card" if score.cards_turned == 1 else f"{score.cards_turned} stock cards"
    yield f"    {turned} turned, {score.direct} of them played straight to a foundation"


def format_time(seconds: float) -> str:
    """Return minutes and seconds, ``4:05``."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _sequence(foundation: Foundation, cards: int) -> str:
    names = [rank_name(number) for number in foundation.sequence()]
    lying, coming = " ".join(names[:cards]), " ".join(names[cards:])
    return " ".join(part for part in (lying, f"({coming})" if coming else "") if part)


def _count(cards: int) -> str:
    return "1 card" if cards == 1 else f"{cards} cards"


def _stock(board: Board) -> str:
    return f"{board.stock} more in the stock"


def _redeals(board: Board) -> str:
    return f"type redeal to deal the waste again; {board.redeals} left" if board.redeals else "no redeal left"
