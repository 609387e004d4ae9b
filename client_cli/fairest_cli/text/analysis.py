"""The analysis of a record as lines of text, and as JSON. Pure."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Final

from fairest_cli.analysis.judging import LEAST_COST, JudgedMove
from fairest_cli.analysis.round_analysis import Difficulty, Mistake, RoundAnalysis
from fairest_cli.text.board_text import describe_board, format_time
from fairest_cli.text.move_text import describe_result
from fairest_cli.text.replay import describe_record
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.exhaustion import Verdict
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS, Move
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.solver import Solution

BARS: Final = " ▁▂▃▄▅▆▇█"
"""How high a chance is, from 0 to 1."""
CURVE: Final = 48
"""Columns of a curve of chances."""

COLUMNS: Final = 77
"""The width at which sentences are wrapped: a scroll bar fits beside them in a terminal of 80 columns."""

CHANCES: Final = (
    "A chance is the share of sampled games that a simple player wins from there. Compare chances with each other: you "
    "may win more often."
)
MOVE_CODES: Final = (
    "In a move, s is the card just turned, and letters are piles: s2 puts it on foundation 2, sb on pile b, and a2 the "
    "top of pile a on foundation 2."
)
DEALS: Final = {
    Verdict.WINNABLE: "Knowing the order of the stock, this deal can be won",
    Verdict.UNWINNABLE: "Nobody can win this deal, not even knowing the order of its stock: all moves were tried.",
    Verdict.OPEN: "No line that wins was found, knowing the order of the stock, and no proof that there is none",
}
AFTERWARDS: Final = {
    (
        Verdict.WINNABLE,
        Verdict.WINNABLE,
    ): "The deal could still be won after it, knowing the order of the stock.",
    (
        Verdict.WINNABLE,
        Verdict.UNWINNABLE,
    ): "It lost the deal: before it there was a line that wins, after it none.",
    (
        Verdict.WINNABLE,
        Verdict.OPEN,
    ): "Before it there was a line that wins, knowing the order; after it none was found.",
}


def describe_analysis(record: Record, rounds: list[RoundAnalysis], *, shows_solution: bool = False) -> Iterator[str]:
    """Yield the analysis of these rounds of a record."""
    yield from describe_record(record)
    yield from wrap(CHANCES, COLUMNS)
    yield from wrap(MOVE_CODES, COLUMNS)
    for analysis in rounds:
        yield ""
        yield f"Round {analysis.round_number + 1}"
        if analysis.outcome is not None:
            yield from describe_result(analysis.outcome, record.names)
        yield from describe_deal(analysis, shows_solution=shows_solution)
        for seat, moves in analysis.moves.items():
            yield ""
            yield from _describe_player(clean(record.names[seat]), moves, analysis.mistakes[seat])


def describe_deal(analysis: RoundAnalysis, *, shows_solution: bool) -> Iterator[str]:
    """Yield whether the deal could be won, the line that wins if wanted, and how hard the deal is."""
    solution = analysis.solution
    sentence = DEALS[solution.verdict]
    if solution.verdict is Verdict.WINNABLE:
        sentence += f", in {len(solution.line)} moves." if shows_solution else " (--solution shows how)."
    elif solution.verdict is Verdict.OPEN:
        sentence += f", among {solution.nodes:,} positions."
    yield from wrap(sentence, COLUMNS)
    if shows_solution and solution.line:
        yield from describe_line(solution.line)
    if analysis.difficulty is not None:
        yield from wrap(_describe_difficulty(analysis.difficulty), COLUMNS)


def describe_line(line: tuple[Move, ...]) -> Iterator[str]:
    """Yield the moves of a line, as practice takes them."""
    yield from wrap(" ".join(move.text for move in line), COLUMNS, initial_indent="  ", subsequent_indent="  ")


def describe_curve(moves: tuple[JudgedMove, ...]) -> str:
    """Return the chances after each move as a curve of at most `CURVE` columns."""
    columns = min(CURVE, len(moves))
    chances = [moves[at * len(moves) // columns].chance for at in range(columns)]
    return "".join(BARS[min(len(BARS) - 1, int(chance * len(BARS)))] for chance in chances)


def analysis_json(record: Record, rounds: list[RoundAnalysis]) -> dict[str, Any]:
    """Return the analysis as it is written with --json. docs/playing.md describes it."""
    return {
        "match": record.match_id,
        "room": record.room,
        "names": list(record.names),
        "rounds": [_round_json(analysis) for analysis in rounds],
    }


def _describe_difficulty(difficulty: Difficulty) -> str:
    low, high = round(100 * difficulty.low), round(100 * difficulty.high)
    return (
        f"The club rival, who does not know the order, won {difficulty.wins} of {difficulty.games} games on it: "
        f"{round(100 * difficulty.wins / difficulty.games)} %, with a confidence of 95 % between {low} and {high} %."
    )


def _describe_player(name: str, moves: tuple[JudgedMove, ...], mistakes: tuple[Mistake, ...]) -> Iterator[str]:
    if not moves:
        yield f"{name} made no move."
        return
    yield f"{name}: the chance to win after each move, from the first to the last"
    yield f"  |{describe_curve(moves)}|"
    lost = sum(judged.cost for judged in moves)
    cost = f"cost {100 * lost / len(moves):.1f} % of the chance to win."
    yield f"  1 move; it {cost}" if len(moves) == 1 else f"  {len(moves)} moves; on average one {cost}"
    if not mistakes:
        yield f"  No move cost {round(100 * LEAST_COST)} % or more."
    for number, mistake in enumerate(mistakes, 1):
        yield ""
        yield from _describe_mistake(number, mistake)


def _describe_mistake(number: int, mistake: Mistake) -> Iterator[str]:
    judged = mistake.judged
    sentence = (
        f"{number}. at {format_time(judged.at_ms / 1000)}: {_move_name(judged, judged.move)} left a chance of "
        f"{_percent(judged.chance)}; {_move_name(judged, judged.best)} would have left {_percent(judged.best_chance)}"
    )
    yield from wrap(sentence, COLUMNS, initial_indent="  ", subsequent_indent="     ")
    yield from describe_board(judged.board)
    better = " ".join(move.text for move in mistake.better)
    yield f"     better: {better}"
    after = AFTERWARDS.get((mistake.before.verdict, mistake.after.verdict))
    if after is not None:
        yield from wrap(after, COLUMNS, initial_indent="     ", subsequent_indent="     ")


def _move_name(judged: JudgedMove, move: Move) -> str:
    card = judged.board.card_of(move)
    source = "" if move.takes_turned else f"of pile {PILE_LETTERS[move.source]} "
    name = "" if card is None else f"{rank_name(rank(card))} {source}"
    to = f"foundation {FOUNDATION_DIGITS[move.target]}" if move.places else f"pile {PILE_LETTERS[move.target]}"
    return f"{move.text} ({name}to {to})" if card is not None else move.text


def _percent(chance: float) -> str:
    return f"{round(100 * chance)} %"


def _round_json(analysis: RoundAnalysis) -> dict[str, Any]:
    difficulty = analysis.difficulty
    return {
        "round": analysis.round_number + 1,
        "winner": None if analysis.outcome is None else analysis.outcome.winner,
        "solution": _solution_json(analysis.solution),
        "difficulty": None
        if difficulty is None
        else {"wins": difficulty.wins, "games": difficulty.games, "low": difficulty.low, "high": difficulty.high},
        "seats": [
            {
                "seat": seat,
                "moves": [_judged_json(judged) for judged in moves],
                "mistakes": [_mistake_json(mistake) for mistake in analysis.mistakes[seat]],
            }
            for seat, moves in analysis.moves.items()
        ],
    }


def _judged_json(judged: JudgedMove) -> dict[str, Any]:
    return {
        "event": judged.number,
        "at_ms": judged.at_ms,
        "move": judged.move.text,
        "chance": judged.chance,
        "best": judged.best.text,
        "best_chance": judged.best_chance,
    }


def _mistake_json(mistake: Mistake) -> dict[str, Any]:
    board = mistake.judged.board
    return {
        **_judged_json(mistake.judged),
        "board": {
            "foundations": [list(cards) for cards in board.foundations],
            "piles": [list(cards) for cards in board.piles],
            "turned": board.turned,
            "stock": board.stock,
        },
        "better": [move.text for move in mistake.better],
        "before": mistake.before.verdict.value,
        "after": mistake.after.verdict.value,
    }


def _solution_json(solution: Solution) -> dict[str, Any]:
    return {
        "verdict": solution.verdict.value,
        "line": [move.text for move in solution.line],
        "nodes": solution.nodes,
    }
