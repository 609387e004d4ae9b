"""The page judges a chain of rounds and a daily deal as `fairest` does, in the same words."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.chain_audit import BrokenChain
from fairest_cli.records.daily_entries import DailyEntries, may_begin_at
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsHead, RoundsPage
from tests.support.lying_chain import MadeChain, MadeRound
from tests.support.page_modules import ask_page

DAY = "2026-11-24"
BEGINS_MS = day_start_ms(DAY)
VARIANT = "classic"
COMMITMENT, OTHER = bytes([1]) * 32, bytes([2]) * 32
CHANGES: tuple[dict[str, Any], ...] = (
    {"number": 77},
    {"number": "1"},
    {"number": -1},
    {"at_ms": None},
    {"at_ms": 2**53},
    {"type": "closed"},
    {"type": "constructor"},
    {"commitment": "ab"},
    {"commitment": COMMITMENT.hex().upper()},
    {"rules": "classic 9 0"},
    {"rules": "senior-daily 8 0"},
    {"how": "lost"},
    {"why": "tired"},
    {"why": "left"},
    {"endings": ["won"]},
    {"endings": ["won", "asleep"]},
    {"endings": None},
    {"revealed": [True, 1]},
    {"revealed": None},
    {"seed": "xy" * 32},
    {"seed": None},
    {"lost_number": 3},
    {"note": "more"},
)
"""Fields of an entry that a lying server may write; some leave it an entry, or make one of another kind."""

SENTENCES = (
    "is entry",
    "Beware",
    "is not in the server's list",
    "for senior",
    "for classic",
    "less than twelve hours before its day",
    "behind entries of its day",
    "later than it says",
    "more than a day before its day",
    "from before the day.",
    "behind its beacon",
    "not the hash of entry",
    "from before its day",
    "the last entry before",
    "does not follow",
    "is not an entry",
    "says that it is entry",
    "does not end",
)

Case = tuple[DailySeal, list[RoundsPage], RoundsHead, list[RoundsHead]]
"""A seal, the pages and the head of a chain, and the heads that were shown before."""


def made_chain(chance: random.Random) -> MadeChain:
    """Return a chain of entries around the beginning of a day, honest or not in what it announces."""
    chain = MadeChain(BEGINS_MS - chance.choice([30, 6, 3, 1, 46_800, 46_800]) * 1000 - 500)
    if chance.random() < 0.1:
        # An announcement that was added when the day had begun, with a time from before.
        chain.now_ms = BEGINS_MS
        chain.play(MadeRound(chance))
        chain.now_ms = BEGINS_MS - 46_800_000
    for _ in range(chance.randint(1, 6)):
        made = MadeRound(chance)
        chain.now_ms += chance.choice([0, 0, 0, 0, 0, 46_800_000, -46_800_000, -93_600_000])
        kind = chance.choice(["announced", "announced", "other", "senior", "played", "lost", "yesterday"])
        if kind == "played":
            chain.play(made)
        elif kind == "lost":
            chain.add({"type": "lost", "lost_number": 9, "lost_chain": bytes(32).hex()})
        else:
            by_drand = "classic-drand-daily 4 0" if chance.random() < 0.3 else "classic-daily 4 0"
            rules = "senior-daily 8 0" if kind == "senior" else by_drand
            commitment = OTHER if kind == "other" else COMMITMENT
            chain.now_ms -= 48 * 3_600_000 * (kind == "yesterday")
            chain.add({"type": "opened", "commitment": commitment.hex(), "rules": rules})
            chain.now_ms += 48 * 3_600_000 * (kind == "yesterday")
    if chance.random() < 0.4:
        number = chance.randrange(len(chain.lines))
        entry = {**json.loads(chain.lines[number]), **chance.choice(CHANGES)}
        if chance.random() < 0.2:
            del entry[chance.choice(sorted(entry))]
        lines = [*chain.lines[:number], json.dumps(entry), *chain.lines[number + 1 :]]
        chain.cut(0)
        for line in lines:
            chain.add_line(line)
    return chain


def random_case(chance: random.Random) -> Case:
    """Return a seal, and the pages and the head of a chain that may support it, contradict it, or not link."""
    chain = made_chain(chance)
    number = chance.randint(1, len(chain.lines))
    beacon = chain.chains[number] if chance.random() < 0.9 else bytes(32)
    seal = DailySeal(round=bytes(16), commitment=COMMITMENT, beacon_number=number, beacon=beacon)
    if chance.random() < 0.3:
        seal = seal.model_copy(update={"drand": chance.randbytes(48)})
    pages, head = chain.pages(), chain.head()
    if chance.random() < 0.1:
        lines = list(pages[0].lines)
        lines[chance.randrange(len(lines))] += " "
        pages = [RoundsPage(page=0, before=pages[0].before, lines=tuple(lines))]
    if chance.random() < 0.1:
        pages.append(RoundsPage(page=chance.choice([1, 2]), before=bytes(32), lines=()))
    known = [chain.head(chance.choice([-46_800_000, -1, 0, 46_800_000]))] if chance.random() < 0.3 else []
    known = [head.model_copy(update={"number": chance.randrange(head.number + 1)}) for head in known]
    return seal, pages, head, known


def judge(seal: DailySeal, pages: list[RoundsPage], head: RoundsHead, known: list[RoundsHead]) -> list[Any]:
    """Return what `fairest` says of a case, in the form in which the page answers."""

    def check() -> str:
        entries = DailyEntries(VARIANTS[VARIANT].rules, DAY, seal)
        for page in pages:
            entries.add_page(page, PAGE_LINES, head.number)
        return entries.check(head, known)

    return [_judged(lambda: may_begin_at(pages[0], DAY)), _judged(check)]


def _judged(work: Callable[[], bool | str]) -> bool | str:
    try:
        return work()
    except (BrokenChain, Cheated) as reason:
        return f"{type(reason).__name__}: {reason}"


def question(seal: DailySeal, pages: list[RoundsPage], head: RoundsHead, known: list[RoundsHead]) -> dict[str, Any]:
    asked = {"ask": "daily_entries", "rules": VARIANT, "day": DAY, "page_lines": PAGE_LINES}
    return {**asked, **to_jsonable_python({"seal": seal, "pages": pages, "head": head, "known": known})}


@pytest.mark.long
def test_a_chain_is_judged_as_by_fairest() -> None:
    chance = random.Random(12)
    cases = [random_case(chance) for _ in range(4_000)]
    expected = [judge(*case) for case in cases]
    assert ask_page(question(*case) for case in cases) == expected
    for part in SENTENCES:
        assert any(part in sentence for _, sentence in expected), f"each sentence was compared: {part}"
    assert any("lines that are not entries" in str(begins) for begins, _ in expected)
