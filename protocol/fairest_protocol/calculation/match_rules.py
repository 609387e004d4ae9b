"""Checks that a record is one of a match that a server can have run: its order of rounds, and how each of them ended.

Hashes and signatures are checked by `fairest verify`. docs/protocol.md states these rules, under "A possible match".
"""

from collections.abc import Sequence
from typing import Final

from fairest_protocol.calculation.race import Ending, Race, undealt_outcome
from fairest_protocol.calculation.record import BadRecord, Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.seat_times import SeatTimes, Times, last_chance, make_ledger
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.value import replace_in_pair

MAX_CALLED_OFF: Final = 1000
"""The most rounds that a record lists as called off before the first one with a result: the newest ones."""
_BEFORE_START: Final = -1
"""Stands for the time of a stop in the countdown, which a record gives as null."""


def is_match_over(winners: Sequence[int | None], best_of: int) -> bool:
    """Return whether a match is over after rounds with these winners, None for a draw."""
    return len(winners) >= best_of or max(winners.count(0), winners.count(1)) > best_of // 2


def check_record(record: Record) -> None:
    """Check that a server can have run the match of a record, and replay its races. Raises `BadRecord`."""
    finish(checking_record(record))


def checking_record(record: Record) -> Sliced[None]:
    """Do what `check_record` does, in slices."""
    check_match(record)
    for number in range(len(record.rounds)):
        yield from _checking_round(record, number)


def check_match(record: Record) -> None:
    """Check which rounds the record has, and in which order. Raises `BadRecord`."""
    raced = record.rounds[record.called_off :]
    if not raced:
        raise BadRecord("no round of the match has a result")
    if record.called_off > MAX_CALLED_OFF:
        raise BadRecord(f"more than {MAX_CALLED_OFF} rounds were called off before the match")
    if raced[0].round_id.hex() != record.match_id:
        raise BadRecord("the id of a match is that of its first round with a result")
    known: set[bytes] = set()
    for played in record.rounds:
        if played.round_id in known:
            raise BadRecord(f"the round {played.round_id.hex()} stands in the record twice")
        known.add(played.round_id)
    winners: list[int | None] = []
    for number, played in enumerate(raced, record.called_off + 1):
        if is_match_over(winners, record.terms.best_of):
            raise BadRecord(f"round {number} follows a match that was over")
        if played.outcome is not None:
            winners.append(played.outcome.winner)
        elif number < len(record.rounds):
            raise BadRecord(f"round {number} was called off, which ends a match, and another one follows")


def check_round(record: Record, number: int) -> None:
    """Check how the round with this number, from 0, ended, and replay its race if it was dealt. Raises `BadRecord`."""
    finish(_checking_round(record, number))


def _checking_round(record: Record, number: int) -> Sliced[None]:
    played, where = record.rounds[number], f"round {number + 1}"
    if (played.step is not None) != (record.terms.is_certified and played.is_dealt):
        raise BadRecord(f"{where}: a round has a step if it was dealt in a certified room, and only then")
    if played.is_dealt:
        yield from _checking_race(record, number)
    elif played.envelopes or played.events:
        raise BadRecord(f"{where}: there are cards or moves, but no deal")
    elif played.outcome is None:
        if played.entropies != (None, None) or None not in played.entropy_hashes:
            raise BadRecord(f"{where}: a round is not called off any more once both players are ready")
    elif None in played.entropy_hashes:
        raise BadRecord(f"{where}: it has a result, and not both players were ready")
    elif not _may_end_undealt(played) or played.outcome != undealt_outcome(record.rules, _endings(played)):
        raise BadRecord(f"{where}: it has a result that a round without a deal cannot have")


def _endings(played: RecordedRound) -> list[Ending]:
    return [score.ending for score in played.outcome.scores] if played.outcome else []


def _may_end_undealt(played: RecordedRound) -> bool:
    """Return whether a round without a deal may end like this: a player left, or some did not reveal."""
    endings = _endings(played)
    silent = [Ending.ROUND_OVER if entropy else Ending.NOT_REVEALED for entropy in played.entropies]
    return endings == silent or sorted(endings) == sorted((Ending.RESIGNED, Ending.ROUND_OVER))


def _checking_race(record: Record, number: int) -> Sliced[None]:
    played, where = record.rounds[number], f"round {number + 1}"
    stamps = [_BEFORE_START if event.at_ms is None else event.at_ms for event in played.events]
    if stamps != sorted(stamps):
        raise BadRecord(f"{where}: time goes back")
    race: Race | None = None
    times = _stated_round_trips(played)
    for event_number, (event, after) in enumerate(record.steps(number)):
        if race is not None and isinstance(event, RecordedStop) and not _may_stop(record, race, event, times):
            raise BadRecord(f"{where}, event {event_number}: these seats are not stopped by {event.ending}")
        if race is not None and isinstance(event, RecordedMove) and race.has_credit:
            seat = event.seat
            moved = times[seat].after_move(race.racers[seat], after.racers[seat], event.move, event.at_ms)
            times = replace_in_pair(times, seat, moved)
        race = after
        yield
    if race is None or not race.is_over or race.outcome(make_ledger(times)) != played.outcome:
        raise BadRecord(f"{where}: its moves do not lead to the result that it states")


def _stated_round_trips(played: RecordedRound) -> Times:
    """Return the times of both seats at the start, with the round trips that the record states."""
    ledger = played.outcome.ledger if played.outcome else None
    return (SeatTimes(), SeatTimes()) if ledger is None else (SeatTimes(ledger[0].rtt_us), SeatTimes(ledger[1].rtt_us))


def _may_stop(record: Record, race: Race, stop: RecordedStop, times: Times) -> bool:
    """Return whether these seats can be stopped together: the clock stops all that still race, the rest stops one.

    The clock stops nobody before the race. With credit, a seat is stopped once it can not be first any more.
    """
    racing = tuple(seat for seat, racer in enumerate(race.racers) if not racer.ending)
    if stop.at_ms is None and stop.ending in (Ending.OUT_OF_TIME, Ending.ROUND_OVER):
        return False
    if stop.ending is Ending.ROUND_OVER:
        latest_ms = last_chance(race, times) if race.has_credit else None
        if latest_ms is None or stop.at_ms is None:
            return False
        return stop.seats == racing and stop.at_ms >= min(latest_ms, record.terms.seconds("limit_seconds") * 1000)
    return stop.seats == racing if stop.ending is Ending.OUT_OF_TIME else len(stop.seats) == 1
