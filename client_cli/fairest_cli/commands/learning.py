"""The commands of `fairest` by which one learns from a recorded race: analyse and ghost."""

import json
import sys
import time
from typing import Annotated, Final

import typer

from fairest_cli.analysis.ghost import GHOST, PLAYER, GhostRace, best_seat, summon
from fairest_cli.analysis.judging import Effort
from fairest_cli.analysis.round_analysis import RoundAnalysis, analyse_round
from fairest_cli.commands.offline import QUIT, typed_lines
from fairest_cli.commands.options import Server, fail
from fairest_cli.commands.record_source import RecordSource, find_record_text
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.files import split_lines
from fairest_cli.text.analysis import analysis_json, describe_analysis
from fairest_cli.text.ghost import HELP, answer, describe_end, describe_ghost_race
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record

BAR: Final = 40
"""Columns of the progress bar."""

app = typer.Typer()


@app.command()
def analyse(
    source: RecordSource,
    server: Server = DEFAULT_SERVER,
    seat: Annotated[int | None, typer.Option(min=1, max=2, help="Only this seat, 1 or 2.")] = None,
    solution: Annotated[bool, typer.Option("--solution", help="Print the moves of a line that wins.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as one JSON object.")] = False,
    roll_outs: Annotated[
        int, typer.Option(min=1, max=10_000, help="Sampled games for each move that was possible.")
    ] = Effort().roll_outs,
    games: Annotated[
        int, typer.Option(min=0, max=1000, help="Games of the club rival that measure how hard the deal is.")
    ] = Effort().club_games,
) -> None:
    """Say what each move of a match was worth, which cost most, and whether the deal could be won.

    It takes some seconds for each round and seat. The same record and options always give the same analysis.
    """
    effort = Effort(roll_outs, max(roll_outs, Effort().close_look * roll_outs // Effort().roll_outs), games)
    text = find_record_text(source, server)
    try:
        record = read_record(split_lines(text))
        rounds = _analyse_rounds(record, (0, 1) if seat is None else (seat - 1,), effort)
    except BadRecord as reason:
        fail(f"{source} is not a valid record: {reason}")
    if not rounds:
        fail(f"{source} has no round that was dealt, so there is nothing to analyse")
    if as_json:
        print(json.dumps(analysis_json(record, rounds), separators=(",", ":")))
    else:
        print("\n".join(describe_analysis(record, rounds, shows_solution=solution)))


@app.command()
def ghost(
    source: RecordSource,
    server: Server = DEFAULT_SERVER,
    seat: Annotated[
        int | None, typer.Option(min=1, max=2, help="The seat to race, 1 or 2; else the better one.")
    ] = None,
    number: Annotated[int | None, typer.Option("--round", min=1, help="The round; else the first one dealt.")] = None,
) -> None:
    """Race a recorded player on the same deal: its moves are made when it made them. Offline."""
    text = find_record_text(source, server)
    try:
        record = read_record(split_lines(text))
        dealt = [at for at, played in enumerate(record.rounds) if played.is_dealt]
        if not dealt or (number is not None and number - 1 not in dealt):
            fail(f"{source} has no {'round' if number is None else f'round {number}'} that was dealt")
        chosen = dealt[0] if number is None else number - 1
        race = summon(record, chosen, best_seat(record, chosen) if seat is None else seat - 1)
    except BadRecord as reason:
        fail(f"{source} cannot be raced: {reason}")
    print(HELP)
    started = time.monotonic()
    print("\n".join(describe_ghost_race(race)))
    try:
        race = _race_ghost(race, started)
    except KeyboardInterrupt:
        print()
        return
    if race.race.is_over:
        print("\n".join(describe_end(race, _elapsed_ms(started))))


def _race_ghost(race: GhostRace, started: float) -> GhostRace:
    """Answer typed lines until both races are over, or the player leaves; return the race then."""
    for line in typed_lines():
        if line.strip().lower() in QUIT:
            return race
        race = race.at(_elapsed_ms(started))
        if race.race.is_over:
            return race
        race, lines = answer(race, line)
        print("\n".join(lines))
        if race.race.racers[PLAYER].ending:
            break
    else:
        return race
    return _wait_for_ghost(race, started)


def _wait_for_ghost(race: GhostRace, started: float) -> GhostRace:
    """Let the ghost make the rest of its moves in its own time; Ctrl-C leaves. Return the race when it is over."""
    while not race.race.is_over and race.next_at_ms is not None:
        time.sleep(max(0, race.next_at_ms - _elapsed_ms(started)) / 1000)
        before, race = race.counts, race.at(_elapsed_ms(started))
        if race.counts != before and sys.stdout.isatty():
            print(f"{race.name}: {race.counts[GHOST]}")
    return race


def _elapsed_ms(started: float) -> int:
    return int(1000 * (time.monotonic() - started))


def _analyse_rounds(record: Record, seats: tuple[int, ...], effort: Effort) -> list[RoundAnalysis]:
    """Analyse every round that was dealt, with a progress bar where standard error is a terminal."""
    numbers = [number for number, played in enumerate(record.rounds) if played.is_dealt]
    analyses = []
    for at, number in enumerate(numbers):

        def show(done: int, total: int, at: int = at) -> None:
            _show_progress((at + done / total) / len(numbers))

        analyses.append(analyse_round(record, number, seats, effort, show))
    _end_progress()
    return analyses


def _show_progress(share: float) -> None:
    if sys.stderr.isatty():
        full = round(share * BAR)
        print(f"\r[{'#' * full}{'.' * (BAR - full)}] {round(100 * share):3} %", end="", file=sys.stderr, flush=True)


def _end_progress() -> None:
    """Remove the bar, so that the analysis stands alone on the terminal."""
    if sys.stderr.isatty():
        print(f"\r{' ' * (BAR + 8)}\r", end="", file=sys.stderr, flush=True)
