"""The questions that a person types during a race, each a word, and the lines that answer them. Pure."""

from collections.abc import Callable, Iterator

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.text.absence import describe_missing
from fairest_cli.text.brief_narration import describe_counts_of_cards, describe_piles, describe_turned, describe_wanted
from fairest_cli.text.narration import describe_boards, describe_time_left, player_name
from fairest_protocol.calculation.board import Board


def answer_question(word: str, model: KnownRoom, now_ms: int) -> Iterator[str] | None:
    """Return the lines that answer the question `word`, None if it is not one. `now_ms` is that of our own clock."""
    match word:
        case "" | "board":
            return describe_boards(model)
        case "wanted":
            return _about_boards(model, lambda board: iter((f"{describe_wanted(board)}.", describe_turned(board))))
        case "piles":
            return _about_boards(model, describe_piles)
        case "score":
            return iter([describe_counts_of_cards(model)])
        case "time":
            return filter(None, (describe_time_left(model, now_ms), describe_missing(model, now_ms)))
        case "words":
            return iter([" ".join(model.seal_check.check_words) or "There are no check words before the deal."])
        case _:
            return None


def _about_boards(model: KnownRoom, describe: Callable[[Board], Iterator[str]]) -> Iterator[str]:
    """Yield lines about our own board; for a spectator about both, each after its player's name."""
    boards = [(number, seat.board) for number, seat in enumerate(model.scene.seats)] if model.scene else []
    shown = [(number, board) for number, board in boards if board is not None and model.seat in (None, number)]
    if not shown:
        yield "There are no cards yet."
    for number, board in shown:
        if model.seat is None:
            yield f"{player_name(model, number)}:"
        yield from describe(board)
