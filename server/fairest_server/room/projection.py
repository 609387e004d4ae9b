"""Steps of a room's log, projected into entries of the wire: once for all viewers, each with the time it opens.

Nothing is held back here. A `View` decides when its viewer is shown an entry.
"""

from collections.abc import Sequence
from typing import Final

from fairest_protocol.calculation.race import Ending, OpensAt, Racer
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.sliced import Sliced
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import encode_moved, encode_turned
from fairest_protocol.messages.fields import Phase, Seat
from fairest_protocol.value import Value
from fairest_server.room import events
from fairest_server.room.state import OpenRound, RoomState, dealt_race, open_round
from fairest_server.room.steps import Step


class OutgoingEntry(Value):
    """An entry on its way to the viewers.

    `text` is its JSON. `seat` is the seat that turned the card or made the decision; it may see the entry at once.
    `opens_at` says when the others may; None means that everybody may at once, and `seat` is -1.
    """

    text: bytes
    seat: int = -1
    opens_at: OpensAt | None = None


class ProjectedStep(Value):
    """A step, its entries, and the round's horizon after it. A horizon of None means that everything is open."""

    step: Step
    entries: Sequence[OutgoingEntry]
    horizon: OpensAt | None


START_EVENTS: Final = (events.RoomCreated, events.RoundOpened, events.Checkpoint)
"""At these events nothing is held back from any viewer, and the scene after them is known without those before."""


COUNTED_IN_SLICE: Final = 64
"""A step is counted in 0.7 us."""


class StepHistory:
    """All steps of a room so far, or all from a checkpoint on. A step is projected when it is first asked for, and the
    projection is kept.

    A client that reconnects has missed the last few of what may be hundreds of steps, so most are never projected.
    """

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self._projected: dict[int, ProjectedStep] = {}
        self._counts: list[int] = []

    def extend(self, steps: Sequence[Step]) -> None:
        """Append the steps that happened next."""
        self.steps.extend(steps)

    def project(self, index: int) -> ProjectedStep:
        """Return the projection of the step with this index, from 0."""
        projected = self._projected.get(index)
        if projected is None:
            projected = self._projected[index] = project(self.steps[index])
        return projected

    def count(self, index: int) -> int:
        """Return the number of entries of all steps up to and including the one with this index.

        Those before the checkpoint that the history begins with are counted.
        """
        counts = self._counts
        for step in self.steps[len(counts) : index + 1]:
            event = step.event
            if isinstance(event, events.Checkpoint):
                counts.append(event.position)
            else:
                counts.append((counts[-1] if counts else 0) + count_entries(step))
        return counts[index]

    def counting(self) -> Sliced[None]:
        """Count the entries of all steps in slices, so that `count` then knows them: of 3,000 steps that takes 2 ms."""
        while len(self._counts) < len(self.steps):
            self.count(min(len(self._counts) + COUNTED_IN_SLICE, len(self.steps)) - 1)
            yield

    @property
    def length_of_scene(self) -> int:
        """The number of steps of which a scene is folded."""
        return len(self.steps) - self.newest_start()

    def newest_start(self) -> int:
        """Return the index of the newest step from which a scene can be folded: see `START_EVENTS`."""
        steps = self.steps
        return next(each for each in reversed(range(len(steps))) if isinstance(steps[each].event, START_EVENTS))


def count_entries(step: Step) -> int:
    """Return how many entries `project` makes of a step, without making them."""
    before, after = step.before, step.after
    match step.event:
        case events.Played(seat=seat):
            was, now = _racers(seat, before, after)
            return 1 + _has_turned(was, now) + (now.ending is not None and _shows_ending(now, after))
        case events.SeatFreed():
            return 1 + (_voided_round(before) is not None)
        case events.Revealed():
            return 1 + (after.race is not None)
        case events.Started():
            return 1 + len(_racing(after))
        case events.SeatsStopped(seats=seats):
            return 1 if after.phase is Phase.FINISHED else len(seats)
        case events.RoomCreated() | events.MatchPublished() | events.Checkpoint() | events.RoundTripMeasured():
            return 0
        case _:
            return 1


def project(step: Step) -> ProjectedStep:
    """Return the step with its entries and the horizon after it."""
    race = step.after.race
    return ProjectedStep(step, _project(step), race.horizon if race else None)


def _project(step: Step) -> list[OutgoingEntry]:
    event, before, after = step.event, step.before, step.after
    match event:
        case events.Played():
            return _project_move(event, before, after)
        case events.SeatTaken(seat=seat, name=name):
            return _public(entries.Seated(seat=seat, name=name))
        case events.SeatFreed(seat=seat, reason=reason):
            freed = entries.SeatFreed(seat=seat, reason=reason)
            voided = _voided_round(before)
            if voided is None:
                return _public(freed)
            return _public(entries.RoundVoided(round=voided.round_id, secret=voided.secret), freed)
        case events.Attached(seat=seat):
            return _public(entries.Attached(seat=seat))
        case events.Detached(seat=seat):
            until = after.clocks.away_until_ms[seat]
            assert until is not None, "a detached seat has a deadline"
            return _public(entries.Detached(seat=seat, until_ms=until))
        case events.Paused(start_ms=start_ms, end_ms=end_ms):
            return _public(entries.Paused(length_ms=end_ms - start_ms))
        case events.RoundOpened():
            return _project_opened(after)
        case events.PlayerReady(seat=seat, entropy_hash=entropy_hash):
            until = _phase_end(after) if after.phase is Phase.DEALING else None
            return _public(entries.PlayerReady(seat=seat, entropy_hash=entropy_hash, until_ms=until))
        case events.Revealed(seat=seat, entropy=entropy):
            revealed = entries.Revealed(seat=seat, entropy=entropy)
            return _public(revealed) if after.race is None else _public(revealed, _project_deal(after))
        case events.StepFound():
            return _public(_project_deal(after))
        case events.Started():
            return [*_public(entries.Started(until_ms=_phase_end(after))), *_project_first_cards(after)]
        case events.SeatsStopped(seats=seats):
            return _project_endings(seats, after)
        case events.RematchAsked(seat=seat):
            return _public(entries.RematchWanted(seat=seat))
        case events.FinishAsked(seat=seat):
            return _public(entries.FinishAsked(seat=seat))
        case events.RoomClosed(reason=reason):
            return _public(entries.RoomClosed(reason=reason))
        case events.RoomCreated() | events.MatchPublished() | events.Checkpoint() | events.RoundTripMeasured():
            return []


def _public(*shown: Entry) -> list[OutgoingEntry]:
    return [OutgoingEntry(encode(entry)) for entry in shown]


def _voided_round(before: RoomState | None) -> OpenRound | None:
    """Return the open round that is called off if a seat becomes free in this state, or None.

    A round is called off only in the phase `ready`: later, leaving ends it with a result.
    """
    return before.round if before and before.phase is Phase.READY else None


def _phase_end(state: RoomState) -> int:
    until = state.clocks.phase_until_ms
    assert until is not None, f"{state.phase} has an end"
    return until


def _project_opened(after: RoomState) -> list[OutgoingEntry]:
    opened = open_round(after)
    return _public(
        entries.RoundOpened(
            round=opened.round_id,
            match=opened.match_id,
            round_number=opened.number,
            commitment=commit_secret(opened.round_id, opened.secret),
            signature=opened.signature,
            until_ms=_phase_end(after),
        )
    )


def _project_deal(after: RoomState) -> entries.Dealt:
    dealt = open_round(after)
    assert dealt.sealed is not None, "the last entropy deals the cards"
    deal = dealt.sealed.deal
    return entries.Dealt(
        layout=deal.foundations,
        starters=deal.starters,
        markers=deal.markers,
        piles=after.rules.piles,
        redeals=after.rules.redeals,
        envelopes=dealt.sealed.envelopes,
        until_ms=_phase_end(after),
        step=dealt.sealed.step,
    )


def _project_first_cards(after: RoomState) -> list[OutgoingEntry]:
    return [_project_turned(after, seat, dealt_race(after).racers[seat]) for seat in _racing(after)]


def _racing(state: RoomState) -> list[int]:
    """Return the seats that are still racing."""
    return [seat for seat, racer in enumerate(dealt_race(state).racers) if not racer.ending]


def _project_turned(after: RoomState, seat: int, racer: Racer) -> OutgoingEntry:
    sealed = open_round(after).sealed
    assert sealed is not None, "cards are turned in a race"
    assert racer.board.turned is not None, "a card was turned"
    pass_number, position = racer.turn
    salt = sealed.salt(pass_number, position)
    return OutgoingEntry(
        encode_turned(seat, pass_number, position, racer.board.turned, salt), seat, (racer.turn, False)
    )


def _racers(seat: Seat, before: RoomState | None, after: RoomState) -> tuple[Racer, Racer]:
    """Return the racer in this seat before a move and after it."""
    assert before is not None and before.race is not None and after.race is not None, "moves are made in a race"
    return before.race.racers[seat], after.race.racers[seat]


def _has_turned(was: Racer, now: Racer) -> bool:
    """Return whether the move turned a card."""
    return now.turn != was.turn and now.board.turned is not None


def _shows_ending(now: Racer, after: RoomState) -> bool:
    """Return whether the end of a seat's race, with its move, is shown.

    A seat that has placed every card while the other one may still be first by corrected time is not: the entry, and
    its time, would tell the other player to hurry.
    """
    return now.ending is not Ending.WON or after.phase is Phase.FINISHED


def _project_move(event: events.Played, before: RoomState | None, after: RoomState) -> list[OutgoingEntry]:
    seat, move = event.seat, event.move
    was, now = _racers(seat, before, after)
    moved = encode_moved(seat, now.moves, move, was.board.card_of(move))
    outgoing = [OutgoingEntry(moved, seat, (was.turn, True))]
    if _has_turned(was, now):
        outgoing.append(_project_turned(after, seat, now))
    if now.ending is not None and _shows_ending(now, after):
        outgoing.extend(_project_endings((seat,), after))
    return outgoing


def _project_endings(seats: Sequence[Seat], after: RoomState) -> list[OutgoingEntry]:
    if after.phase is not Phase.FINISHED:
        until = _phase_end(after)
        if after.phase is Phase.COUNTDOWN:
            until += after.race_seconds * 1000
        return _public(*(entries.Stopped(seat=seat, until_ms=until) for seat in seats))
    finished = open_round(after)
    clocks = after.clocks
    assert finished.outcome is not None and clocks.finished_at_ms is not None, "a finished round has a result"
    started_at = clocks.started_at_ms if after.race else None
    return _public(
        entries.RoundFinished(
            outcome=finished.outcome,
            wins=(after.seat(0).wins, after.seat(1).wins),
            match_is_over=after.match_is_over,
            duration_ms=0 if started_at is None else max(0, clocks.finished_at_ms - started_at),
            secret=finished.secret,
        )
    )
