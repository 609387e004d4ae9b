"""The turning points of a replay: changes of lead and complete foundations, and the way to the next one."""

from itertools import pairwise

import pytest

from fairest_cli.tui.board.timeline import Moment, timeline_of
from fairest_cli.tui.board.turning_points import (
    Turn,
    TurningPoint,
    describe_lead,
    describe_turning_point,
    leader_of,
    next_index,
    turning_points,
)
from fairest_protocol.value import replace
from tests.support.records import make_record

NAMES = ("ann", "bob")


def moments(*counts: tuple[int, int], round_number: int = 1) -> list[Moment]:
    return [Moment(0, "", (None, None), pair, round_number) for pair in counts]


def test_the_first_lead_is_not_a_change() -> None:
    assert turning_points(moments((4, 4), (5, 4), (6, 4))) == []


def test_the_lead_changes_when_the_other_player_has_more_cards() -> None:
    assert turning_points(moments((5, 4), (5, 5), (5, 6))) == [TurningPoint(2, Turn.LEAD, 1)]


def test_a_tie_in_between_is_not_a_change() -> None:
    assert turning_points(moments((5, 4), (5, 5), (6, 5))) == []


def test_each_round_begins_without_a_leader() -> None:
    assert turning_points([*moments((5, 4)), *moments((4, 4), (4, 5), round_number=2)]) == []


def test_each_complete_foundation_is_a_turning_point() -> None:
    shown = timeline_of(make_record(0)).moments
    board = shown[0].boards[0]
    assert board is not None
    complete = replace(board, foundations=(board.foundations[0] * 13, *board.foundations[1:]))
    after = replace(shown[0], boards=(shown[0].boards[0], complete))
    assert turning_points([shown[0], after]) == [TurningPoint(1, Turn.FOUNDATION, 1, 0)]


@pytest.mark.parametrize("number", range(6))
def test_between_two_changes_of_lead_the_same_player_never_trails(number: int) -> None:
    shown = timeline_of(make_record(number)).moments
    changes = [point for point in turning_points(shown) if point.kind is Turn.LEAD]
    for point, following in pairwise([*changes, None]):
        assert point is not None
        until = following.index if following else len(shown)
        assert {leader_of(moment) for moment in shown[point.index : until]} <= {point.seat, None}


def test_the_next_and_the_last_turning_point_are_found() -> None:
    points = [TurningPoint(index, Turn.LEAD, 0) for index in (3, 7)]
    assert [next_index(points, Turn.LEAD, at, way) for at, way in ((0, 1), (3, 1), (7, 1), (7, -1), (3, -1))] == [
        3,
        7,
        None,
        3,
        None,
    ]


def test_a_turning_point_is_said_with_the_counts_of_the_leader_first() -> None:
    (moment,) = moments((13, 14))
    assert describe_turning_point(TurningPoint(0, Turn.LEAD, 1), moment, NAMES) == "bob takes the lead, 14 to 13"
    assert describe_turning_point(TurningPoint(0, Turn.FOUNDATION, 0, 2), moment, NAMES) == "ann completes foundation 3"


def test_the_lead_is_said_by_its_difference() -> None:
    first, second = moments((13, 14), (5, 5))
    assert (describe_lead(first, NAMES), describe_lead(second, NAMES)) == ("bob leads by 1", "even")
