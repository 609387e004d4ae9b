"""The ghost of the training deal is a rival at first, and then the player's best run."""

from datetime import date
from pathlib import Path

from fairest_cli.analysis.ghost import GhostRace
from fairest_cli.analysis.training import YOUR_BEST, keep_best, training_ghost
from fairest_cli.bots.levels import Level
from fairest_protocol.calculation.moves import STOP
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.calculation.solver import solve_race

RULES, DAY = choose_rules("classic"), date(2026, 11, 24)


def training(folder: Path, level: Level = Level.LEARNER, day: date = DAY) -> GhostRace:
    return training_ghost(RULES, day, level, folder)


def played(ghost: GhostRace, moves: int) -> GhostRace:
    """Return the race after the first moves of a line that wins, and a stop."""
    for move in solve_race(ghost.race, 0).line[:moves]:
        ghost = ghost.at(ghost.now_ms + 100).play(move)
    return ghost.play(STOP)


def test_the_first_ghost_is_a_rival_of_the_level(tmp_path: Path) -> None:
    assert training(tmp_path).name == "bot-learner"
    assert training(tmp_path, Level.CARELESS).name == "bot-careless"


def test_each_day_has_another_deal_and_the_same_one_for_everybody(tmp_path: Path) -> None:
    assert training(tmp_path) == training(tmp_path / "another")
    assert training(tmp_path, day=date(2026, 11, 25)).seed != training(tmp_path).seed


def test_the_next_ghost_is_the_best_run(tmp_path: Path) -> None:
    race = played(training(tmp_path), 20)
    assert "your best run" in keep_best(race, tmp_path)
    following = training(tmp_path)
    assert (following.name, following.finish.placed) == (YOUR_BEST, race.board.placed)


def test_a_worse_run_is_not_kept_and_not_spoken_of(tmp_path: Path) -> None:
    keep_best(played(training(tmp_path), 60), tmp_path)
    assert keep_best(played(training(tmp_path), 20), tmp_path) == ""


def test_a_run_without_a_placed_card_and_one_that_goes_on_are_not_kept(tmp_path: Path) -> None:
    fresh = training(tmp_path)
    assert keep_best(fresh.play(STOP), tmp_path) == keep_best(fresh, tmp_path) == ""
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_costs_no_race(tmp_path: Path) -> None:
    keep_best(played(training(tmp_path), 20), tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text("{")
    assert training(tmp_path).name == "bot-learner"


def test_a_folder_that_cannot_be_written_is_named_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    race = played(training(tmp_path / "elsewhere"), 20)
    assert keep_best(race, tmp_path / "runs").startswith("Your run could not be stored: ")
