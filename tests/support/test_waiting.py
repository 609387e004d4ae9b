"""`until` ends when its condition holds, and says what it saw when it gives up."""

import pytest

from tests.support.waiting import until


async def test_a_condition_that_holds_after_a_while_ends_the_wait() -> None:
    answers = iter([False, 0, "", "here"])

    async def is_here() -> object:
        return next(answers)

    await until(is_here, "it is here")
    assert list(answers) == []


async def test_a_condition_that_asserts_nothing_false_ends_the_wait() -> None:
    async def is_here() -> None:
        assert True

    await until(is_here, "it is here")


async def test_a_condition_that_never_holds_is_named_together_with_what_it_returned_last() -> None:
    async def is_here() -> object:
        return []

    with pytest.raises(AssertionError, match=r"waited 0\.05 s until the room is dropped; last seen: \[\]"):
        await until(is_here, "the room is dropped", seconds=0.05)


async def test_a_condition_that_fails_an_assertion_is_named_together_with_that_assertion() -> None:
    async def is_here() -> object:
        raise AssertionError("the phase is racing")

    with pytest.raises(AssertionError, match=r"until the room is dropped; last seen: .*the phase is racing"):
        await until(is_here, "the room is dropped", seconds=0.05)


async def test_a_condition_that_hangs_is_named_too() -> None:
    async def is_here() -> object:
        await until(never, "the end of time", seconds=60)
        return True

    async def never() -> bool:
        return False

    with pytest.raises(AssertionError, match=r"until the room is dropped; last seen: .*never evaluated"):
        await until(is_here, "the room is dropped", seconds=0.05)
