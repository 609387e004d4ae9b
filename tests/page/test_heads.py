"""The page says of a head of a chain of rounds what `fairest` says, and keeps as many as it should."""

import itertools
import json
import random
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_cli.records.heads import head_problem, is_head_signed
from fairest_protocol.messages.rounds import RoundsHead
from fairest_server.live.signing import SigningKey
from tests.support.lying_chain import KEY
from tests.support.page_modules import ask_page

NOW_MS = 1_900_000_000_000
OTHER = SigningKey(bytes([9]) * 32)


def question(shown: RoundsHead, known: list[RoundsHead]) -> dict[str, Any]:
    asked = {"ask": "heads", "key": KEY.public.hex(), "now_ms": NOW_MS}
    return {**asked, "shown": to_jsonable_python(shown), "known": to_jsonable_python(known)}


def random_case(chance: random.Random) -> tuple[RoundsHead, list[RoundsHead]]:
    """Return a head, and others that were shown before: some of another chain, of another key, later or much older."""

    def head(key: SigningKey) -> RoundsHead:
        at_ms = NOW_MS - chance.choice(
            [-60_000, -5001, -5000, 0, 1000, 4999, 5000, 5001, 60_000, 119_999, 120_000, 120_001, 500_000]
        )
        return key.sign_head(chance.randrange(6), bytes([chance.choice([0, 0, 0, 1])]) * 32, at_ms)

    return head(chance.choice([KEY, KEY, KEY, OTHER])), [head(KEY) for _ in range(chance.randrange(4))]


@pytest.mark.long
def test_a_head_is_judged_as_by_fairest() -> None:
    chance = random.Random(6)
    cases = [random_case(chance) for _ in range(150)]
    problems = [head_problem(shown, KEY.public, NOW_MS, known) for shown, known in cases]
    answers = ask_page(question(*case) for case in cases)
    assert [answer["problem"] for answer in answers] == problems
    assert [answer["signed"] for answer in answers] == [is_head_signed(shown, KEY.public) for shown, _ in cases]
    for part in ("is not signed", "two chains", "went back", "in the future", "seconds old"):
        assert any(part in problem for problem in problems), "each sentence was compared"


@pytest.mark.long
def test_of_heads_at_which_the_chain_stood_still_the_first_and_the_last_are_kept() -> None:
    known: list[RoundsHead] = []
    for later_ms in (0, 10, 10, 30, 20):
        shown = KEY.sign_head(7, bytes(32), NOW_MS + later_ms)
        [answer] = ask_page([question(shown, known)])
        known = [RoundsHead.model_validate_json(json.dumps(head)) for head in answer["after"]]
    assert [head.at_ms - NOW_MS for head in known] == [0, 30]


def test_of_many_heads_the_older_ones_are_thinned() -> None:
    known = [KEY.sign_head(number, bytes(32), NOW_MS) for number in range(100)]
    after = ask_page([question(KEY.sign_head(100, bytes(32), NOW_MS), known)])[0]["after"]
    numbers = [head["number"] for head in after]
    assert numbers == [*range(0, 50, 2), *range(50, 101)]
    assert all(one < other for one, other in itertools.pairwise(numbers))
