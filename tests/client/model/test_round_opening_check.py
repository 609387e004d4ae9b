"""A round that is opened begins a match just when the one before is over."""

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.round_opening_check import check_begins_match
from fairest_protocol.messages.entries import RoundOpened
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene


def opened(number: int) -> RoundOpened:
    return RoundOpened(
        round=bytes(16), match=bytes(16), round_number=number, commitment=bytes(32), signature=bytes(64), until_ms=0
    )


def scene(phase: Phase, *, match_is_over: bool) -> Scene:
    return Scene(options=RoomOptions(), phase=phase, match_is_over=match_is_over)


@pytest.mark.parametrize(
    ("phase", "match_is_over", "number"),
    [(Phase.WAITING, False, 1), (Phase.WAITING, True, 1), (Phase.FINISHED, True, 1), (Phase.FINISHED, False, 2)],
)
def test_a_round_that_follows_is_accepted(phase: Phase, match_is_over: bool, number: int) -> None:
    check_begins_match(opened(number), scene(phase, match_is_over=match_is_over))


@pytest.mark.parametrize("match_is_over", [False, True])
def test_a_match_does_not_go_on_when_a_seat_was_freed(match_is_over: bool) -> None:
    with pytest.raises(Cheated, match="opens round 2 of a match that is over, or has not begun"):
        check_begins_match(opened(2), scene(Phase.WAITING, match_is_over=match_is_over))


def test_a_match_does_not_go_on_when_it_is_over() -> None:
    with pytest.raises(Cheated, match="opens round 2 of a match that is over, or has not begun"):
        check_begins_match(opened(2), scene(Phase.FINISHED, match_is_over=True))


def test_another_match_does_not_begin_before_one_is_over() -> None:
    with pytest.raises(Cheated, match="begins another match, and the one before is not over"):
        check_begins_match(opened(1), scene(Phase.FINISHED, match_is_over=False))
