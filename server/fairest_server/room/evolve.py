"""The next state of a room after an event. Pure: the time of the event is given, in milliseconds on Redis' clock."""

from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.race import Ending, Outcome, Race, start_race, undealt_outcome
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import replace, replace_in_pair
from fairest_server.room import events
from fairest_server.room.distance import (
    after_measurement,
    after_move,
    after_pause,
    after_round,
    before_race,
    ledger,
    with_last_chance,
)
from fairest_server.room.events import Event
from fairest_server.room.phases import Trigger, next_phase
from fairest_server.room.state import (
    ABANDONED_SECONDS,
    BETWEEN_ROUNDS_SECONDS,
    Clocks,
    OpenRound,
    RoomState,
    SeatState,
    awaits_step,
    open_round,
    round_seed,
)


def evolve(state: RoomState | None, event: Event, at_ms: int) -> RoomState:
    """Return the state after this event; before the first event `state` is None.

    `at_ms` is the log's stamp of the event, or an estimate as long as the event is only proposed.
    """
    if isinstance(event, events.Checkpoint):
        # Also if the state before is known: a fold from here and a fold of the whole log agree from here on.
        return event.state
    if state is None:
        assert isinstance(event, events.RoomCreated), "the first event of a log is room_created or a checkpoint"
        clocks = Clocks(idle_until_ms=at_ms + event.options.idle_seconds * 1000, paused_until_ms=at_ms)
        wish = None if event.rival_after_seconds is None else RivalWish(event.rival_after_seconds, event.rival_level)
        return RoomState(event.options, event.options.chosen_rules(), clocks=clocks, rival=wish)
    match event:
        case events.Played():
            return _played(state, event, at_ms)
        case events.SeatTaken(seat=seat, player=player, name=name):
            return _with_seat(state, seat, SeatState(player, name))
        case events.SeatFreed(seat=seat):
            return _freed(state, seat, at_ms)
        case events.Attached(seat=seat, link=connection_id):
            present = replace_in_pair(state.seats, seat, replace(state.seat(seat), connection_id=connection_id))
            away_until_ms = replace_in_pair(state.clocks.away_until_ms, seat, None)
            clocks = replace(state.clocks, away_until_ms=away_until_ms, idle_until_ms=None)
            return before_race(replace(state, seats=present, clocks=clocks), seat)
        case events.Detached(seat=seat):
            return _detached(state, seat, at_ms)
        case events.Paused():
            return after_pause(state, replace(state, clocks=_clocks_after_pause(state, event)), event, at_ms)
        case events.RoundOpened():
            return _opened(state, event, at_ms)
        case events.PlayerReady(seat=seat, entropy_hash=entropy_hash):
            ready = _with_seat(state, seat, replace(state.seat(seat), entropy_hash=entropy_hash))
            if not ready.seat(1 - seat).entropy_hash:
                return ready
            return _enter(ready, Trigger.ALL_READY, at_ms, state.options.reveal_seconds)
        case events.Revealed(seat=seat, entropy=entropy):
            revealed = _with_seat(state, seat, replace(state.seat(seat), entropy=entropy))
            if awaits_step(revealed):
                # New clocks: the deadline of this phase applies no longer, and a process has to find the step.
                return replace(revealed, clocks=replace(revealed.clocks))
            return _dealt(revealed, None, at_ms) if revealed.seat(1 - seat).entropy else revealed
        case events.StepFound(step=step):
            return _dealt(state, step, at_ms)
        case events.Started():
            started = _enter(state, Trigger.RACE_STARTED, at_ms, state.race_seconds)
            return replace(started, clocks=replace(started.clocks, started_at_ms=at_ms))
        case events.SeatsStopped():
            return _stopped(state, event, at_ms)
        case events.RoundTripMeasured(seat=seat, rtt_us=rtt_us):
            return after_measurement(state, seat, rtt_us)
        case events.RematchAsked(seat=seat):
            return _with_seat(state, seat, replace(state.seat(seat), wants_rematch=True))
        case events.FinishAsked(seat=seat):
            return _with_seat(state, seat, replace(state.seat(seat), has_asked_finish=True))
        case events.MatchPublished():
            # A new object, since a room without an unrecorded match has another next check.
            return replace(state, unrecorded_match=0, clocks=replace(state.clocks))
        case events.RoomClosed():
            # A match that waits for its record is found by the time at which it finished.
            clocks = Clocks(paused_until_ms=state.clocks.paused_until_ms, finished_at_ms=state.clocks.finished_at_ms)
            return replace(state, phase=next_phase(state.phase, Trigger.ABANDONED), clocks=clocks)
        case events.RoomCreated():
            raise AssertionError("a room is created once")


def _with_seat(state: RoomState, number: int, seat: SeatState | None) -> RoomState:
    return replace(state, seats=replace_in_pair(state.seats, number, seat))


def _enter(state: RoomState, trigger: Trigger, at_ms: int, seconds: int | None) -> RoomState:
    """Return the state in the next phase, which ends by itself after `seconds`; with None it has no time limit."""
    until = None if seconds is None else at_ms + seconds * 1000
    clocks = replace(state.clocks, phase_until_ms=until)
    return replace(state, phase=next_phase(state.phase, trigger), clocks=clocks)


def _played(state: RoomState, event: events.Played, at_ms: int) -> RoomState:
    race = state.race
    assert race is not None, "moves are made in a race"
    after = race.play(event.seat, event.move)
    moved = state.with_race(after)
    if after.has_credit:
        moved = after_move(state, moved, event, at_ms)
    return moved if not after.racers[event.seat].ending else _after_ending(moved, after, at_ms)


def _stopped(state: RoomState, event: events.SeatsStopped, at_ms: int) -> RoomState:
    race = state.race
    if race is None:
        stopped = dict.fromkeys(event.seats, event.ending)
        outcome = undealt_outcome(state.rules, [stopped.get(seat, Ending.ROUND_OVER) for seat in (0, 1)])
        return _finished(state, outcome, at_ms)
    stop = race.stop_before_start if state.phase is Phase.COUNTDOWN else race.stop
    after = stop(event.seats, event.ending)
    return _after_ending(state.with_race(after), after, at_ms)


def _after_ending(state: RoomState, race: Race, at_ms: int) -> RoomState:
    """Return the state after a seat's race has ended: the round is over, or the other seat has the chase time left.

    In a room with credit, the other one of a seat that placed every card has the time in which it may still be first.
    """
    if race.is_over:
        return _finished(state, race.outcome(ledger(state)), at_ms)
    if any(racer.ending is Ending.WON for racer in race.racers):
        return with_last_chance(state)
    until = state.clocks.phase_until_ms
    if state.phase is Phase.RACING:
        assert until is not None, "a race has a time limit"
        until = min(until, at_ms + state.options.chase_seconds * 1000)
    # New clocks in any case: a seat whose race has ended has no deadline any more, so the deadlines have changed.
    return replace(state, clocks=replace(state.clocks, phase_until_ms=until))


def _detached(state: RoomState, seat: int, at_ms: int) -> RoomState:
    left = replace_in_pair(state.seats, seat, replace(state.seat(seat), connection_id=None))
    clocks = _with_away_until(state.clocks, seat, at_ms + state.options.grace_seconds * 1000)
    return replace(state, seats=left, clocks=clocks)


def _clocks_after_pause(state: RoomState, pause: events.Paused) -> Clocks:
    """Return the clocks with every deadline moved by the length of the pause.

    The start of the race moves too. A race that began after the last heartbeat, and so within the pause, counts as
    begun when the pause was over.
    """
    clocks, length = state.clocks, pause.end_ms - pause.start_ms

    def later(at_ms: int | None) -> int | None:
        return None if at_ms is None else at_ms + length

    started_at_ms = clocks.started_at_ms
    if started_at_ms is not None and state.phase is not Phase.FINISHED:
        started_at_ms = min(started_at_ms, pause.start_ms) + length
    return replace(
        clocks,
        phase_until_ms=later(clocks.phase_until_ms),
        away_until_ms=(later(clocks.away_until_ms[0]), later(clocks.away_until_ms[1])),
        idle_until_ms=later(clocks.idle_until_ms),
        started_at_ms=started_at_ms,
        paused_until_ms=pause.end_ms,
    )


def _with_away_until(clocks: Clocks, seat: int, until_ms: int | None) -> Clocks:
    return replace(clocks, away_until_ms=replace_in_pair(clocks.away_until_ms, seat, until_ms))


def _freed(state: RoomState, seat: int, at_ms: int) -> RoomState:
    """Return the room waiting for a player. The player who stays keeps the seat.

    A match under way ends here. If one of its rounds has finished, it has a record up to this point.
    """
    other = state.seats[1 - seat]
    stays = (
        replace(
            other,
            entropy_hash=None,
            entropy=None,
            wins=0,
            matches_won=0,
            wants_rematch=False,
            has_asked_finish=False,
            moves=0,
            last_move="",
        )
        if other
        else None
    )
    freed = _enter(_with_seat(_with_seat(state, seat, None), 1 - seat, stays), Trigger.SEAT_FREED, at_ms, None)
    raced = state.round is not None and (state.phase is Phase.FINISHED or state.round.number > 1)
    broken_off = raced and not state.match_is_over
    clocks = _with_away_until(freed.clocks, seat, None)
    if broken_off:
        clocks = replace(clocks, unseen_until_ms=at_ms + state.options.grace_seconds * 1000)
    if stays is None:
        idle_seconds = state.options.idle_seconds
        if not state.has_raced:
            idle_seconds = min(idle_seconds, ABANDONED_SECONDS)
        clocks = replace(clocks, idle_until_ms=at_ms + idle_seconds * 1000)
    return replace(
        freed,
        round=None,
        race=None,
        clocks=clocks,
        match_is_over=True,
        unrecorded_match=state.matches if broken_off else state.unrecorded_match,
    )


def _opened(state: RoomState, event: events.RoundOpened, at_ms: int) -> RoomState:
    match_id, number = state.next_round()
    is_new_match = match_id is None
    seats = tuple(
        replace(
            state.seat(each),
            entropy_hash=None,
            entropy=None,
            wants_rematch=False,
            has_asked_finish=False,
            moves=0,
            last_move="",
            wins=0 if is_new_match else state.seat(each).wins,
        )
        for each in (0, 1)
    )
    opened = _enter(state, Trigger.ROUND_OPENED, at_ms, state.options.ready_seconds)
    # Both players of a round that has finished have seen its end: they asked for a rematch, or their match goes on.
    unseen_until_ms = None if state.phase is Phase.FINISHED else state.clocks.unseen_until_ms
    return replace(
        opened,
        seats=(seats[0], seats[1]),
        round=OpenRound(event.round, event.secret, event.signature, match_id or event.round, number),
        race=None,
        clocks=replace(opened.clocks, started_at_ms=None, unseen_until_ms=unseen_until_ms),
        matches=state.matches + is_new_match,
        match_is_over=False,
    )


def _dealt(state: RoomState, step: int | None, at_ms: int) -> RoomState:
    """Return the state after the deal; `step` is that of a certified round, None for every other one."""
    opened, seed = open_round(state), round_seed(state)
    if step is not None:
        seed = make_step_seed(seed, step)
    sealed = seal_deal(state.rules, seed, opened.round_id, step)
    options = state.options
    race = start_race(
        state.rules,
        sealed.deal,
        direct_breaks_ties=options.direct_breaks_ties,
        has_credit=options.credit is not None,
    )
    dealt = replace(state, round=replace(opened, sealed=sealed), race=race)
    return _enter(dealt, Trigger.ALL_REVEALED, at_ms, state.options.countdown_seconds)


def _finished(state: RoomState, outcome: Outcome, at_ms: int) -> RoomState:
    ended = open_round(state)
    first, second = (state.seat(seat).wins + (outcome.winner == seat) for seat in (0, 1))
    best_of = state.options.best_of
    match_is_over = max(first, second) > best_of // 2 or ended.number >= best_of
    seats = (
        _with_wins(state.seat(0), first, has_won_match=match_is_over and first > second),
        _with_wins(state.seat(1), second, has_won_match=match_is_over and second > first),
    )
    seconds_to_next_round = None if match_is_over else BETWEEN_ROUNDS_SECONDS
    finished = _enter(state, Trigger.ROUND_OVER, at_ms, seconds_to_next_round)
    unseen_until_ms = at_ms + state.options.grace_seconds * 1000 if match_is_over else None
    return replace(
        after_round(finished),
        seats=seats,
        round=replace(ended, outcome=outcome),
        clocks=replace(finished.clocks, finished_at_ms=at_ms, unseen_until_ms=unseen_until_ms),
        match_is_over=match_is_over,
        unrecorded_match=state.matches if match_is_over else state.unrecorded_match,
    )


def _with_wins(seat: SeatState, wins: int, *, has_won_match: bool) -> SeatState:
    return replace(seat, wins=wins, matches_won=seat.matches_won + has_won_match)
