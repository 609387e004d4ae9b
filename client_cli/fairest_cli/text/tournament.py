"""Tournaments in lines of text: the standings, the pairs of a round, and what is due. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.model.tournament_game import TournamentGame
from fairest_cli.text.board_text import describe_board, format_time
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.tournaments import (
    ListedTournament,
    RaceScore,
    RunningCount,
    Tournament,
    TournamentPair,
    TournamentPhase,
    TournamentRound,
)

HELP: Final = """\
  ready      get ready for the round; an empty line does as well
  start      start the tournament, if you have created it
  table      show the standings;  round: show the pairs of the round
  leave      leave the tournament for good
  quit       end this program; `fairest tournament join CODE` leads back
In a race: s1 plays the turned card to foundation 1, sa lays it on pile a, b4
plays the top of pile b to foundation 4; redeal, board, and stop, which ends it."""
NAME_COLUMNS: Final = 20
UNRATED: Final = "A tournament changes nobody's rating."
FORMATS: Final = {"swiss": "Swiss", "round_robin": "round robin", "knockout": "knock-out"}


def describe_head(shown: Tournament) -> tuple[str, ...]:
    """Return what tournament it is, and where it stands, in one line: from the longest wording to the shortest."""
    kind, rounds = FORMATS[shown.format], f" of {shown.rounds}" if shown.rounds else ""
    where = f"round {shown.played[-1].number}{rounds}" if shown.played else _count(len(shown.standings))
    phase = describe_phase(shown.phase)
    return (
        f"Tournament {shown.code}: {kind}, {shown.rules}, {where}, {phase}",
        f"{shown.code}: {kind}, {where}, {phase}",
        f"Tournament: {where}, {phase}",
    )


def describe_phase(phase: TournamentPhase) -> str:
    """Return where a tournament stands, in words."""
    return {
        TournamentPhase.OPEN: "open",
        TournamentPhase.FILLING: "rivals enter",
        TournamentPhase.GATHERING: "players get ready",
        TournamentPhase.REVEALING: "the deck is drawn",
        TournamentPhase.RACING: "racing",
        TournamentPhase.OVER: "over",
        TournamentPhase.CANCELLED: "cancelled",
    }[phase]


def describe_standings(shown: Tournament, own: str) -> Iterator[str]:
    """Yield the table of the standings, and that it is not rated; a mark stands before our own row."""
    yield f"   rank  {'player':{NAME_COLUMNS}}  points  cards  direct  opponents"
    for row in shown.standings:
        mark, left = ">" if row.name == own else " ", "  has left" if row.has_left else ""
        yield (
            f" {mark} {row.rank:>4}  {clean(row.name):{NAME_COLUMNS}}  {describe_points(row.points):>6}"
            f"  {row.placed:>5}  {row.direct:>6}  {describe_points(row.buchholz):>9}{left}"
        )
    yield f"   {UNRATED}"


def describe_points(halves: int) -> str:
    """Return points as people write them: a win counts 1, a tie one half."""
    return f"{halves // 2}{'½' if halves % 2 else ''}" if halves != 1 else "½"


def describe_round(played: TournamentRound, counts: Sequence[RunningCount] = ()) -> Iterator[str]:
    """Yield the pairs of a round, with their scores, or while it is raced with the cards placed so far."""
    by_name = {each.name: each for each in counts}
    yield f"Round {played.number}"
    for pair in played.pairs:
        first, second = (
            _describe_side(pair, seat, by_name.get(name or "")) if name is not None else "a bye"
            for seat, name in enumerate(pair.names)
        )
        yield f"   {first}  -  {second}"


def describe_due(
    shown: Tournament,
    pair: TournamentPair | None,
    own: str,
    seconds: float,
    ready: str = "type ready",
    start: str = "Type start",
) -> str:
    """Return what the player `own`, in this pair, has to do or to wait for; `seconds` until the phase ends.

    `ready` and `start` say how that is done.
    """
    if shown.phase is TournamentPhase.OPEN:
        who = f"{start} when all are here" if shown.creator == own else f"{clean(shown.creator)} starts it"
        return f"{who}. Others enter by: fairest tournament join {shown.code}"
    if shown.phase is TournamentPhase.FILLING:
        return f"Rivals have {seconds:.0f} s to enter."
    if shown.phase in (TournamentPhase.OVER, TournamentPhase.CANCELLED) or not shown.played:
        return "The tournament is over." if shown.played else "The tournament was cancelled."
    newest = shown.played[-1]
    if pair is None:
        return f"{_count(len(newest.ready))} ready for round {newest.number}."
    other = next((name for name in pair.names if name not in (own, None)), None)
    against = f"against {clean(other)}" if other else "with a bye; the deal is yours to race as well"
    if shown.phase is TournamentPhase.GATHERING and all(each.name != own for each in newest.ready):
        return f"Round {newest.number}: you race {against}. Get ready within {seconds:.0f} s: {ready}."
    if shown.phase is TournamentPhase.RACING:
        return f"Round {newest.number}: you race {against}."
    return f"Round {newest.number}: you are ready, {against}."


def describe_race(game: TournamentGame, seconds_left: float) -> Iterator[str]:
    """Yield the head, the board, and the result of our race."""
    board = game.board
    left = f", {format_time(seconds_left)} left" if game.result is None else ""
    yield ""
    yield f"Round {game.number} of {game.code}: {board.placed} of {board.goal} cards{left}"
    yield from describe_board(board)
    if game.result is not None:
        yield f"Your race is over: {describe_score(game.result)}. The round ends when all races have."


def describe_score(score: RaceScore) -> str:
    """Return a score in words."""
    won = "every card" if score.won else f"{score.placed} cards"
    return f"{won}, {score.direct} straight, {format_time(score.time_ms / 1000)}"


def describe_list(rows: Sequence[ListedTournament]) -> Iterator[str]:
    """Yield the tournaments of a server that are open or under way."""
    if not rows:
        yield "No tournament is open or under way. Create one: fairest tournament create"
        return
    for row in rows:
        where = f"round {row.round}" if row.round else f"{row.players} of {row.most_players} players"
        kind = FORMATS[row.format]
        yield f"{row.code:30}  {kind:11}  {row.rules:10}  {where}, {describe_phase(row.phase)}, by {clean(row.creator)}"


def _count(players: int) -> str:
    return "1 player" if players == 1 else f"{players} players"


def _describe_side(pair: TournamentPair, seat: int, count: RunningCount | None) -> str:
    name, score = clean(pair.names[seat] or ""), pair.scores[seat]
    if pair.points is not None:
        points = describe_points(pair.points[seat])
        return f"{name} {points} ({describe_score(score)})" if score is not None else f"{name} {points}"
    if count is None:
        return name
    return f"{name} {count.placed}{', ended' if count.ended else ''}"
