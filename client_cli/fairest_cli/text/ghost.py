"""A race against a ghost, in lines: what is typed, and what is printed. Pure."""

from collections.abc import Iterator
from typing import Final

from fairest_cli.analysis.ghost import GHOST, PLAYER, GhostRace
from fairest_cli.text.board_text import ENDINGS, describe_board, describe_score, format_time
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.messages.refusals import SENTENCES, Refusal

HELP: Final = """\
You race the moves of a record, in the time in which they were made. Nothing can
be taken back. A move is a source and a target: s1, sa, b4; redeal where allowed.
  ghost   show its board, up to the card that you have turned
  board   show your board again
  stop    keep the cards that you have placed
  quit    leave"""


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
    yield f"you: {own} of {ghost.race.racers[PLAYER].board.goal} cards; {clean(ghost.name)}: {its}{how}"
    if not ghost.race.racers[PLAYER].ending:
        yield from describe_board(ghost.race.racers[PLAYER].board)


def describe_end(ghost: GhostRace, now_ms: int) -> Iterator[str]:
    """Yield the result of a race that is over."""
    yield f"{format_time(now_ms / 1000)} The race is over."
    outcome, name = ghost.race.outcome(), clean(ghost.name)
    if outcome.winner is None:
        yield "A draw."
    else:
        yield f"You win against {name}." if outcome.winner == PLAYER else f"{name} wins."
    for who, score in zip(("you", ghost.name), outcome.scores, strict=True):
        yield from describe_score(who, score)


def _describe_ghost_board(ghost: GhostRace) -> Iterator[str]:
    yield f"{clean(ghost.name)}, as far as your own turn goes:"
    yield from describe_board(ghost.shown_board)


def _play(ghost: GhostRace, move: Move) -> tuple[GhostRace, Iterator[str]]:
    if ghost.race.racers[PLAYER].ending:
        return ghost, iter(["Your race has ended."])
    illegal = ghost.race.refusal(PLAYER, move)
    if illegal:
        return ghost, iter([SENTENCES[Refusal(illegal)]])
    played = ghost.play(move)
    return played, describe_ghost_race(played)
