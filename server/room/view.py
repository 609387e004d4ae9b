"""The horizon rule: what of a room's log one viewer may see, and when. Nothing about a round leaves by another way.

    Nobody sees a decision before every player still racing has gone past the turn at which it was made, nor a card
    before every player still racing has turned it.

`tell` puts an event into the words of the wire, once for everybody, each with the turn that it belongs to. A `View`
holds back what its viewer may not see yet, lets it go as the horizon moves, and numbers what it shows: a pure function
of the log, so the numbers are the same in every process.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from protocol.calculation.deal import sealed_pass
from protocol.calculation.round import Round, Turn
from protocol.calculation.seal import commit_secret
from protocol.messages import entries
from protocol.messages import from_server as messages
from protocol.messages.codec import encode
from protocol.messages.entries import Entry
from protocol.messages.fields import Phase, Seat
from protocol.messages.frequent import decode_entry, encode_moved, encode_turned, encode_view
from protocol.messages.options import Spectators
from protocol.messages.scene import Scene
from server.room import events
from server.room.events import Event
from server.room.state import OpenRound, RoomState


class Step(NamedTuple):
    """One event of the log: the state before it, the event, the log's time stamp and tag, and the state after it."""

    before: RoomState | None
    event: Event
    at_ms: int
    after: RoomState
    tag: str


class Mark(NamedTuple):
    """How far a viewer has seen: a position of its view, and the log's tag of the step that showed it.

    A log that lost its tail may reach the same position again; the tag is another one then.
    """

    position: int = 0
    tag: str = ""


NOTHING_SEEN: Final = Mark()


class News(NamedTuple):
    """An entry on its way to the viewers, as its text. `turn` is None for what everybody may know at once."""

    text: bytes
    seat: int = -1
    turn: Turn | None = None
    is_decision: bool = False


class Told(NamedTuple):
    """A step, and what it is in the words of the wire."""

    step: Step
    news: Sequence[News]


@dataclass(slots=True)
class View:
    """What one viewer has been shown: a seat (0, 1) or, with None, a spectator.

    `sees_all` is for spectators of an open room. `position` and `tag` are behind the entries shown.
    """

    viewer: int | None
    sees_all: bool = False
    position: int = 0
    tag: str = ""
    _held: tuple[list[tuple[int, News]], list[tuple[int, News]]] = field(default_factory=lambda: ([], []))
    _count: int = 0

    def see(self, told: Told) -> list[bytes]:
        """The entries that this viewer is shown now that this happened, in order."""
        step, news = told
        shown: list[bytes] = []
        race = step.after.race
        for item in news:
            if item.turn is None:
                self._release(race, shown)
                shown.append(item.text)
            elif item.seat == self.viewer or self.sees_all:
                shown.append(item.text)
            else:
                self._count += 1
                self._held[item.seat].append((self._count, item))
        self._release(race, shown)
        if shown:
            self.position += len(shown)
            self.tag = step.tag
        return shown

    @property
    def mark(self) -> Mark:
        """How far this viewer has seen."""
        return Mark(self.position, self.tag)

    def _release(self, race: Round | None, shown: list[bytes]) -> None:
        """Show held entries that are open now, in the order of the log as far as each seat goes."""
        if not (self._held[0] or self._held[1]):
            return
        horizon = race.horizon if race else None
        while heads := [held for held in self._held if held and _is_open(held[0][1], race, horizon)]:
            _, item = min(heads, key=_arrival).pop(0)
            shown.append(item.text)


def _arrival(held: list[tuple[int, News]]) -> int:
    return held[0][0]


def _is_open(item: News, race: Round | None, horizon: Turn | None) -> bool:
    if race is None or horizon is None or item.turn is None:
        return True
    if item.turn == horizon and item.is_decision:
        return race.is_last_turn(horizon)
    return item.turn <= horizon


def views_of(state: RoomState) -> dict[int | None, View]:
    """A fresh view for every kind of viewer of a room: both seats, and the spectators."""
    is_open = state.options.spectators is Spectators.OPEN
    return {0: View(0), 1: View(1), None: View(None, sees_all=is_open)}


def view(steps: Iterable[Step], viewer: int | None) -> list[Entry]:
    """Everything that this viewer is shown of a log."""
    shown: list[Entry] = []
    seen: View | None = None
    for step in steps:
        seen = seen or views_of(step.after)[viewer]
        shown.extend(map(decode_entry, seen.see(tell(step))))
    return shown


def scene(state: RoomState, shown: Iterable[Entry]) -> Scene:
    """What a viewer who was shown these entries has seen of the room: the content of a snapshot."""
    seen = Scene(options=state.options)
    for entry in shown:
        seen = seen.after(entry)
    return seen


class Introduction(NamedTuple):
    """What a viewer is told when it comes, as the text of a message, and its view from there on."""

    text: bytes
    view: View


def introduce(room: str, history: Sequence[Told], viewer: int | None, seen_upto: Mark, now_ms: int) -> Introduction:
    """What a viewer has missed of a whole log behind what it has seen, or the whole scene.

    The scene is for who has seen nothing, or something that this log does not hold.
    """
    seen = views_of(history[0].step.after)[viewer]
    shown: list[bytes] = []
    is_known = False
    for told in history:
        shown.extend(seen.see(told))
        is_known = is_known or seen.mark == seen_upto
    if is_known and seen_upto.position:
        missed = shown[seen_upto.position :]
        return Introduction(encode_view(seen_upto.position + 1, missed, seen.mark.tag), seen)
    snapshot = messages.Snapshot(
        room=room,
        seat=None if viewer is None else _number(viewer),
        position=seen.mark.position,
        tag=seen.mark.tag,
        now_ms=now_ms,
        scene=scene(history[-1].step.after, map(decode_entry, shown)),
    )
    return Introduction(encode(snapshot), seen)


def placed(state: RoomState) -> tuple[int, int] | None:
    """The cards on each seat's foundations, told on a fixed tick while a race is on, else None."""
    race = state.race
    if race is None or state.phase is not Phase.RACING:
        return None
    return race.racers[0].board.placed, race.racers[1].board.placed


def tell(step: Step) -> Told:
    """What happened, in the words of the wire."""
    return Told(step, _tell(step))


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
    return News(encode_turned(seat, pass_number, position, racer.board.turned, salt), seat, racer.turn)


def _tell_move(event: events.Played, before: RoomState | None, after: RoomState) -> list[News]:
    assert before is not None and before.race is not None and after.race is not None, "moves are made in a race"
    seat, move = event.seat, event.move
    was, now = before.race.racers[seat], after.race.racers[seat]
    moved = encode_moved(seat, now.moves, move, was.board.card_of(move))
    news = [News(moved, seat, was.turn, is_decision=True)]
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


def _number(seat: int) -> Seat:
    return 1 if seat else 0
