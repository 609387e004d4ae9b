"""The page judges every way out of a round as `fairest` does: on the receipts of clients to which a server lied.

The lies are those of `tests/client/session/test_lying_server.py`, with the honest end among them.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.records.receipt_replay import replay_receipt
from fairest_cli.records.record_check import WrongRecord
from tests.client.session.test_lying_server import RACES, honest_race, tell
from tests.support.page_modules import ask_page

LIES_IN_PART = 10


def judged(lines: list[str]) -> dict[str, Any]:
    """Return how the rounds of a receipt ended, and the line with which the server was found out."""
    ended, at_line = list[list[str]](), 0
    try:
        for step in replay_receipt(lines):
            at_line = int(step.where.split()[1])
            end = step.model.binding.last_end
            if end is not None and end != step.before.binding.last_end:
                ended.append([end.round_id.hex(), end.explanation])
    except WrongRecord as reason:
        return {"ended": ended, "line": int(str(reason).split()[1])}
    assert at_line, "a receipt has lines"
    return {"ended": ended, "line": None}


def own_entropies(seed: int, lines: list[str]) -> dict[str, str]:
    """Return the bytes of the player whose receipt this is, by the ids of the rounds."""
    race = honest_race(random.Random(seed).randrange(RACES))
    seat = next(heard["seat"] for line in lines if (heard := json.loads(line).get("heard")) and "seat" in heard)
    return {round_id.hex(): entropy.hex() for (round_id, place), entropy in race.entropies.items() if place == seat}


async def receipts_of(seed: int, folder: Path) -> list[list[str]]:
    """Tell the lie of this seed to two clients; return the lines of their receipts."""
    folder.mkdir()
    await tell(seed, folder)
    return [path.read_text().splitlines() for path in sorted(folder.glob("**/*.jsonl"))]


@pytest.mark.timeout(180)
@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
async def test_the_page_judges_the_ends_by_a_lying_server_as_the_client_does(part: int, tmp_path: Path) -> None:
    asked, wanted = list[dict[str, Any]](), list[dict[str, Any]]()
    for seed in range(part * LIES_IN_PART, (part + 1) * LIES_IN_PART):
        for lines in await receipts_of(seed, tmp_path / str(seed)):
            asked.append({"ask": "receipt", "lines": lines, "entropies": own_entropies(seed, lines)})
            wanted.append(judged(lines))
    answers = ask_page(asked)
    differing = [
        (answer["fault"], answer["ended"], answer["line"], right, question["lines"][-3:])
        for question, answer, right in zip(asked, answers, wanted, strict=True)
        if {"ended": answer["ended"], "line": answer["line"]} != right
    ]
    assert differing == []
    assert len(asked) >= LIES_IN_PART
