"""The standing of a race between both players: the leader, the last cards, and sentences for each change. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.text.board_text import format_time
from fairest_cli.text.move_text import describe_target
from fairest_cli.tui.board.card_style import CardStyle
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, Move
from fairest_protocol.value import Value, replace

LAST_CARDS: Final = 5
"""From this number of missing cards on, each one is counted down."""


class Standing(Value):
    """Both counts, ours first, and the seat of the last leader: 0 for us, 1 for the other player, None at first."""

    counts: tuple[int, int]
    goal: int
    leader: int | None = None

    def after(self, counts: tuple[int, int]) -> "Standing":
        """Return the standing with these counts. While both are level, the last leader is kept."""
        ahead = None if counts[0] == counts[1] else int(counts[1] > counts[0])
        return replace(self, counts=counts, leader=self.leader if ahead is None else ahead)

    def missing(self, seat: int) -> int:
        """Return the number of cards that a player has not placed yet."""
        return self.goal - self.counts[seat]


def has_new_leader(before: Standing, now: Standing) -> bool:
    """Whether another player leads than before; the first lead of a race is none."""
    return before.leader is not None and now.leader != before.leader


def describe_race_change(before: Standing, now: Standing, other_name: str) -> Iterator[str]:
    """Yield a sentence for a change of lead, and for each player who comes closer to the end by one of the last cards.

    Nothing is said of a count that has reached the goal: the race is over then.
    """
    if has_new_leader(before, now):
        lead = abs(now.counts[0] - now.counts[1])
        yield f"You take the lead by {lead}." if now.leader == 0 else f"{other_name} takes the lead by {lead}."
    for seat, name in enumerate(("", f"{other_name}: ")):
        missing = now.missing(seat)
        if 0 < missing <= LAST_CARDS and missing < before.missing(seat):
            yield f"{name}{missing} card{'s' * (missing > 1)} to go."


def completed_foundations(before: Board, now: Board) -> list[int]:
    """Return the foundations that are complete now and were not before."""
    pairs = zip(before.next_ranks(), now.next_ranks(), strict=True)
    return [number for number, (was, wanted) in enumerate(pairs) if was is not None and wanted is None]


def describe_play(move: Move, card: Card | None, completed: Sequence[int], card_style: CardStyle) -> str:
    """Return where the card of a move of ours goes, and which foundations it completes. Without a card, it redeals."""
    played = "The waste becomes the stock." if card is None else f"{card_style.name(card)} {describe_target(move)}."
    return " ".join([played, *(f"Foundation {FOUNDATION_DIGITS[number]} is complete!" for number in completed)])


def describe_needs(counts: tuple[int, int], other_name: str) -> tuple[str, str]:
    """Return what the other player still needs once our race is over: in a sentence, and in few words."""
    needed = counts[0] - counts[1] + 1
    if needed <= 0:
        return f"{other_name} is {1 - needed} ahead", f"{1 - needed} ahead"
    return f"{other_name} needs {needed} more to win", f"{needed} more to win"


def describe_own_end(board: Board, counts: tuple[int, int], other_name: str, seconds: float | None) -> tuple[str, ...]:
    """Return why our race is over, what the other player needs and how long it has; the longest wording first."""
    why = "Every card is placed." if board.is_won else "No card fits any more." if board.is_stuck else "You stopped."
    needs, short = describe_needs(counts, other_name)
    left = "" if seconds is None else f" and has {format_time(seconds)} left"
    short_left = "" if seconds is None else f", {format_time(seconds)} left"
    return (
        f"{why} You placed {board.placed}; {needs}{left}.",
        f"{why} {board.placed} placed; {needs}{short_left}.",
        f"You placed {board.placed}; {needs}{left}.",
        f"{board.placed} placed; {needs}{short_left}.",
        f"{board.placed}; {other_name}: {short}{short_left}",
        f"{board.placed}; {short}{short_left}",
    )


def describe_wait(other_name: str) -> tuple[str, ...]:
    """Return that the other player may still be first since distance is credited; the longest wording first."""
    return (
        f"Every card is placed. {other_name} is farther away and may still be first: the result comes within seconds.",
        f"Every card is placed. {other_name} may still be first by distance.",
        "Every card is placed; the result comes within seconds.",
        "Every card is placed.",
    )


def describe_finish_asked(other_name: str) -> tuple[str, ...]:
    """Return that the other player has finished and asks us to do so too, with the key; the longest wording first."""
    return (
        f"{other_name} has finished and asks you to finish: Space, then Enter, stops your race here.",
        f"{other_name} asks you to finish: Space, then Enter, to stop here.",
        f"{other_name} asks you to finish: Space to stop.",
        "You are asked to finish: Space to stop.",
    )


def describe_other(name: str, count: int, goal: int, ours: int, *, has_stopped: bool, is_away: bool) -> tuple[str, ...]:
    """Return the state of the other player for the head of its board, the longest wording first.

    The count of a player that has stopped is what the last tick said. More cards win, so that count and one is needed.
    """
    if has_stopped:
        needed = count + 1 - ours
        if needed > 0:
            wins = f"{needed} more to win"
            return f"{name} has stopped at {count}: {wins}", f"stopped at {count}: {wins}", f"stopped: {wins}"
        return f"{name} has stopped at {count}: you are ahead", f"stopped at {count}: you lead"
    if is_away:
        return (f"{name} is away",)
    return f"{name} {count} of {goal} shown", f"{count} of {goal} shown"
