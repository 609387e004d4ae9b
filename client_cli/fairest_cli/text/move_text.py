"""Moves, stops and results in words, the same in a race, in practice, in a replay and in the history. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.text.board_text import ENDINGS, card_name, describe_ledger, describe_score
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS, REDEAL, RESIGN, STOP, Move
from fairest_protocol.calculation.race import Ending, Outcome

YOU: Final = "you"
"""The name of a guest in a race against the house bot, for whom verbs stand in the second person."""


def describe_move(name: str, move: Move, card: Card | None) -> str:
    """Return a player's move as a sentence without its full stop: ``house lays 6 of spades on pile a``.

    `card` is the card that is moved, None for a move that moves no single card or if the card is not known.
    """
    who, s = clean(name), "" if name == YOU else "s"
    if move is REDEAL:
        return f"{who} deal{s} the waste again"
    if move is STOP or move is RESIGN:
        return f"{who} {move.text}{s}"
    if card is not None:
        thing = card_name(card)
    else:
        thing = "a card" if move.takes_turned else f"the top of pile {PILE_LETTERS[move.source]}"
    return f"{who} {'play' if move.places else 'lay'}{s} {thing} {describe_target(move)}"


def describe_advice(board: Board, move: Move) -> str:
    """Return a move as advice to the player, with the text that makes it: ``lay 6 of spades on pile a (sa)``."""
    words = describe_move(YOU, move, board.card_of(move)).removeprefix(f"{YOU} ")
    return words if move is REDEAL else f"{words} ({move.text})"


def describe_target(move: Move) -> str:
    """Return where a move puts its card: ``to foundation 2``, ``on pile a``."""
    digit_or_letter = FOUNDATION_DIGITS[move.target] if move.places else PILE_LETTERS[move.target]
    return f"to foundation {digit_or_letter}" if move.places else f"on pile {digit_or_letter}"


def describe_stop(names: Sequence[str], ending: Ending) -> str:
    """Return that the race of these players was ended: ``ann ran out of time``."""
    return f"{' and '.join(map(clean, names))} {ENDINGS[ending]}"


def describe_winner(outcome: Outcome, names: Sequence[str], *, is_past: bool = False) -> str:
    """Return the result of a round, the winner's number first: ``ann wins, 31 to 18``, or ``you won, 31 to 18``."""
    counts = " to ".join(map(str, outcome.counts))
    if outcome.winner is None:
        return f"a draw, {counts}"
    name = names[outcome.winner]
    verb = "won" if is_past else "win" if name == YOU else "wins"
    return f"{clean(name)} {verb}, {counts}"


def describe_result(outcome: Outcome, names: Sequence[str]) -> Iterator[str]:
    """Yield the winner of a round with the numbers of cards, and the score of each player, the winner's first."""
    yield f"{describe_winner_first(outcome, names)}."
    for seat in seats_by_result(outcome):
        yield from describe_score(names[seat], outcome.scores[seat])
    yield from describe_ledger(names, outcome)


def describe_winner_first(outcome: Outcome, names: Sequence[str]) -> str:
    """Return `describe_winner` for the beginning of a sentence; a player's name stays as the player writes it."""
    words = describe_winner(outcome, names)
    begins_with_name = outcome.winner is not None and names[outcome.winner] != YOU
    return words if begins_with_name else capitalized(words)


def capitalized(words: str) -> str:
    """Return `words` with a capital as their first letter."""
    return words[:1].upper() + words[1:]


def seats_by_result(outcome: Outcome) -> list[int]:
    """Return the seats with the winner's first; after a draw, in their own order."""
    return sorted(range(len(outcome.scores)), key=lambda seat: seat != outcome.winner)


def describe_series(matches_won: Sequence[int], names: Sequence[str]) -> str:
    """Return the matches that two players have won in a room, ``Matches in this room: ann 2, bob 1``.

    Empty before the second one that somebody has won.
    """
    if sum(matches_won) < 2:
        return ""
    return "Matches in this room: " + ", ".join(
        f"{clean(name)} {count}" for name, count in zip(names, matches_won, strict=True)
    )


def describe_wins(wins: Sequence[int], names: Sequence[str]) -> str:
    """Return the result of several rounds, the winner's number first: ``ann won, 2 rounds to 1``."""
    more, fewer = max(wins), min(wins)
    rounds = "round" if more == 1 else "rounds"
    if more == fewer:
        return f"a draw, {more} {rounds} each"
    return f"{clean(names[list(wins).index(more)])} won, {more} {rounds} to {fewer}"
