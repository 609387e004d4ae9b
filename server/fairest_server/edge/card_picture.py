"""The picture of a social card: both final boards, the players and the result, as one static file of SVG.

It is built as a tree of elements, so that no text in it can become markup.
"""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_server.edge.match_card import MatchCard

WIDTH, HEIGHT = 1200, 630
"""The size that sites expect of such pictures, in pixels."""
_HALF, _MARGIN, _GAP = WIDTH // 2, 40, 8
_BOARD_TOP, _PILES_TOP, _BOTTOM = 200, 330, 606
_CARD: Final = (60, 84)
"""Columns and lines of a card that is not scaled down."""
_STRIP: Final = 24
_FELT, _PANEL, _TEXT, _QUIET, _GOLD = "#0e2a22", "#17382e", "#eef4ef", "#a9c6ba", "#f2c14e"
_INK, _RED, _FACE = "#1b1b1b", "#b3261e", "#fdfcf7"
_FONT: Final = "DejaVu Sans, Arial, sans-serif"
_CLUB = (
    "M50 4c15 0 25 16 18 31 15-4 28 7 28 21 0 18-28 26-41 8 0 13 4 24 11 30H34c7-6 11-17 11-30C32 82 4 74 4 56"
    "c0-14 13-25 28-21C25 20 35 4 50 4z"
)
_DIAMOND = "M50 3c8 17 21 33 34 47-13 14-26 30-34 47-8-17-21-33-34-47C29 36 42 20 50 3z"
_HEART = "M50 94C42 72 6 54 6 29 6 4 42 2 50 28 58 2 94 4 94 29c0 25-36 43-44 65z"
_SPADE = "M50 4C58 26 92 38 92 62c0 24-30 27-37 10 1 12 5 18 11 22H34c6-4 10-10 11-22-7 17-37 14-37-10C8 38 42 26 50 4z"
_SUITS: Final = {"c": (_INK, _CLUB), "d": (_RED, _DIAMOND), "h": (_RED, _HEART), "s": (_INK, _SPADE)}
"""The colour and the outline of each suit, those of the page."""


def draw_card(card: MatchCard) -> bytes:
    """Return the picture of a card."""
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": str(WIDTH), "height": str(HEIGHT), "role": "img"}
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size})
    SubElement(picture, "title").text = f"{card.title}. {card.description}"
    _add(picture, "rect", width=WIDTH, height=HEIGHT, fill=_FELT)
    _write(picture, _MARGIN, 62, 34, _GOLD, "Fairest")
    _write(picture, WIDTH - _MARGIN, 62, 26, _QUIET, _terms(card), anchor="end")
    for seat in (0, 1):
        left = seat * _HALF + _MARGIN
        _add(picture, "rect", x=left - 20, y=90, width=_HALF - _MARGIN, height=HEIGHT - 110, rx=16, fill=_PANEL)
        is_winner = seat == card.winner
        _write(picture, left, 140, 36, _GOLD if is_winner else _TEXT, card.names[seat], width=_HALF - 2 * _MARGIN)
        _write(picture, left, 178, 24, _GOLD if is_winner else _QUIET, _result(card, seat))
        if card.boards:
            _draw_board(picture, left, card.boards[seat])
    text: bytes = tostring(picture, encoding="utf-8", xml_declaration=True)
    return text


def _terms(card: MatchCard) -> str:
    return card.rules if card.best_of == 1 else f"{card.rules}, best of {card.best_of}"


def _result(card: MatchCard, seat: int) -> str:
    won = "a draw" if card.winner is None else "wins" if seat == card.winner else ""
    rounds = f"{card.wins[seat]} rounds" if card.best_of > 1 else ""
    return ", ".join(part for part in (won, rounds, f"{card.placed[seat]} of {card.goal} cards") if part)


def _draw_board(picture: Element, left: int, board: Board) -> None:
    for place, cards in enumerate(board.foundations):
        x, scale = _column(left, place, len(board.foundations))
        _draw_stack(picture, x, _BOARD_TOP, scale, cards[-1:])
    for place, cards in enumerate(board.piles):
        x, scale = _column(left, place, len(board.piles))
        _draw_stack(picture, x, _PILES_TOP, scale, cards)


def _column(left: int, place: int, columns: int) -> tuple[float, float]:
    """Return the left end of a column of cards, and the scale of its cards."""
    pitch = (_HALF - 2 * _MARGIN) / columns
    return left + place * pitch, min(1.0, pitch / (_CARD[0] + _GAP))


def _draw_stack(picture: Element, x: float, y: float, scale: float, cards: Sequence[Card]) -> None:
    """Draw cards that lie on each other, the bottom one first, so that the last one ends above the lower edge."""
    room = (_BOTTOM - y) / scale - _CARD[1]
    strip = min(_STRIP, room / max(1, len(cards) - 1))
    stack = _add(picture, "g", transform=f"translate({x:.1f} {y:.1f}) scale({scale:.3f})")
    if not cards:
        _add(stack, "rect", width=_CARD[0], height=_CARD[1], rx=6, fill="none", stroke=_QUIET)
    for number, card in enumerate(cards):
        _draw_face(_add(stack, "g", transform=f"translate(0 {number * strip:.1f})"), card)


def _draw_face(parent: Element, card: Card) -> None:
    colour, outline = _SUITS[card[1].lower()]
    sign = "10" if card[0] == "T" else card[0]
    _add(parent, "rect", width=_CARD[0], height=_CARD[1], rx=6, fill=_FACE, stroke=_INK)
    _write(parent, 5, 20, 20, colour, sign)
    for x, y, scale in ((34, 5, 0.17), (13, 34, 0.34)):
        _add(parent, "path", d=outline, fill=colour, transform=f"translate({x} {y}) scale({scale})")


def _add(parent: Element, tag: str, **attributes: object) -> Element:
    return SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _write(
    parent: Element, x: int, y: int, size: int, colour: str, text: str, *, anchor: str = "start", width: int = 0
) -> None:
    """Write a line of text; one that would be wider than `width` is narrowed to it."""
    attributes = {"font-size": str(size), "text-anchor": anchor, "font-family": _FONT, "font-weight": "bold"}
    if width and len(text) * size * 0.75 > width:
        attributes |= {"textLength": str(width), "lengthAdjust": "spacingAndGlyphs"}
    line = SubElement(parent, "text", {"x": str(x), "y": str(y), "fill": colour, **attributes})
    line.text = text
