"""One or two runs on a deal, each raced alone, as a match, which replay, analysis and ghosts show as any other. Pure.

The match was never raced: each seat has its own times, and no server signs it.
"""

from typing import Final

from fairest_protocol.calculation.deal import make_deal, seal_deal
from fairest_protocol.calculation.race import Ending, start_race
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import (
    KEY_BYTES,
    NO_ROUNDS,
    SIGNATURE_BYTES,
    commit_entropy,
    commit_secret,
    make_seed,
)
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import Value

ALONE: Final = "nobody"
"""The name in the other seat of a run that is shown alone."""
UNSIGNED: Final = bytes(SIGNATURE_BYTES)


class SoloDeal(Value):
    """A deal that players race alone. `entropy` makes the seed together with the secret.

    `room` stands for the room of the match, `finished_at_ms` for its end, 0 if that is not known.
    """

    rules: Rules
    round_id: bytes
    secret: bytes
    entropy: bytes
    limit_ms: int
    room: str
    finished_at_ms: int = 0


class SoloRun(Value):
    """The moves of a player on a deal."""

    name: str
    moves: tuple[TimedMove, ...]


def match_of_runs(deal: SoloDeal, first: SoloRun, second: SoloRun | None) -> Record:
    """Return a run, and another one on the same deal beside it, as a match of one round.

    It ends when one of the two has placed every card; the moves of the other one behind that are left out.
    """
    rules, entropies = deal.rules, (deal.entropy, NO_ROUNDS)
    seed = make_seed(deal.secret, entropies, deal.round_id)
    race = start_race(rules, make_deal(rules, seed))
    events: list[RecordedMove | RecordedStop] = []
    if second is None:
        events.append(RecordedStop(None, (1,), Ending.AWAY))
        race = race.stop_before_start((1,), Ending.AWAY)
    moves = [(timed.at_ms, 0, timed.move) for timed in first.moves]
    moves += [(timed.at_ms, 1, timed.move) for timed in (second.moves if second else ())]
    for at_ms, seat, move in sorted(moves, key=lambda each: each[:2]):
        if race.racers[seat].ending is None:
            events.append(RecordedMove(at_ms, seat, move))
            race = race.play(seat, move)
    racing = tuple(seat for seat in (0, 1) if race.racers[seat].ending is None)
    if racing:
        events.append(RecordedStop(deal.limit_ms, racing, Ending.OUT_OF_TIME))
        race = race.stop(racing, Ending.OUT_OF_TIME)
    played = RecordedRound(
        round_id=deal.round_id,
        commitment=commit_secret(deal.round_id, deal.secret),
        signature=UNSIGNED,
        secret=deal.secret,
        entropy_hashes=(
            commit_entropy(deal.round_id, 0, entropies[0]),
            commit_entropy(deal.round_id, 1, entropies[1]),
        ),
        entropies=entropies,
        envelopes=seal_deal(rules, seed, deal.round_id).envelopes,
        events=tuple(events),
        outcome=race.outcome(),
    )
    return Record(
        match_id=deal.round_id.hex(),
        room=deal.room,
        names=(first.name, ALONE if second is None else second.name),
        terms=parse_terms(RoomOptions(rules=rules.name).resolved().terms()),
        finished_at_ms=deal.finished_at_ms,
        rounds=(played,),
        key=bytes(KEY_BYTES),
        signature=UNSIGNED,
    )
