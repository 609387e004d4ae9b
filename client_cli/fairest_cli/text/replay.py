"""The steps of a recorded match, forwards and back."""

from collections.abc import Iterator

from fairest_cli.text.board_text import describe_board, format_time
from fairest_cli.text.move_text import describe_move, describe_result, describe_stop
from fairest_cli.text.variant_reference import describe_counts
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedStop
from fairest_protocol.value import Value

HELP = "[Enter: next, b: back, a number: that step, e: end, q: quit]"


class Step(Value):
    """A step of a recorded match: the round's number, from 0, the event, and the state of the round after it."""

    round_number: int
    event: RecordedMove | RecordedStop | None
    race: Race


def all_steps(record: Record) -> list[Step]:
    """Return all steps of all rounds that were dealt. Raises `BadRecord`."""
    return [
        Step(number, event, race)
        for number, played in enumerate(record.rounds)
        if played.is_dealt
        for event, race in record.steps(number)
    ]


def describe_record(record: Record) -> Iterator[str]:
    """Yield the players, the room and the rules of a record."""
    names = " against ".join(clean(name) for name in record.names)
    ties = ", direct plays break a tie" if record.terms.direct_breaks_ties else ""
    yield f"{names}, room {clean(record.room)}"
    rounds = f"; best of {record.terms.best_of}" if record.terms.best_of > 1 else ""
    yield f"{record.rules.name}: {describe_counts(record.rules)}{rounds}{ties}"


def describe_step(record: Record, steps: list[Step], index: int) -> Iterator[str]:
    """Yield the event of a step, and the board of the player that it concerns, or both boards."""
    step = steps[index]
    seats = range(len(step.race.racers))
    yield f"-- step {index} of {len(steps) - 1}, round {step.round_number + 1}: {describe_event(record, step)}"
    if isinstance(step.event, RecordedMove):
        seats = range(step.event.seat, step.event.seat + 1)
    for seat in seats:
        board = step.race.racers[seat].board
        yield f"{clean(record.names[seat])}: {board.placed} of {board.goal} cards"
        yield from describe_board(board)
    if step.race.is_over:
        yield from describe_result(step.race.outcome(), record.names)


def next_index(command: str, index: int, last: int) -> int | None:
    """Return the step to which a typed command leads, None to quit. Raises ValueError with a sentence for others."""
    match command.strip().lower():
        case "":
            return min(index + 1, last)
        case "b":
            return max(index - 1, 0)
        case "e":
            return last
        case "q":
            return None
        case number if number.isdecimal():
            return min(int(number), last)
        case other:
            raise ValueError(f"{clean(other)!r} is not one of these.")


def describe_event(record: Record, step: Step) -> str:
    """Return the event of a step and its time, in one line."""
    event = step.event
    if event is None:
        return "the cards are dealt"
    when = "before the start" if event.at_ms is None else format_time(event.at_ms / 1000)
    if isinstance(event, RecordedMove):
        card = moved_card(step.race.racers[event.seat].board, event.move)
        return f"{when} {describe_move(record.names[event.seat], event.move, card)}"
    return f"{when} {describe_stop([record.names[seat] for seat in event.seats], event.ending)}"


def moved_card(board: Board, move: Move) -> Card | None:
    """Return the card that `move` has moved, given the board after it; None for a move that moves no single card."""
    if not (move.places or move.takes_turned):
        return None
    return (board.foundations if move.places else board.piles)[move.target][-1]
