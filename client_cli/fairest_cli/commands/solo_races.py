"""Races that were raced alone, shown once more: stepped through, or judged move by move."""

from fairest_cli.analysis.judging import Effort
from fairest_cli.analysis.round_analysis import analyse_round
from fairest_cli.commands.learning import end_progress, show_progress
from fairest_cli.commands.options import is_full_screen
from fairest_cli.text import replay as replaying
from fairest_cli.text.analysis import describe_analysis
from fairest_protocol.calculation.record import Record


def analyse_races(match: Record) -> None:
    """Print what each move of the races was worth."""
    seats = tuple(
        seat for seat in (0, 1) if match.rounds[0].outcome and match.rounds[0].outcome.scores[seat].cards_turned
    )
    analysis = analyse_round(match, 0, seats, Effort(), lambda done, total: show_progress(done / total))
    end_progress()
    print("\n".join(describe_analysis(match, [analysis])))


def replay_races(match: Record, *, plain: bool) -> None:
    """Open the replay of the races, or print each step."""
    if is_full_screen(plain=plain):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import AtReplay

        run_full_screen(AtReplay(match))
        return
    steps = replaying.all_steps(match)
    print("\n".join(replaying.describe_record(match)))
    for number in range(len(steps)):
        print("\n".join(replaying.describe_step(match, steps, number)))
