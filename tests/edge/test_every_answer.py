"""Every refusal, breach and close code, provoked once through a socket of a real server.

To add a code, add a function with its name to `tests/support/provoking_*.py` that returns the answer of the server.
"""

import pytest

from fairest_protocol.messages.refusals import CLOSE_CODES, SENTENCES, Breach, CloseCode, Refusal
from tests.support import provoking_moves, provoking_rooms
from tests.support.long_tests import parametrize_with_long
from tests.support.provoking import Deployment, Ending
from tests.support.provoking_breaches import breach
from tests.support.provoking_closes import silent_close

REFUSALS = {**provoking_rooms.refusal, **provoking_moves.refusal}
MORE = {
    Refusal.MISSING_CAPABILITY: (
        "The deals of this room are certified, and your client does not know that: use a newer one."
    ),
    Refusal.BAD_RULES: "Senior is played with 4 to 8 piles, not 9.",
    Refusal.WRONG_PHASE: "Nobody gets ready while the room is racing.",
    Refusal.NUMBER_OLD: f"{SENTENCES[Refusal.NUMBER_OLD]} The next number is 3, not 1.",
    Refusal.NUMBER_REPEATED: f"{SENTENCES[Refusal.NUMBER_REPEATED]} The next number is 2, not 1.",
    Refusal.NUMBER_FUTURE: f"{SENTENCES[Refusal.NUMBER_FUTURE]} The next number is 1, not 2.",
}
"""The sentences of provoked refusals that say more than the table."""


@pytest.fixture
def deployment(redis_url: str) -> Deployment:
    """The Redis of the run, without servers."""
    return Deployment(redis_url)


@parametrize_with_long("code", list(REFUSALS), quick=15)
async def test_a_refusal_has_its_code_and_its_sentence(deployment: Deployment, code: Refusal) -> None:
    refused = await REFUSALS[code](deployment)
    assert (refused.code, refused.sentence) == (code, MORE.get(code, SENTENCES[code]))


@parametrize_with_long("code", list(breach), quick=6)
async def test_a_breach_is_named_before_the_connection_is_closed_with_its_code(
    deployment: Deployment, code: Breach
) -> None:
    assert await breach[code](deployment) == Ending(code, CLOSE_CODES[code], code)


@pytest.mark.parametrize("code", list(silent_close))
async def test_a_close_without_an_error_has_its_code(deployment: Deployment, code: CloseCode) -> None:
    ending = await silent_close[code](deployment)
    assert (ending.error, ending.code) == (None, code)


def test_every_refusal_is_provoked() -> None:
    assert set(REFUSALS) == set(Refusal)


def test_every_breach_is_provoked() -> None:
    assert set(breach) == set(Breach)


def test_every_close_code_is_provoked() -> None:
    assert {CLOSE_CODES[code] for code in breach} | set(silent_close) == set(CloseCode)
