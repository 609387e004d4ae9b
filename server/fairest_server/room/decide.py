"""Judge a command: the events that it leads to, or the answer that it gets instead.

Pure: the time comes with the command, and a new round's secret from `DrawRound`.
"""

from collections.abc import Callable, Sequence

from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import RACING, Phase, Seat, as_seat
from fairest_protocol.messages.from_client import AskFinish, Leave, Ready, Rematch, Reveal
from fairest_protocol.messages.from_server import Accepted, Refused
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_server.room.commands import (
    ApplyPauses,
    CloseRoom,
    Command,
    CreateRoom,
    DealStep,
    Disconnect,
    ExpireDeadline,
    MakeMove,
    MarkRecorded,
    NoteRoundTrip,
    Pause,
    PlayerRequest,
    ProcessLapsed,
    RoomRequest,
    TakeSeat,
)
from fairest_server.room.distance import ending_by_clock, note_round_trip
from fairest_server.room.events import (
    Attached,
    Detached,
    Event,
    MatchPublished,
    Paused,
    Played,
    PlayerReady,
    RematchAsked,
    Revealed,
    RoomClosed,
    RoomCreated,
    RoundOpened,
    SeatFreed,
    SeatsStopped,
    Started,
    StepFound,
)
from fairest_server.room.finishing import ask_finish
from fairest_server.room.refusing import refuse, resolve_options
from fairest_server.room.seating import detach_lapsed, replace_rival, sit_down
from fairest_server.room.state import Deadline, DeadlineKind, RoomState, awaits_step, dealt_race, open_round

Verdict = tuple[Event, ...] | Refused | Accepted
"""The events to append, or an answer if nothing changes. An empty tuple: nothing changes, and there is no answer."""

DrawRound = Callable[[bytes | None, int, str], RoundOpened]
"""Draws the id and the secret of a new round from the system's random source, and signs its commitment.

The arguments are those of `RoomState.next_round`, and the terms of the room.
"""


def decide(state: RoomState | None, command: Command, draw_round: DrawRound) -> Verdict:
    """Return what a command leads to in this state. A state of None is that of a room whose log is empty."""
    if isinstance(command, CreateRoom):
        return _create(state, command, draw_round)
    if state is None:
        return refuse(getattr(command, "to", "join"), Refusal.NO_SUCH_ROOM)
    match command:
        case MakeMove():
            return _make_move(state, command)
        case PlayerRequest(connection_id=connection_id, message=message):
            return _decide_request(state, connection_id, message, draw_round)
        case TakeSeat():
            return _take_seat(state, command, draw_round)
        case Disconnect(connection_id=connection_id):
            seat = state.seat_of_connection(connection_id)
            return () if seat is None else (Detached(seat=seat, link=connection_id),)
        case ProcessLapsed(connection_ids=connection_ids):
            return detach_lapsed(state, connection_ids)
        case NoteRoundTrip(connection_id=connection_id, rtt_us=rtt_us):
            return note_round_trip(state, connection_id, rtt_us)
        case DealStep(round_id=round_id, step=step):
            is_awaited = awaits_step(state) and open_round(state).round_id == round_id
            return (StepFound(step=step),) if is_awaited else ()
        case ApplyPauses(pauses=pauses):
            return _apply_pauses(state, pauses)
        case ExpireDeadline(now_ms=now_ms):
            deadline = state.next_deadline()
            return _expire_deadline(state, deadline, draw_round) if deadline and deadline.at_ms <= now_ms else ()
        case CloseRoom(reason=reason):
            return _close(state, reason)
        case MarkRecorded(match=number):
            return _mark_recorded(state, number, draw_round)


def _apply_pauses(state: RoomState, pauses: Sequence[Pause]) -> Verdict:
    if state.phase is Phase.CLOSED:
        return ()
    known_ms = state.clocks.paused_until_ms
    return tuple(
        Paused(start_ms=max(pause.start_ms, known_ms), end_ms=pause.end_ms)
        for pause in pauses
        if pause.end_ms > known_ms
    )


def _close(state: RoomState, reason: str) -> Verdict:
    """Close the room, with a race under way as if its time were over: cards on foundations decide.

    A round that is called off, or a match that breaks off, is recorded as if both players had left.
    """
    if state.phase is Phase.CLOSED:
        return refuse("close", Refusal.ROOM_CLOSED, "This room is closed already.")
    if state.phase is Phase.DEALING:
        return refuse("close", Refusal.WRONG_PHASE, "The cards are being dealt; try again in a few seconds.")
    ends: tuple[Event, ...] = ()
    if state.phase in (Phase.COUNTDOWN, Phase.RACING):
        racing = tuple(as_seat(seat) for seat, racer in enumerate(dealt_race(state).racers) if not racer.ending)
        ends = (SeatsStopped(seats=racing, ending=Ending.OUT_OF_TIME),)
    freed = tuple(SeatFreed(seat=as_seat(number), reason="closed") for number, seat in enumerate(state.seats) if seat)
    return (*ends, *freed, RoomClosed(reason=reason))


def _create(state: RoomState | None, command: CreateRoom, draw_round: DrawRound) -> Verdict:
    if state is not None and command.is_repeatable:
        again = TakeSeat(command.player, command.name, command.connection_id, "create")
        return _take_seat(state, again, draw_round)
    if state is not None:
        return refuse("create", Refusal.TRY_AGAIN, "The code drawn for this room was taken; try again.")
    options = resolve_options(command.options)
    if isinstance(options, Refused):
        return options
    wish = command.rival
    created = RoomCreated(
        options=options,
        rival_after_seconds=wish.after_seconds if wish else None,
        rival_level=wish.level if wish else None,
    )
    return (created, *sit_down(0, command.player, command.name, command.connection_id))


def _take_seat(state: RoomState, command: TakeSeat, draw_round: DrawRound) -> Verdict:
    if state.phase is Phase.CLOSED:
        return refuse(command.to, Refusal.ROOM_CLOSED)
    own = state.seat_of(command.player)
    if own is not None:
        return (Attached(seat=as_seat(own), link=command.connection_id),)
    if command.to == "resume":
        return refuse(command.to, Refusal.NOT_SEATED)
    free = state.free_seat()
    if free is None:
        replaced = replace_rival(state, command)
        if replaced:
            return (*replaced, draw_round(None, 1, state.options.terms()))
        return refuse(command.to, Refusal.ROOM_FULL)
    sits = sit_down(free, command.player, command.name, command.connection_id)
    is_full = state.seats[1 - free] is not None
    return (*sits, _draw_next_round(state, draw_round)) if is_full else sits


def _decide_request(state: RoomState, connection_id: str, message: RoomRequest, draw_round: DrawRound) -> Verdict:
    seat = state.seat_of_connection(connection_id)
    if seat is None:
        return refuse(message.type, Refusal.NOT_SEATED)
    match message:
        case Ready():
            return _ready(state, seat, message)
        case Reveal():
            return _reveal(state, seat, message)
        case Rematch():
            return _rematch(state, seat, draw_round)
        case AskFinish():
            return ask_finish(state, seat)
        case Leave():
            return _leave(state, seat)


def _make_move(state: RoomState, command: MakeMove) -> Verdict:
    seat, race, number, move = state.seat_of_connection(command.connection_id), state.race, command.number, command.move
    if seat is None:
        return refuse("play", Refusal.NOT_SEATED, number=number)
    if race is None:
        return _refuse_move_without_race(state, seat, command)
    is_racing = state.phase is RACING
    if not is_racing and not (state.phase is Phase.FINISHED and race.has_started):
        return refuse("play", Refusal.RACE_NOT_STARTED, number=number)
    racer = race.racers[seat]
    if number == racer.moves and move is racer.last_move:
        return Accepted(number=number)
    if not is_racing:
        return refuse("play", Refusal.RACE_OVER, number=number)
    if racer.ending:
        return refuse("play", Refusal.SEAT_STOPPED, number=number)
    if number != racer.moves + 1:
        return _wrong_number(number, racer.moves)
    illegal = racer.board.refusal(move)
    if illegal:
        return refuse("play", Refusal(illegal), number=number)
    return (Played(seat, move),)


def _refuse_move_without_race(state: RoomState, seat: Seat, command: MakeMove) -> Verdict:
    """Answer a move in a room without a race: no cards are dealt, or the race was over before a checkpoint."""
    holder, outcome = state.seat(seat), state.round.outcome if state.round else None
    if (command.number, command.move.text) == (holder.moves, holder.last_move):
        return Accepted(number=command.number)
    was_raced = outcome is not None and any(score.cards_turned for score in outcome.scores)
    return refuse("play", Refusal.RACE_OVER if was_raced else Refusal.RACE_NOT_STARTED, number=command.number)


def _wrong_number(number: int, accepted: int) -> Refused:
    correction = f"The next number is {accepted + 1}, not {number}."
    if number == accepted:
        return refuse("play", Refusal.NUMBER_REPEATED, f"{SENTENCES[Refusal.NUMBER_REPEATED]} {correction}", number)
    code = Refusal.NUMBER_OLD if number < accepted else Refusal.NUMBER_FUTURE
    return refuse("play", code, f"{SENTENCES[code]} {correction}", number)


def _ready(state: RoomState, seat: Seat, message: Ready) -> Verdict:
    promised = state.seat(seat).entropy_hash
    if promised == message.entropy_hash:
        return ()
    if state.phase is not Phase.READY:
        return refuse("ready", Refusal.WRONG_PHASE, f"Nobody gets ready while the room is {state.phase}.")
    if open_round(state).round_id != message.round:
        return refuse("ready", Refusal.WRONG_ROUND)
    if promised is not None:
        return refuse("ready", Refusal.ALREADY_READY)
    return (PlayerReady(seat=seat, entropy_hash=message.entropy_hash),)


def _reveal(state: RoomState, seat: Seat, message: Reveal) -> Verdict:
    holder = state.seat(seat)
    if holder.entropy == message.entropy:
        return ()
    if state.phase is not Phase.DEALING:
        return refuse("reveal", Refusal.WRONG_PHASE, f"Nothing is to be revealed while the room is {state.phase}.")
    round_id = open_round(state).round_id
    if round_id != message.round:
        return refuse("reveal", Refusal.WRONG_ROUND)
    if commit_entropy(round_id, seat, message.entropy) != holder.entropy_hash:
        return refuse("reveal", Refusal.WRONG_ENTROPY)
    return (Revealed(seat=seat, entropy=message.entropy),)


def _draw_next_round(state: RoomState, draw_round: DrawRound) -> RoundOpened:
    return draw_round(*state.next_round(), state.options.terms())


def _rematch(state: RoomState, seat: Seat, draw_round: DrawRound) -> Verdict:
    if state.phase is not Phase.FINISHED or not state.match_is_over:
        return refuse("rematch", Refusal.WRONG_PHASE, "A rematch can be asked for when the match is over.")
    if state.seat(seat).wants_rematch:
        return ()
    asked = RematchAsked(seat=seat)
    if not state.seat(1 - seat).wants_rematch or state.unrecorded_match:
        return (asked,)
    return (asked, _draw_next_round(state, draw_round))


def _mark_recorded(state: RoomState, match: int, draw_round: DrawRound) -> tuple[Event, ...]:
    """Open the rematch that waits for the record of the match before, so that the log can be cut between the two."""
    if not match or state.unrecorded_match != match:
        return ()
    is_awaited = all(seat and seat.wants_rematch for seat in state.seats)
    return (MatchPublished(), _draw_next_round(state, draw_round)) if is_awaited else (MatchPublished(),)


def _leave(state: RoomState, seat: Seat) -> Verdict:
    free = SeatFreed(seat=seat, reason="left")
    if state.phase in (Phase.WAITING, Phase.READY, Phase.FINISHED):
        return (free,)
    connection_id = state.seat(seat).connection_id
    has_raced = state.race is not None and state.race.racers[seat].ending
    if has_raced or awaits_step(state):
        # The deal is fixed while its step is looked for, so the round cannot end without it.
        return (Detached(seat=seat, link=connection_id),) if connection_id else ()
    return (SeatsStopped(seats=(seat,), ending=Ending.RESIGNED), free)


def _expire_deadline(state: RoomState, deadline: Deadline, draw_round: DrawRound) -> Verdict:
    match deadline.kind:
        case DeadlineKind.PHASE:
            return _end_phase(state, draw_round)
        case DeadlineKind.SEAT if state.phase in (Phase.COUNTDOWN, Phase.RACING):
            return (SeatsStopped(seats=(as_seat(deadline.seat),), ending=Ending.AWAY),)
        case DeadlineKind.SEAT:
            return (SeatFreed(seat=as_seat(deadline.seat), reason="away"),)
        case DeadlineKind.IDLE:
            return (RoomClosed(),)


def _end_phase(state: RoomState, draw_round: DrawRound) -> tuple[Event, ...]:
    seats = (as_seat(0), as_seat(1))
    match state.phase:
        case Phase.READY:
            late = [seat for seat in seats if not state.seat(seat).entropy_hash]
            return tuple(SeatFreed(seat=seat, reason="not_ready") for seat in late)
        case Phase.DEALING:
            silent = tuple(seat for seat in seats if not state.seat(seat).entropy)
            return (SeatsStopped(seats=silent, ending=Ending.NOT_REVEALED),)
        case Phase.COUNTDOWN:
            return (Started(),)
        case Phase.RACING:
            race = dealt_race(state)
            racing = tuple(seat for seat in seats if not race.racers[seat].ending)
            return (SeatsStopped(seats=racing, ending=ending_by_clock(race)),)
        case Phase.FINISHED:
            return (_draw_next_round(state, draw_round),)
        case _:
            raise AssertionError(f"{state.phase} does not end by itself")
