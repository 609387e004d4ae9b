"""Attempts at a daily deal as a match, so that replay, analysis and ghosts show them as they show any other race. Pure.

The match was never raced: its seats are two attempts on the same deal, each with its own times, and no server signs it.
"""

from typing import Final

from fairest_protocol.calculation.daily import LIMIT_MS, day_start_ms
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.deal import make_deal, seal_deal
from fairest_protocol.calculation.race import Ending, start_race
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.seal import KEY_BYTES, NO_ROUNDS, SIGNATURE_BYTES, commit_entropy
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.messages.options import RoomOptions

ALONE: Final = "nobody"
"""The name in the other seat of an attempt that is shown alone."""
ROOM: Final = "daily-deal"
UNSIGNED: Final = bytes(SIGNATURE_BYTES)


def as_match(attempt: DailyRecord, other: DailyRecord | None = None) -> Record:
    """Return an attempt, and another one on the same deal beside it, as a match of one round.

    It ends when one of the two has placed every card; the moves of the other one behind that are left out.
    """
    rules = attempt.rules
    race = start_race(rules, make_deal(rules, attempt.seed))
    events: list[RecordedMove | RecordedStop] = []
    if other is None:
        events.append(RecordedStop(None, (1,), Ending.AWAY))
        race = race.stop_before_start((1,), Ending.AWAY)
    moves = [(timed.at_ms, 0, timed.move) for timed in attempt.moves]
    moves += [(timed.at_ms, 1, timed.move) for timed in (other.moves if other else ())]
    for at_ms, seat, move in sorted(moves, key=lambda each: each[:2]):
        if race.racers[seat].ending is None:
            events.append(RecordedMove(at_ms, seat, move))
            race = race.play(seat, move)
    racing = tuple(seat for seat in (0, 1) if race.racers[seat].ending is None)
    if racing:
        events.append(RecordedStop(LIMIT_MS, racing, Ending.OUT_OF_TIME))
        race = race.stop(racing, Ending.OUT_OF_TIME)
    round_id = attempt.round_id
    played = RecordedRound(
        round_id=round_id,
        commitment=attempt.commitment,
        signature=UNSIGNED,
        secret=attempt.secret,
        entropy_hashes=(commit_entropy(round_id, 0, attempt.beacon), commit_entropy(round_id, 1, NO_ROUNDS)),
        entropies=(attempt.beacon, NO_ROUNDS),
        envelopes=seal_deal(rules, attempt.seed, round_id).envelopes,
        events=tuple(events),
        outcome=race.outcome(),
    )
    return Record(
        match_id=round_id.hex(),
        room=ROOM,
        names=(attempt.name, ALONE if other is None else other.name),
        terms=parse_terms(RoomOptions(rules=rules.name).resolved().terms()),
        finished_at_ms=day_start_ms(attempt.day),
        rounds=(played,),
        key=bytes(KEY_BYTES),
        signature=UNSIGNED,
    )
