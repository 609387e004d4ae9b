"""The commands of `fairest` by which one learns from a recorded race: analyse and ghost."""

import json
import sys
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from fairest_cli.analysis.ghost import GhostRace, best_seat, summon
from fairest_cli.analysis.judging import Effort
from fairest_cli.analysis.round_analysis import RoundAnalysis, analyse_round
from fairest_cli.analysis.training import keep_best, training_ghost
from fairest_cli.bots.offering import level_at_home
from fairest_cli.commands.offline import typed_lines
from fairest_cli.commands.options import Plain, RulesName, Server, chosen_rules, fail, is_full_screen
from fairest_cli.commands.record_source import RECORD_HELP, RecordSource, find_record_text
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.files import records_folder, split_lines
from fairest_cli.session.own_clock import OwnClock
from fairest_cli.text.analysis import analysis_json, describe_analysis
from fairest_cli.text.ghost import HELP, race_in_lines
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
    source: Annotated[str | None, typer.Argument(metavar="RECORD", help=RECORD_HELP)] = None,
    server: Server = DEFAULT_SERVER,
    seat: Annotated[
        int | None, typer.Option(min=1, max=2, help="The seat to race, 1 or 2; else the better one.")
    ] = None,
    number: Annotated[int | None, typer.Option("--round", min=1, help="The round; else the first one dealt.")] = None,
    daily: Annotated[
        bool, typer.Option("--daily", help="Today's training deal, against your best run on it, or at first a rival's.")
    ] = False,
    rules: RulesName = "classic",
    plain: Plain = False,
) -> None:
    """Race a recorded player on the same deal: its moves are made when it made them. Offline."""
    if daily == (source is not None):
        raise typer.BadParameter("name a RECORD, or race the training deal with --daily")
    if daily:
        day = datetime.now(UTC).date()
        race = training_ghost(chosen_rules(rules, None, None), day, level_at_home(records_folder()))
    else:
        race = _find_ghost(source or "", server, seat, number)
    if is_full_screen(plain=plain):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import AgainstGhost

        run_full_screen(AgainstGhost(race))
        return
    print(HELP)
    try:
        race_in_lines(race, typed_lines(), OwnClock(), print, keep_best)
    except KeyboardInterrupt:
        print()


def _find_ghost(source: str, server: str, seat: int | None, number: int | None) -> GhostRace:
    """Return the race against a player of a record; end the program with a sentence if there is none."""
    text = find_record_text(source, server)
    try:
        record = read_record(split_lines(text))
        dealt = [at for at, played in enumerate(record.rounds) if played.is_dealt]
        if not dealt or (number is not None and number - 1 not in dealt):
            fail(f"{source} has no {'round' if number is None else f'round {number}'} that was dealt")
        chosen = dealt[0] if number is None else number - 1
        return summon(record, chosen, best_seat(record, chosen) if seat is None else seat - 1)
    except BadRecord as reason:
        fail(f"{source} cannot be raced: {reason}")


def _analyse_rounds(record: Record, seats: tuple[int, ...], effort: Effort) -> list[RoundAnalysis]:
    """Analyse every round that was dealt, with a progress bar where standard error is a terminal."""
    numbers = [number for number, played in enumerate(record.rounds) if played.is_dealt]
    analyses = []
    for at, number in enumerate(numbers):

        def show(done: int, total: int, at: int = at) -> None:
            show_progress((at + done / total) / len(numbers))

        analyses.append(analyse_round(record, number, seats, effort, show))
    end_progress()
    return analyses


def show_progress(share: float) -> None:
    """Draw the progress bar, where standard error is a terminal."""
    if sys.stderr.isatty():
        full = round(share * BAR)
        print(f"\r[{'#' * full}{'.' * (BAR - full)}] {round(100 * share):3} %", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    """Remove the bar, so that the analysis stands alone on the terminal."""
    if sys.stderr.isatty():
        print(f"\r{' ' * (BAR + 8)}\r", end="", file=sys.stderr, flush=True)
