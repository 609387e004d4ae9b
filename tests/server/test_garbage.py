"""The search for what connections leave behind goes by their number."""

from server.garbage import LEAST, Leavings


def searches(gone: int, still_here: int) -> int:
    leavings = Leavings()
    return sum(leavings.add(still_here) for _ in range(gone))


def test_a_few_that_have_gone_are_not_worth_a_search() -> None:
    assert searches(LEAST - 1, 0) == 0


def test_there_is_a_search_when_as_many_have_gone_as_are_still_here() -> None:
    assert searches(3 * LEAST, 3 * LEAST) == 1


def test_searches_go_on_as_long_as_connections_come_and_go() -> None:
    assert searches(10 * LEAST, 1) == 10
