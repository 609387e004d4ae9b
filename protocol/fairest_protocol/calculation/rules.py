"""Every variant as data. A new variant is one new row of `VARIANTS`; no other code knows the names of variants.

The rows follow docs/rules.md. Where published sources contradict each other, that page says which one applies.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Final

from fairest_protocol.value import Value, message_dataclass, replace


class BadRules(ValueError):
    """The rules cannot be played, or the variant does not allow them. The text says which rules are possible."""


MAX_PILES: Final = 8
MAX_FOUNDATIONS: Final = 8
"""The text form of moves has eight letters for piles and eight digits for foundations (`moves`)."""


@message_dataclass
class Foundation:
    """One foundation: the rank it starts from, the step from card to card, and how many cards complete it.

    Raises `BadRules` for one that is not built of ranks, each of them once.
    """

    start: int
    step: int
    length: int = 13

    def __post_init__(self) -> None:
        if self.start not in range(1, 14) or self.step % 13 == 0 or self.length not in range(1, 14):
            raise BadRules(f"a foundation cannot start at {self.start} and have {self.length} cards by {self.step:+d}")

    def next_rank(self, cards: int) -> int | None:
        """Return the rank needed next on a foundation of `cards` cards, or None if it is complete."""
        return None if cards >= self.length else (self.start - 1 + self.step * cards) % 13 + 1

    def sequence(self) -> tuple[int, ...]:
        """Return all ranks of the foundation, from the starter to the last card."""
        return tuple((self.start - 1 + self.step * cards) % 13 + 1 for cards in range(self.length))


class RolledFoundations(Value):
    """Foundations that the deal decides: their starters are the first `count` cards of the shuffled deck.

    The step of each is rolled with a die of `sides` sides. Each has `length` cards when it is complete.
    """

    count: int
    sides: int
    length: int = 13


class Redeal(StrEnum):
    """How the waste piles become the stock again."""

    RESHUFFLED = "reshuffled"
    TURNED_OVER = "turned_over"


class Rules(Value):
    """One variant with its parameters chosen: everything that a deal and a board depend on.

    `starters`: each foundation begins with its first card laid out. `markers`: ranks of which one card each lies face
    up, out of play. Raises `BadRules` if the decks do not have the cards that these rules need.
    """

    name: str
    foundations: tuple[Foundation, ...] | RolledFoundations
    decks: int = 1
    starters: bool = True
    piles: int = 4
    redeals: int = 0
    redeal: Redeal = Redeal.RESHUFFLED
    markers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise BadRules(f"{self.name}: {problem}")

    @property
    def foundation_count(self) -> int:
        """The number of foundations."""
        return self.foundations.count if isinstance(self.foundations, RolledFoundations) else len(self.foundations)

    @property
    def goal(self) -> int:
        """The number of cards on all foundations together, starters included, when the race is won."""
        if isinstance(self.foundations, RolledFoundations):
            return self.foundations.count * self.foundations.length
        return sum(foundation.length for foundation in self.foundations)

    @property
    def stock(self) -> int:
        """The number of cards in the stock at the start."""
        laid = self.foundation_count if self.starters else 0
        return 52 * self.decks - laid - len(self.markers)


def _problems(rules: Rules) -> Iterator[str]:
    """Yield a sentence for each reason why these rules cannot be played."""
    if rules.decks not in (1, 2):
        yield f"is for one deck or two, not {rules.decks}"
    if rules.piles not in range(1, MAX_PILES + 1):
        yield f"has 1 to {MAX_PILES} waste piles, not {rules.piles}"
    if rules.foundation_count not in range(1, MAX_FOUNDATIONS + 1):
        yield f"has 1 to {MAX_FOUNDATIONS} foundations, not {rules.foundation_count}"
    if isinstance(rules.foundations, RolledFoundations):
        if not rules.starters or rules.markers:
            yield "foundations that the deal decides have starters, and no markers"
        return
    needed = Counter(rules.markers)
    for foundation in rules.foundations:
        needed.update(foundation.sequence())
    for number, cards in needed.items():
        if cards > 4 * rules.decks:
            yield f"needs {cards} cards of rank {number}, and there are {4 * rules.decks}"


class Variant(Value):
    """One row of the table: the default rules, the parameters that may be chosen, and the published source.

    `also` holds other names by which people know the variant.
    """

    title: str
    rules: Rules
    piles: range
    redeals: range
    source: str
    also: tuple[str, ...] = ()


def _steps(starts: tuple[int, ...], steps: tuple[int, ...], length: int = 13) -> tuple[Foundation, ...]:
    return tuple(Foundation(start, step, length) for start, step in zip(starts, steps, strict=True))


_BY_ONE_TO_FOUR: Final = _steps((1, 2, 3, 4), (1, 2, 3, 4))

UNPUBLISHED: Final = "a players' variation of Calculation; no book that we know of has it"

VARIANTS: Final[dict[str, Variant]] = {
    variant.rules.name: variant
    for variant in (
        Variant(
            title="Calculation",
            rules=Rules("classic", _BY_ONE_TO_FOUR),
            piles=range(1, 9),
            redeals=range(3),
            source="Wikipedia, Calculation (card game): from France, as La Plus Belle",
            also=("calculation", "piker", "progression", "the-fairest"),
        ),
        Variant(
            title="Easy Calculation",
            rules=Rules("easy", _BY_ONE_TO_FOUR, piles=5),
            piles=range(5, 7),
            redeals=range(3),
            source=UNPUBLISHED,
        ),
        Variant(
            title="Broken Intervals",
            rules=Rules("broken", RolledFoundations(count=4, sides=6)),
            piles=range(1, 9),
            redeals=range(3),
            source=UNPUBLISHED,
        ),
        Variant(
            title="Senior Calculation",
            rules=Rules("senior", _steps(tuple(range(1, 9)), tuple(range(1, 9))), decks=2),
            piles=range(4, 9),
            redeals=range(3),
            source=UNPUBLISHED,
            also=("giant",),
        ),
        Variant(
            title="Reverse Calculation",
            rules=Rules("reverse", _steps((13, 13, 13, 13), (-1, -2, -3, -4))),
            piles=range(1, 9),
            redeals=range(3),
            source=UNPUBLISHED,
        ),
        Variant(
            title="Calculation with a redeal",
            rules=Rules("redeal", _BY_ONE_TO_FOUR, redeals=1),
            piles=range(1, 9),
            redeals=range(1, 3),
            source=UNPUBLISHED,
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
            source="Cheney, Patience (1869), as Musical; Wikipedia, Musical (card game)",
            also=("four-kings", "musical", "quadruple-alliance"),
        ),
        Variant(
            title="One-pile Calculation",
            rules=Rules("single", _BY_ONE_TO_FOUR, piles=1),
            piles=range(1, 2),
            redeals=range(3),
            source=UNPUBLISHED,
        ),
    )
}


def find_variant(name: str) -> Variant:
    """Return the variant with this name, or with this one among its other names; case does not matter.

    Raises `BadRules` if no variant has the name.
    """
    wanted = name.strip().lower()
    for variant in VARIANTS.values():
        if wanted == variant.rules.name or wanted in variant.also:
            return variant
    raise BadRules(f"there is no variant {name!r}; choose one of {', '.join(VARIANTS)}")


def choose_rules(name: str, piles: int | None = None, redeals: int | None = None) -> Rules:
    """Return the rules of a variant with these parameters; None keeps the variant's default.

    Raises `BadRules` if the name is unknown, or a parameter is outside the range that the variant allows.
    """
    variant = find_variant(name)
    piles = variant.rules.piles if piles is None else piles
    redeals = variant.rules.redeals if redeals is None else redeals
    for noun, chosen, allowed in (("pile", piles, variant.piles), ("redeal", redeals, variant.redeals)):
        if chosen not in allowed:
            wrong = f"{variant.rules.name} is played with {span(allowed, noun)}, not {chosen}"
            raise BadRules("; ".join((wrong, *_advice(variant.rules, piles, redeals))))
    return _with_parameters(variant.rules, piles, redeals)


@cache
def _with_parameters(rules: Rules, piles: int, redeals: int) -> Rules:
    """Return the rules with these parameters. Cached, so rooms that play by the same rules share one object."""
    return replace(rules, piles=piles, redeals=redeals)


def span(allowed: range, noun: str) -> str:
    """Return a range of counts in words: ``1 pile``, ``5 or 6 piles``, ``no redeal``."""
    low, high = allowed[0], allowed[-1]
    if high == 0:
        return f"no {noun}"
    plural = "" if high == 1 else "s"
    if low == high:
        return f"{high} {noun}{plural}"
    return f"{low} {'or' if high - low == 1 else 'to'} {high} {noun}{plural}"


def _advice(rules: Rules, piles: int, redeals: int) -> Iterator[str]:
    """Yield the first other variant that has the same foundations and allows these parameters, if there is one."""
    for variant in VARIANTS.values():
        other = variant.rules
        is_same_game = other == replace(rules, name=other.name, piles=other.piles, redeals=other.redeals)
        if is_same_game and piles in variant.piles and redeals in variant.redeals:
            yield f"choose {other.name} for that"
            return
