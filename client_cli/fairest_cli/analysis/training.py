"""The ghost on the training deal of a day: the player's best run on it, or at first that of a rival."""

from datetime import date
from pathlib import Path
from typing import Final

from fairest_cli.analysis.ghost import GhostRace, summon_run
from fairest_cli.bots.house_room import bot_name
from fairest_cli.bots.levels import Level
from fairest_cli.bots.rival_run import rival_run
from fairest_cli.model.run import BadRun
from fairest_cli.model.seeds import daily_seed, read_seed
from fairest_cli.records.best_runs import keep_best_run, load_best_run
from fairest_protocol.calculation.rules import Rules

YOUR_BEST: Final = "your best"
"""The name of the ghost that is the player's own best run."""
STRONGEST_AT_ONCE: Final = Level.STRONG
"""The strongest level whose run is made in some seconds; an expert thinks for ten and more."""


def training_ghost(rules: Rules, day: date, level: Level, folder: Path | None = None) -> GhostRace:
    """Return the race on the training deal of `day`, against the best run stored in `folder`.

    Without one that can be read, the ghost is a rival of `level`, or of `STRONGEST_AT_ONCE` for a stronger one. The
    same day, rules and level give the same rival. It may compute for some seconds.
    """
    seed = read_seed(daily_seed(rules, day))
    try:
        best = load_best_run(rules, seed, folder)
    except (BadRun, OSError):
        # Files are not worth a race; the next run replaces this one.
        best = None
    if best is not None and best.moves:
        return summon_run(YOUR_BEST, best)
    chosen = min(level, STRONGEST_AT_ONCE, key=list(Level).index)
    return summon_run(bot_name(chosen), rival_run(chosen, rules, seed))


def keep_best(ghost: GhostRace, folder: Path | None = None) -> str:
    """Store the player's run if it is the best one on its deal; return a sentence about it, or why it is not stored.

    A run that is not over, or in which the player placed no card, is not stored, and nothing is said of it.
    """
    if ghost.is_racing or not any(move.places for _, move in ghost.own):
        return ""
    try:
        is_best = keep_best_run(ghost.run, folder)
    except OSError as reason:
        return f"Your run could not be stored: {reason.strerror or reason}."
    return "This is your best run on this deal; it is the ghost of the next one." if is_best else ""
