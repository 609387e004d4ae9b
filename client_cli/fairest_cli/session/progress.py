"""The cards that each player has placed over time, as a chart shows them. Pure."""

from collections.abc import Sequence

from fairest_cli.model.known_room import KnownRoom
from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import Value, replace

Points = Sequence[tuple[int, int]]
"""The points of one seat's curve: milliseconds since the start of the race, and the number of cards placed by then."""


class Progress(Value):
    """The curve of each seat in the present round, from the counts that the server has shown so far.

    `players` are the newest counts, ticks included; `boards` are the counts of the boards as they are shown, which the
    horizon holds back.
    """

    round_id: bytes | None = None
    started_ms: int = 0
    players: tuple[Points, Points] = ((), ())
    boards: tuple[Points, Points] = ((), ())

    def after(self, model: KnownRoom, now_ms: int) -> "Progress":
        """Return the progress with the counts that `model` shows at `now_ms`."""
        scene = model.scene
        if scene is None or scene.phase not in (Phase.RACING, Phase.FINISHED):
            return self
        progress = self if scene.round == self.round_id else Progress(scene.round, now_ms)
        at_ms = now_ms - progress.started_ms
        first, second = scene.seats
        counts = count_of(model, 0), count_of(model, 1)
        shown = first.board.placed if first.board else 0, second.board.placed if second.board else 0
        return replace(
            progress,
            players=_extended(progress.players, counts, at_ms),
            boards=_extended(progress.boards, shown, at_ms),
        )


def _extended(curves: tuple[Points, Points], counts: tuple[int, int], at_ms: int) -> tuple[Points, Points]:
    """Return both curves with a point where a count has grown."""
    first, second = (extended(points, count, at_ms) for points, count in zip(curves, counts, strict=True))
    return first, second


def extended(points: Points, count: int, at_ms: int) -> Points:
    """Return the curve with a point if `count` is higher than before."""
    return (*points, (at_ms, count)) if not points or points[-1][1] < count else points


def count_of(model: KnownRoom, seat: int) -> int:
    """Return how many cards a seat is known to have placed: by the result, else by its board or the last tick."""
    scene = model.scene
    if scene is None:
        return 0
    if scene.outcome is not None:
        return scene.outcome.scores[seat].placed
    board = scene.seats[seat].board
    seen = board.placed if board else 0
    return seen if model.placed is None else max(seen, model.placed[seat])


def progress_of(record: Record, number: int) -> tuple[Points, Points]:
    """Return the exact curves of a round of a record; `number` counts from 0. Empty for a round without a deal."""
    if not record.rounds[number].is_dealt:
        return (), ()
    players: list[list[tuple[int, int]]] = [[], []]
    for event, race in record.steps(number):
        at_ms = (event.at_ms or 0) if event else 0
        for seat, racer in enumerate(race.racers):
            if not players[seat] or players[seat][-1][1] != racer.board.placed:
                players[seat].append((at_ms, racer.board.placed))
    return players[0], players[1]
