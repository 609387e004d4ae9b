"""An attempt at a daily deal: a race of one seat as the fold of its moves, and the entries that its player is shown.

Pure, and the only way in which anything about the deck reaches a client before it is opened. An answer is a function of
the player's own moves and of the cards up to the player's own turn: another player's attempt is no argument of it.
"""

from collections.abc import Sequence

from fairest_protocol.calculation.daily import LIMIT_MS
from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.moves import RESIGN, Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.entries import Dealt, Entry, Moved, Started, Turned
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.value import Value


class Gap(Value):
    """A time in which no server was running, from `start_ms` to `end_ms` on Redis' clock: no clock goes on in it."""

    start_ms: int
    end_ms: int


class Attempt(Value):
    """An attempt of the player `player_id`, from its start on: its moves so far, each with its time since the start."""

    attempt_id: str
    player_id: str
    name: str
    started_ms: int
    moves: tuple[TimedMove, ...] = ()

    @property
    def last_move_ms(self) -> int:
        """The time of the last move since the start, 0 before the first one."""
        return self.moves[-1].at_ms if self.moves else 0


def paused_ms(started_ms: int, until_ms: int, gaps: Sequence[Gap]) -> int:
    """Return how long the clock of an attempt stood still between two times."""
    return sum(max(0, min(gap.end_ms, until_ms) - max(gap.start_ms, started_ms)) for gap in gaps)


def ends_ms(started_ms: int, gaps: Sequence[Gap], limit_ms: int = LIMIT_MS) -> int:
    """Return when the time of an attempt is over; each gap that begins before then makes it later."""
    until_ms = started_ms + limit_ms
    for gap in sorted(gaps, key=lambda each: each.start_ms):
        if gap.end_ms > started_ms and gap.start_ms < until_ms:
            until_ms += gap.end_ms - max(gap.start_ms, started_ms)
    return until_ms


def begin(rules: Rules, sealed: SealedDeal) -> Race:
    """Return the race of an attempt before its first move."""
    return start_race(rules, sealed.deal, seats=1)


def replay(rules: Rules, sealed: SealedDeal, moves: Sequence[TimedMove]) -> Race:
    """Return the race after these moves, which were accepted."""
    race = begin(rules, sealed)
    for timed in moves:
        race = race.play(0, timed.move)
    return race


def refusal_of(race: Race, number: int, move: Move) -> Refusal | None:
    """Return why a move with this number cannot be made now, None if it can.

    The last accepted move sent again is refused as `NUMBER_REPEATED` here; its sender is to be answered as before.
    """
    racer = race.racers[0]
    if number <= racer.moves:
        return Refusal.NUMBER_REPEATED if number == racer.moves else Refusal.NUMBER_OLD
    if number > racer.moves + 1:
        return Refusal.NUMBER_FUTURE
    if race.is_over:
        return Refusal.RACE_OVER
    if move is RESIGN:
        return Refusal.WRONG_PHASE
    illegal = race.refusal(0, move)
    return None if illegal is None else Refusal(illegal)


def show_start(rules: Rules, sealed: SealedDeal, started_ms: int, until_ms: int) -> tuple[Entry, ...]:
    """Return the entries with which an attempt begins: the sealed deal, the start, and the first card."""
    deal = sealed.deal
    dealt = Dealt(
        layout=deal.foundations,
        starters=deal.starters,
        markers=deal.markers,
        piles=rules.piles,
        redeals=rules.redeals,
        envelopes=sealed.envelopes,
        until_ms=started_ms,
    )
    return dealt, Started(until_ms=until_ms), _show_turned(begin(rules, sealed), sealed)


def show_move(before: Race, after: Race, sealed: SealedDeal) -> tuple[Entry, ...]:
    """Return the entries of a move that led from one race to the next: the move, and the card that it turned."""
    was, now = before.racers[0], after.racers[0]
    assert now.last_move is not None, "a move was made"
    moved = Moved(seat=0, number=now.moves, move=now.last_move, card=was.board.card_of(now.last_move))
    has_turned = now.turn != was.turn and now.board.turned is not None
    return (moved, _show_turned(after, sealed)) if has_turned else (moved,)


def show_all(
    rules: Rules, sealed: SealedDeal, attempt: Attempt, until_ms: int, race: Race | None = None
) -> tuple[Entry, ...]:
    """Return all entries of an attempt so far. `race` is that before its first move, if it is known."""
    shown = list(show_start(rules, sealed, attempt.started_ms, until_ms))
    race = race or begin(rules, sealed)
    for timed in attempt.moves:
        after = race.play(0, timed.move)
        shown += show_move(race, after, sealed)
        race = after
    return tuple(shown)


def _show_turned(race: Race, sealed: SealedDeal) -> Turned:
    racer = race.racers[0]
    assert racer.board.turned is not None, "a card was turned"
    return Turned(seat=0, turn=racer.turn, card=racer.board.turned, salt=sealed.salt(*racer.turn))
