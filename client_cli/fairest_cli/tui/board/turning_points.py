"""The turning points of a match: each change of lead, and each foundation that becomes complete. Pure."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from fairest_cli.tui.board.timeline import Moment
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS
from fairest_protocol.value import Value


class Turn(StrEnum):
    """A kind of turning point."""

    LEAD = "lead"
    FOUNDATION = "foundation"


class TurningPoint(Value):
    """A change at the moment `index`: `seat` takes the lead, or completes foundation `foundation`, counted from 0."""

    index: int
    kind: Turn
    seat: int
    foundation: int = 0


def turning_points(moments: Sequence[Moment]) -> list[TurningPoint]:
    """Return the turning points of all rounds, in order. The first lead of a round is not a change of lead."""
    points: list[TurningPoint] = []
    leader: int | None = None
    for index, moment in enumerate(moments):
        before = moments[index - 1] if index else None
        if before is None or before.round_number != moment.round_number:
            before, leader = None, None
        ahead = leader_of(moment)
        if ahead is not None:
            if leader not in (None, ahead):
                points.append(TurningPoint(index, Turn.LEAD, ahead))
            leader = ahead
        if before is not None:
            points += [
                TurningPoint(index, Turn.FOUNDATION, seat, number) for seat, number in _completed(before, moment)
            ]
    return points


def leader_of(moment: Moment) -> int | None:
    """Return the seat that has placed more cards, or None if both have placed the same number."""
    first, second = moment.counts
    return None if first == second else 0 if first > second else 1


def describe_lead(moment: Moment, names: Sequence[str]) -> str:
    """Return who leads and by how much."""
    leader = leader_of(moment)
    difference = abs(moment.counts[0] - moment.counts[1])
    return "even" if leader is None else f"{names[leader]} leads by {difference}"


def describe_turning_point(point: TurningPoint, moment: Moment, names: Sequence[str]) -> str:
    """Return a turning point in words, with the counts of `moment`, at which it is."""
    name = names[point.seat]
    if point.kind is Turn.FOUNDATION:
        return f"{name} completes foundation {FOUNDATION_DIGITS[point.foundation]}"
    return f"{name} takes the lead, {moment.counts[point.seat]} to {moment.counts[1 - point.seat]}"


def next_index(points: Sequence[TurningPoint], kind: Turn, index: int, direction: int) -> int | None:
    """Return the moment of the next turning point of this kind after `index`, or with -1 of the last one before it."""
    found = [point.index for point in points if point.kind is kind and (point.index - index) * direction > 0]
    if not found:
        return None
    return min(found) if direction > 0 else max(found)


def _completed(before: Moment, after: Moment) -> Iterator[tuple[int, int]]:
    """Yield the seat and the number of each foundation that is complete after, and was not before."""
    for seat, (old, new) in enumerate(zip(before.boards, after.boards, strict=True)):
        for number in _complete(new) - _complete(old):
            yield seat, number


def _complete(board: Board | None) -> set[int]:
    if board is None:
        return set()
    return {number for number, wanted in enumerate(board.next_ranks()) if wanted is None}
