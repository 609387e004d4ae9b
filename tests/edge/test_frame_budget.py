"""The budget of a connection, the keepalive and the turns: arithmetic with the time as an argument."""

import pytest

from fairest_server.edge.frame_budget import FrameBudget
from fairest_server.edge.keepalive import Keepalive, Tick
from fairest_server.ops.metrics import FrameKind
from fairest_server.settings import Settings

SETTINGS = Settings(messages_per_second=10, messages_burst=50, flood_seconds=5, max_frame_bytes=4_096)


def exhausted(kind: FrameKind = FrameKind.PING) -> FrameBudget:
    """A budget of which nothing is left at second 0: 100 frames were allowed, and 20 a second are."""
    budget = FrameBudget(SETTINGS, 0)
    assert budget.charge([kind] * 100, 600, 0) == 0
    return budget


@pytest.mark.parametrize("kind", FrameKind)
def test_a_frame_beyond_the_budget_has_to_wait_whatever_its_kind_is(kind: FrameKind) -> None:
    assert exhausted().charge([kind], 6, 0) == 1 / 20


def test_bytes_beyond_the_budget_have_to_wait_although_no_frame_is_complete() -> None:
    budget = FrameBudget(SETTINGS, 0)
    assert budget.charge([], 50 * 1_024, 0) == 0
    assert budget.charge([], 10 * 1_024, 0) == 1


def test_a_byte_counts_as_much_as_a_short_read_costs() -> None:
    budget = FrameBudget(SETTINGS, 0)
    assert sum(budget.charge([], 1, 0) == 0 for _ in range(2_000)) == 50 * 1_024 / 64


def test_a_budget_is_no_flood_until_it_has_been_exceeded_for_long() -> None:
    budget = exhausted()
    budget.charge([FrameKind.PING], 6, 0)
    assert [budget.is_flood(at) for at in (0, 5, 5.1)] == [False, False, True]


def test_a_rest_ends_a_flood() -> None:
    budget = exhausted()
    budget.charge([FrameKind.PING], 6, 0)
    budget.charge([FrameKind.PING], 6, 4)
    assert not budget.is_flood(6)


def test_the_kind_of_a_flood_is_that_of_most_frames_since_the_budget_was_exceeded() -> None:
    budget = exhausted(FrameKind.TEXT)
    for kind in (FrameKind.PING, FrameKind.CONTINUATION, FrameKind.CONTINUATION):
        budget.charge([kind], 6, 0)
    assert budget.main_kind is FrameKind.CONTINUATION


def test_a_client_that_answers_is_pinged_again_and_again() -> None:
    keepalive = Keepalive()
    for _ in range(3):
        assert keepalive.tick(is_behind=False) is Tick.PING
        keepalive.pong(keepalive.ping())


def test_a_client_that_does_not_answer_is_silent() -> None:
    keepalive = Keepalive()
    keepalive.ping()
    assert keepalive.tick(is_behind=False) is Tick.SILENT


def test_a_client_whose_answer_may_lie_unread_is_waited_for() -> None:
    keepalive = Keepalive()
    keepalive.ping()
    assert keepalive.tick(is_behind=True) is Tick.WAIT


def test_a_pong_that_answers_another_ping_is_no_answer() -> None:
    keepalive = Keepalive()
    keepalive.ping()
    keepalive.pong(b"something")
    assert keepalive.tick(is_behind=False) is Tick.SILENT
