"""What happened in a room, in the words of the wire: once for everybody, each entry with the turn that it belongs to.

Nothing is held back here: who may see it, and when, is for a `View` to say.
"""

from collections.abc import Sequence

from protocol.calculation.deal import sealed_pass
from protocol.calculation.round import Opening
from protocol.calculation.seal import commit_secret
from protocol.messages import entries
from protocol.messages.codec import encode
from protocol.messages.entries import Entry
from protocol.messages.fields import Phase, Seat
from protocol.messages.frequent import encode_moved, encode_turned
from protocol.value import value
from server.room import events
from server.room.events import Event
from server.room.state import OpenRound, RoomState


@value
class Step:
    """One event of the log: the state before it, the event, the log's time stamp and tag, and the state after it."""

    before: RoomState | None
    event: Event
    at_ms: int
    after: RoomState
    tag: str


@value
class News:
    """An entry on its way to the viewers, as its text. `opens_at` is None for what everybody may know at once."""

    text: bytes
    seat: int = -1
    opens_at: Opening | None = None


@value
class Told:
    """A step, what it is in the words of the wire, and what is open to everybody behind it: None is all."""

    step: Step
    news: Sequence[News]
    horizon: Opening | None


class History:
    """All that happened in a room so far, put into words when somebody first asks, and then only what is new."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._told: list[Told] = []

    def extend(self, steps: Sequence[Step]) -> None:
        """These steps happened next."""
        self._steps.extend(steps)

    def tell(self) -> Sequence[Told]:
        """All of it."""
        self._told += map(tell, self._steps[len(self._told) :])
        return self._told


def tell(step: Step) -> Told:
    """What happened, in the words of the wire."""
    race = step.after.race
    return Told(step, _tell(step), race.horizon if race else None)


def _tell(step: Step) -> list[News]:
    event, before, after = step.event, step.before, step.after
    match event:
        case events.Played():
            return _tell_move(event, before, after)
        case events.SeatTaken(seat=seat, name=name):
            return _public(entries.Seated(seat=seat, name=name))
        case events.SeatFreed(seat=seat, reason=reason):
            freed = entries.SeatFreed(seat=seat, reason=reason)
            voided = before.round if before and before.phase is Phase.READY else None
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
            return _tell_opened(after)
        case events.PlayerReady(seat=seat, entropy_hash=entropy_hash):
            return _public(entries.PlayerReady(seat=seat, entropy_hash=entropy_hash))
        case events.Revealed(seat=seat, entropy=entropy):
            revealed = entries.Revealed(seat=seat, entropy=entropy)
            return _public(revealed) if after.race is None else _public(revealed, _tell_deal(after))
        case events.Started():
            return [*_public(entries.Started(until_ms=_phase_end(after))), *_tell_first_cards(after)]
        case events.SeatsStopped(seats=seats):
            return _tell_endings(seats, after)
        case events.RematchAsked(seat=seat):
            return _public(entries.RematchWanted(seat=seat))
        case events.RoomClosed():
            return _public(entries.RoomClosed())
        case events.RoomCreated() | events.MatchPublished():
            return []


def _public(*told: Entry) -> list[News]:
    return [News(encode(entry)) for entry in told]


def _phase_end(state: RoomState) -> int:
    until = state.clocks.phase_until_ms
    assert until is not None, f"{state.phase} has an end"
    return until


def _open_round(state: RoomState) -> OpenRound:
    assert state.round is not None, "a round is open"
    return state.round


def _tell_opened(after: RoomState) -> list[News]:
    opened = _open_round(after)
    return _public(
        entries.RoundOpened(
            round=opened.round_id,
            number=opened.number,
            commitment=commit_secret(opened.round_id, opened.secret),
            signature=opened.signature,
            ready_until_ms=_phase_end(after),
        )
    )


def _tell_deal(after: RoomState) -> entries.Dealt:
    dealt = _open_round(after)
    assert dealt.sealed is not None, "the last entropy deals the cards"
    deal = dealt.sealed.deal
    return entries.Dealt(
        layout=deal.foundations,
        starters=deal.starters,
        markers=deal.markers,
        piles=after.rules.piles,
        redeals=after.rules.redeals,
        envelopes=dealt.sealed.envelopes,
        starts_at_ms=_phase_end(after),
    )


def _tell_first_cards(after: RoomState) -> list[News]:
    race = after.race
    assert race is not None, "a race that starts is dealt"
    return [_tell_turned(after, seat) for seat, racer in enumerate(race.racers) if not racer.ending]


def _tell_turned(after: RoomState, seat: int) -> News:
    dealt = _open_round(after)
    assert after.race is not None and dealt.sealed is not None, "cards are turned in a race"
    racer = after.race.racers[seat]
    assert racer.board.turned is not None, "a card was turned"
    pass_number, position = racer.turn
    salts = dealt.sealed.salts
    salt = salts[sealed_pass(pass_number, salts)][position]
    return News(encode_turned(seat, pass_number, position, racer.board.turned, salt), seat, (racer.turn, False))


def _tell_move(event: events.Played, before: RoomState | None, after: RoomState) -> list[News]:
    assert before is not None and before.race is not None and after.race is not None, "moves are made in a race"
    seat, move = event.seat, event.move
    was, now = before.race.racers[seat], after.race.racers[seat]
    moved = encode_moved(seat, now.moves, move, was.board.card_of(move))
    news = [News(moved, seat, (was.turn, True))]
    if now.turn != was.turn and now.board.turned is not None:
        news.append(_tell_turned(after, seat))
    if now.ending:
        news.extend(_tell_endings((seat,), after))
    return news


def _tell_endings(seats: Sequence[Seat], after: RoomState) -> list[News]:
    if after.phase is not Phase.FINISHED:
        until = after.clocks.phase_until_ms or 0
        return _public(*(entries.Stopped(seat=seat, until_ms=until) for seat in seats))
    finished = _open_round(after)
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
