"""The tutorial of a minute: a practice race with a fixed deal in which each step asks for one key. Pure."""

from enum import Enum
from typing import Final

from fairest_cli.model.seeds import read_seed
from fairest_cli.tui.board.card_input import PILE_KEYS, SEND_UP_KEYS, STOCK, fitting_foundations, pile_span
from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.value import Value, replace

SEED: Final = "tutorial-403"
"""Found by trying: its first cards fit, do not fit, fit, free the pile's top, and fit, so each step has one answer."""


class Step(Enum):
    """The steps in their order."""

    PLACE = "put the turned card on a foundation"
    LAY = "lay a card that fits nothing onto a pile"
    PLACE_AGAIN = "put another one on a foundation"
    TOP_UP = "play the top of the pile"
    READ = "find the foundation without a hint"
    SEQUENCES = "show the sequences as a whole"
    DONE = "done"


STEPS: Final = tuple(Step)


class Tutorial(Value):
    """A step of the tutorial, and the race as it stands."""

    race: Race
    step: Step = Step.PLACE

    @property
    def board(self) -> Board:
        """The board of the only seat."""
        return self.race.racers[0].board

    @property
    def shows_hints(self) -> bool:
        """Whether the board says where the turned card fits: not if the step asks to find out, or for another card."""
        return self.step not in (Step.READ, Step.TOP_UP)

    def accepts(self, move: Move) -> bool:
        """Whether a legal move is what the present step asks for."""
        match self.step:
            case Step.PLACE | Step.PLACE_AGAIN | Step.READ:
                return move.takes_turned and move.places
            case Step.LAY:
                return move.takes_turned and not move.places
            case Step.TOP_UP:
                return move.places and not move.takes_turned
            case _:
                return False

    def after(self, move: Move) -> "Tutorial":
        """Return the next step, after a move that this step accepts."""
        return replace(self, race=self.race.play(0, move)).next()

    def next(self) -> "Tutorial":
        """Return the tutorial one step further; the last step is followed by none."""
        return replace(self, step=STEPS[min(STEPS.index(self.step) + 1, len(STEPS) - 1)])


def start_tutorial() -> Tutorial:
    """Return the tutorial at its first step."""
    rules = VARIANTS["classic"].rules
    return Tutorial(start_race(rules, make_deal(rules, read_seed(SEED)), seats=1))


def describe_step(tutorial: Tutorial, keys: Keys, card_style: CardStyle) -> tuple[str, str]:
    """Return why, and which key the step asks for, each in at most 48 columns."""
    board, arrow = tutorial.board, card_style.arrow
    card = "" if board.turned is None else rank_name(rank(board.turned))
    first = "s, then " if keys is Keys.TYPED else ""
    digit = "".join(FOUNDATION_DIGITS[to] for to in fitting_foundations(STOCK, board))
    match tutorial.step:
        case Step.PLACE:
            return f"Foundation {digit} wants a {card} ({arrow}{card}): you turned one.", f"Press {first}{digit}."
        case Step.LAY:
            span = pile_span(keys, len(board.piles))
            return f"No foundation wants a {card}: lay it on a pile.", f"Press {first}{span}, whichever you like."
        case Step.PLACE_AGAIN:
            return f"Suits never matter. The {card} fits foundation {digit}.", f"Press {first}{digit}."
        case Step.TOP_UP:
            pile = next(number for number in range(len(board.piles)) if fitting_foundations(number, board))
            up = "".join(FOUNDATION_DIGITS[to] for to in fitting_foundations(pile, board))
            if keys is Keys.TYPED:
                return f"Now foundation {up} wants the top of your pile.", f"Press {PILE_KEYS[keys][pile]}, then {up}."
            return (
                f"Now foundation {up} wants the top of your pile.",
                f"Press Shift and {SEND_UP_KEYS[keys][pile].lower()}.",
            )
        case Step.READ:
            return f"No hint: {arrow} is wanted. Where does the {card} fit?", f"Press {first}the number above it."
        case Step.SEQUENCES:
            return "Each foundation counts in its own steps.", "Press Tab to read them as a whole."
        case Step.DONE:
            return "Done. First with 52 wins; if nobody, most cards.", "Press Enter to go on."


def describe_wrong(tutorial: Tutorial, sentence: str, keys: Keys, card_style: CardStyle) -> str:
    """Return the answer to another key than the one asked for; `sentence` is why the rules forbid it, if they do."""
    return sentence or f"Not yet. {describe_step(tutorial, keys, card_style)[1]}"
