"""The credit for distance in a room: the times of both seats, and until when the round waits for the one behind. Pure.

    place the last card -> `last_chance` of the other seat -> its last card, or its end -> corrected times decide

Everything follows from the log: moves are stamped by Redis, and the round trips are events of their own, so any process
decides alike. The rule is `fairest_protocol.calculation.distance`, which verifiers share.
"""

from typing import Final

from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.race import Ending, Race
from fairest_protocol.calculation.seat_times import SeatTimes, last_chance, make_ledger
from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import replace, replace_in_pair
from fairest_server.room import events
from fairest_server.room.state import RoomState, dealt_race

LEAST_CHANGE_US: Final = 500
"""A round trip that is shorter than the one known by no more than this is not worth an event."""
_MEASURED: Final = (Phase.READY, Phase.DEALING, Phase.COUNTDOWN, Phase.RACING)
"""The phases in which round trips are kept: before and in a race."""


def note_round_trip(state: RoomState, connection_id: str, rtt_us: int) -> tuple[events.RoundTripMeasured, ...]:
    """Return the event of a measured round trip; none if it changes nothing.

    Only a shorter one than the one known changes anything, so a client that answers pings late gains nothing by it.
    """
    seat = state.seat_of_connection(connection_id)
    if seat is None or state.options.credit is None or state.phase not in _MEASURED:
        return ()
    if state.race is not None and state.race.racers[seat].ending:
        return ()
    known_us = state.times[seat].rtt_us
    if known_us is not None and rtt_us > known_us - LEAST_CHANGE_US:
        return ()
    return (events.RoundTripMeasured(seat=seat, link=connection_id, rtt_us=rtt_us),)


def after_measurement(state: RoomState, seat: int, rtt_us: int) -> RoomState:
    """Return the state after a round trip was measured: the shortest of a race counts, over all connections in it."""
    known_us = state.times[seat].rtt_us
    shortest_us = rtt_us if known_us is None else min(known_us, rtt_us)
    measured = replace(state.times[seat], rtt_us=shortest_us)
    return with_last_chance(replace(state, times=replace_in_pair(state.times, seat, measured)))


def before_race(state: RoomState, seat: int) -> RoomState:
    """Return the state without the round trip of this seat, which has a new connection, unless it races."""
    if state.phase in (Phase.COUNTDOWN, Phase.RACING):
        return state
    return replace(state, times=replace_in_pair(state.times, seat, SeatTimes()))


def after_move(before: RoomState, after: RoomState, event: events.Played, at_ms: int) -> RoomState:
    """Return the state after a move with the times that follow from it. `after` is the state without them."""
    seat = event.seat
    assert before.race is not None and after.race is not None, "moves are made in a race"
    was, now = before.race.racers[seat], after.race.racers[seat]
    times = before.times[seat].after_move(was, now, event.move, since_start_ms(after, at_ms))
    if times is before.times[seat]:
        return after
    timed = replace(after, times=replace_in_pair(before.times, seat, times))
    return with_last_chance(timed) if after.race.racers[1 - seat].ending is Ending.WON else timed


def after_pause(before: RoomState, after: RoomState, event: events.Paused, at_ms: int) -> RoomState:
    """Return the state after a pause with its times: those within the pause count as its start, as in the record."""
    if before.phase is not Phase.RACING or not dealt_race(before).has_credit:
        return after
    latest_ms = latest_before_pause_ms(before, after, event, at_ms)
    first, second = (times.clamped(latest_ms) for times in before.times)
    return with_last_chance(replace(after, times=(first, second)))


def latest_before_pause_ms(before: RoomState, after: RoomState, event: events.Paused, at_ms: int) -> int:
    """Return the time since the start of the race that the events before a pause have at most.

    It is that of the start of the pause, and no later than that of the pause's own event, which Redis stamps by the
    clock of another node in a Cluster: so time never goes back.
    """
    started_at_ms = before.clocks.started_at_ms
    assert started_at_ms is not None, "only the times of a race that has started are clamped"
    return max(0, min(event.start_ms - started_at_ms, since_start_ms(after, at_ms)))


def since_start_ms(state: RoomState, at_ms: int) -> int:
    """Return the time since the start of the race at the stamp `at_ms`, without pauses."""
    started_at_ms = state.clocks.started_at_ms
    return max(0, at_ms - (at_ms if started_at_ms is None else started_at_ms))


def with_last_chance(state: RoomState) -> RoomState:
    """Return the state with the end of the race at the last chance of the seat behind.

    Nothing changes unless the other seat has placed every card and this one still races, as in a race with credit.
    """
    chance_ms = last_chance(state.race, state.times) if state.race is not None else None
    if chance_ms is None:
        return state
    clocks, started_at_ms = state.clocks, state.clocks.started_at_ms
    assert started_at_ms is not None, "a race has a start"
    chance_ms = min(chance_ms, state.options.limit_seconds * 1000)
    return replace(state, clocks=replace(clocks, phase_until_ms=started_at_ms + chance_ms))


def after_round(state: RoomState) -> RoomState:
    """Return the state of a round that is over without its times; the round trips stay, for the next round."""
    first, second = state.times
    return replace(state, times=(SeatTimes(first.rtt_us), SeatTimes(second.rtt_us)))


def ending_by_clock(race: Race) -> Ending:
    """Return how the race of the seats that still race ends when its time is over."""
    has_won = any(racer.ending is Ending.WON for racer in race.racers)
    return Ending.ROUND_OVER if has_won else Ending.OUT_OF_TIME


def ledger(state: RoomState) -> tuple[Timing, Timing]:
    """Return the ledger of the round that is over."""
    return make_ledger(state.times)
