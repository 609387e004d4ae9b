"""Every variant as data. A new variant is one new row of `VARIANTS`; nothing else in the code knows their names.

The rows follow docs/rules.md. Where published sources contradict each other, that page says which one holds.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True)
class Foundation:
    """One foundation: the rank it starts from, the step from card to card, and how many cards complete it."""

    start: int
    step: int
    length: int = 13

    def next_rank(self, cards: int) -> int | None:
        """The rank needed on top of this many cards, or None when the foundation is complete."""
        return None if cards >= self.length else (self.start - 1 + self.step * cards) % 13 + 1

    def sequence(self) -> tuple[int, ...]:
        """All ranks of the foundation, from the starter to the last card."""
        return tuple((self.start - 1 + self.step * cards) % 13 + 1 for cards in range(self.length))


@dataclass(frozen=True, slots=True)
class Thrown:
    """Foundations that only the deal decides: starters are its first cards, steps are dice."""

    count: int
    sides: int
    length: int = 13


class Redeal(StrEnum):
    """How the waste becomes a stock again."""

    RESHUFFLED = "reshuffled"
    TURNED_OVER = "turned_over"


@dataclass(frozen=True, slots=True)
class Rules:
    """One variant with its parameters chosen: all that a deal and a board need to know.

    `starters` says whether each foundation begins with its first card laid out; `markers` are ranks of which
    one card each lies face up out of play.
    """

    name: str
    foundations: tuple[Foundation, ...] | Thrown
    decks: int = 1
    starters: bool = True
    piles: int = 4
    redeals: int = 0
    redeal: Redeal = Redeal.RESHUFFLED
    markers: tuple[int, ...] = ()

    @property
    def foundation_count(self) -> int:
        """How many foundations are built."""
        return self.foundations.count if isinstance(self.foundations, Thrown) else len(self.foundations)

    @property
    def goal(self) -> int:
        """Cards on all foundations together, starters included, when the round is won."""
        if isinstance(self.foundations, Thrown):
            return self.foundations.count * self.foundations.length
        return sum(foundation.length for foundation in self.foundations)

    @property
    def stock(self) -> int:
        """Cards in the stock at the start."""
        laid = self.foundation_count if self.starters else 0
        return 52 * self.decks - laid - len(self.markers)


class BadRules(ValueError):
    """A combination of variant and parameters that nobody plays; its text says what would be right."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table: default rules, the parameters that may be chosen, and where the row comes from."""

    title: str
    rules: Rules
    piles: range
    redeals: range
    source: str
    also: tuple[str, ...] = ()


def _steps(starts: tuple[int, ...], steps: tuple[int, ...], length: int = 13) -> tuple[Foundation, ...]:
    return tuple(Foundation(start, step, length) for start, step in zip(starts, steps, strict=True))


_BY_ONE_TO_FOUR: Final = _steps((1, 2, 3, 4), (1, 2, 3, 4))

VARIANTS: Final[dict[str, Variant]] = {
    variant.rules.name: variant
    for variant in (
        Variant(
            title="Calculation",
            rules=Rules("classic", _BY_ONE_TO_FOUR),
            piles=range(1, 9),
            redeals=range(3),
            source="Lady Cadogan, Illustrated Games of Solitaire or Patience; Morehead and Mott-Smith",
            also=("calculation", "piker", "progression", "the-fairest"),
        ),
        Variant(
            title="Easy Calculation",
            rules=Rules("easy", _BY_ONE_TO_FOUR, piles=5),
            piles=range(5, 7),
            redeals=range(3),
            source="Common program option: a fifth or sixth waste pile",
        ),
        Variant(
            title="Broken Intervals",
            rules=Rules("broken", Thrown(count=4, sides=6)),
            piles=range(1, 9),
            redeals=range(3),
            source="Broken Intervals: starters from the deal, steps by dice",
        ),
        Variant(
            title="Senior Calculation",
            rules=Rules("senior", _steps(tuple(range(1, 9)), tuple(range(1, 9))), decks=2),
            piles=range(4, 9),
            redeals=range(3),
            source="Two-deck Calculation, also called Giant",
            also=("giant",),
        ),
        Variant(
            title="Reverse Calculation",
            rules=Rules("reverse", _steps((13, 13, 13, 13), (-1, -2, -3, -4))),
            piles=range(1, 9),
            redeals=range(3),
            source="Four kings, downward by ones, twos, threes and fours",
        ),
        Variant(
            title="Calculation with a redeal",
            rules=Rules("redeal", _BY_ONE_TO_FOUR, redeals=1),
            piles=range(1, 9),
            redeals=range(1, 3),
            source="Common program option: the combined waste, reshuffled",
        ),
        Variant(
            title="Betsy Ross",
            rules=Rules(
                "betsy-ross",
                _steps((2, 4, 6, 8), (1, 2, 3, 4), length=12),
                piles=1,
                redeals=2,
                redeal=Redeal.TURNED_OVER,
                markers=(1, 2, 3, 4),
            ),
            piles=range(1, 2),
            redeals=range(3),
            source="Betsy Ross, also called Four Kings: one waste pile, turned over twice",
            also=("four-kings",),
        ),
        Variant(
            title="One-pile Calculation",
            rules=Rules("single", _BY_ONE_TO_FOUR, piles=1),
            piles=range(1, 2),
            redeals=range(3),
            source="Piker's one-pile cousin: practically unwinnable, raced for progress",
        ),
    )
}


def find_variant(name: str) -> Variant:
    """The row of a variant by its name or by another name that people use for it.

    Raises `BadRules` when nobody calls anything so.
    """
    wanted = name.strip().lower()
    for variant in VARIANTS.values():
        if wanted == variant.rules.name or wanted in variant.also:
            return variant
    raise BadRules(f"there is no variant {name!r}; choose one of {', '.join(VARIANTS)}")


def choose_rules(name: str, piles: int | None = None, redeals: int | None = None) -> Rules:
    """The rules of a variant with its parameters; None keeps the variant's own value.

    Raises `BadRules` for an unknown name or a parameter outside what the variant is played with.
    """
    variant = find_variant(name)
    rules = variant.rules
    for what, value, allowed in (("piles", piles, variant.piles), ("redeals", redeals, variant.redeals)):
        if value is not None and value not in allowed:
            raise BadRules(f"{rules.name} is played with {_span(allowed, what)}, not {value}")
    return replace(
        rules,
        piles=rules.piles if piles is None else piles,
        redeals=rules.redeals if redeals is None else redeals,
    )


def _span(allowed: range, what: str) -> str:
    low, high = allowed[0], allowed[-1]
    return f"{low} {what.removesuffix('s')}" if low == high == 1 else f"{low} to {high} {what}"
