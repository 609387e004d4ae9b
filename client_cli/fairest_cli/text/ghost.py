"""A race against a ghost, in lines: what is typed, and what is printed. The clock is an argument."""

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from fairest_cli.analysis.ghost import GHOST, PLAYER, GhostRace
from fairest_cli.text.board_text import ENDINGS, describe_board, describe_score, format_time
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES, RESIGN, STOP, Move
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import Record, RecordedMove
from fairest_protocol.messages.refusals import SENTENCES, Refusal

HELP: Final = """\
You race the moves of a record, in the time in which they were made. Nothing can
be taken back. A move is a source and a target: s1, sa, b4; redeal where allowed.
  ghost   show its board, up to the card that you have turned
  board   show your board again
  stop    keep the cards that you have placed
  quit    leave"""
QUIT: Final = ("quit", "q", "leave")


class RaceClock(Protocol):
    """The time of a race, in milliseconds."""

    def now_ms(self) -> int:
        """Return the present time."""

    def wait_until(self, at_ms: int) -> None:
        """Return once it is `at_ms`."""


def race_in_lines(
    ghost: GhostRace,
    typed: Iterator[str],
    clock: RaceClock,
    print_line: Callable[[str], None],
    keep: Callable[[GhostRace], str],
) -> GhostRace:
    """Race in lines from now on, until both races are over or the player leaves; return the race then.

    `keep` is called when the player's race is over, and returns a sentence to print below the result. The wait for the
    rest of the ghost may be interrupted after that.
    """
    started_ms = clock.now_ms()

    def show(lines: Iterator[str]) -> None:
        for line in lines:
            print_line(line)

    show(describe_ghost_race(ghost))
    for line in typed:
        if line.strip().lower() in QUIT:
            return ghost
        ghost = ghost.at(clock.now_ms() - started_ms)
        if ghost.race.is_over:
            break
        ghost, lines = answer(ghost, line)
        show(lines)
        if not ghost.is_racing:
            break
    else:
        return ghost
    kept = keep(ghost)
    while not ghost.race.is_over and ghost.next_at_ms is not None:
        clock.wait_until(started_ms + ghost.next_at_ms)
        ghost = ghost.at(clock.now_ms() - started_ms)
        print_line(f"{clean(ghost.name)}: {ghost.counts[GHOST]}")
    show(describe_end(ghost))
    if kept:
        print_line(kept)
    return ghost


def read_move(line: str) -> Move | None:
    """Return the move that was typed, or None for another word."""
    return MOVES.get(line.lower().replace(" ", ""))


def answer(ghost: GhostRace, line: str) -> tuple[GhostRace, Iterator[str]]:
    """Return the race after a typed line, and the lines to print. The ghost's moves up to now have been made before."""
    move = read_move(line)
    if move is not None:
        return _play(ghost, move)
    match line.strip().lower():
        case "" | "board":
            return ghost, describe_ghost_race(ghost)
        case "ghost":
            return ghost, _describe_ghost_board(ghost)
        case "help" | "?":
            return ghost, iter([HELP])
        case _:
            return ghost, iter([f"{clean(line)[:40]!r} is not a move or a word of this program; type help."])


def describe_ghost_race(ghost: GhostRace) -> Iterator[str]:
    """Yield the counts of both, how the ghost's race ended if it has, and the player's board."""
    own, its = ghost.counts
    ending = ghost.race.racers[GHOST].ending
    how = f", {ENDINGS[ending]}" if ending else ""
    yield ""
    yield f"you: {own} of {ghost.board.goal} cards; {clean(ghost.name)}: {its}{how}"
    if ghost.is_racing:
        yield from describe_board(ghost.board)


def describe_end(ghost: GhostRace) -> Iterator[str]:
    """Yield the result of a race that is over."""
    yield f"{format_time(ghost.now_ms / 1000)} The race is over."
    yield describe_verdict(ghost)
    for who, score in zip(("you", ghost.name), ghost.race.outcome().scores, strict=True):
        yield from describe_score(who, score)


def describe_verdict(ghost: GhostRace) -> str:
    """Return who has won a race that is over, and by what: by cards, or by time if both runs place every card."""
    outcome, name = ghost.race.outcome(), clean(ghost.name)
    ours, its = ghost.player_finish, ghost.finish
    if outcome.winner is None:
        return f"A draw against {name}, at {ours.placed} cards each."
    wins = f"You win against {name}" if outcome.winner == PLAYER else f"{name} wins"
    if ours.is_won and its.is_won and outcome.winner == PLAYER:
        return f"{wins} by {format_time((its.at_ms - ours.at_ms) / 1000)}: it places its last card later."
    if outcome.scores[GHOST].ending is Ending.RESIGNED:
        return f"{wins}: it resigned."
    cards = abs(ours.placed - its.placed)
    if not cards:
        return f"{wins} by the cards played straight from the stock."
    return f"{wins} by {cards} card{'s' * (cards > 1)}."


def describe_stops(before: GhostRace, ghost: GhostRace) -> str:
    """Return a sentence if the clock has ended the player's race, or if the ghost has stopped, since `before`."""
    if before.is_racing and not ghost.is_racing:
        return "Your time is over."
    if ghost.has_ghost_stopped and not before.has_ghost_stopped and ghost.is_racing:
        left = format_time((ghost.deadline_ms - ghost.now_ms) / 1000)
        return f"{clean(ghost.name)} has stopped at {ghost.counts[GHOST]} cards: you have {left} left."
    return ""


def describe_seat(record: Record, round_number: int, seat: int, *, is_own: bool) -> str:
    """Return a seat that can be raced in one line: its round, its player, its cards and its time."""
    played = record.rounds[round_number]
    times = [event.at_ms for event in played.events if isinstance(event, RecordedMove) and event.seat == seat]
    outcome = played.outcome
    which = f"round {round_number + 1}, " if len(record.rounds) > 1 else ""
    took = f" in {format_time(max(times) / 1000)}" if times else ""
    cards = f", {outcome.scores[seat].placed} of {outcome.scores[seat].goal} cards" if outcome else ""
    return f"{which}{clean(record.names[seat])}{' (you)' if is_own else ''}{cards}{took}"


def _describe_ghost_board(ghost: GhostRace) -> Iterator[str]:
    yield f"{clean(ghost.name)}, as far as your own turn goes:"
    yield from describe_board(ghost.shown_board)


def _play(ghost: GhostRace, move: Move) -> tuple[GhostRace, Iterator[str]]:
    # Nobody races here against whom one could resign.
    move = STOP if move is RESIGN else move
    illegal = ghost.race.refusal(PLAYER, move)
    if illegal:
        return ghost, iter([SENTENCES[Refusal(illegal)]])
    played = ghost.play(move)
    return played, describe_ghost_race(played)
