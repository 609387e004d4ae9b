"""`fairest analyse`: from a file, in lines and as JSON, and what it says of a file that is no record."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fairest_cli.commands.main import app
from fairest_cli.exit_codes import FAULT
from tests.support.records import make_record, text_of


@pytest.fixture(scope="module")
def record_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "match.jsonl"
    path.write_text(text_of(make_record(3)))
    return path


def analyse(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["analyse", "--roll-outs", "3", *map(str, arguments)])


@pytest.fixture(scope="module")
def lines(record_file: Path) -> str:
    return analyse(record_file, "--seat", 1, "--games", 1, "--solution").stdout


def test_the_analysis_names_three_moves_with_their_boards(lines: str) -> None:
    assert [f"  {number}. at " in lines for number in (1, 2, 3)] == [True] * 3
    assert lines.count("the turned card") == 3


def test_the_analysis_has_the_line_that_wins(lines: str) -> None:
    assert "this deal can be won, in 76 moves." in lines


@pytest.mark.long
def test_the_analysis_says_how_hard_the_deal_is(lines: str) -> None:
    assert "The club rival" in lines


def test_no_line_of_the_analysis_is_wider_than_eighty_columns(lines: str) -> None:
    assert max(map(len, lines.splitlines())) <= 80


def test_the_analysis_of_one_seat_leaves_out_the_other(lines: str) -> None:
    assert "ann: the chance" in lines
    assert "bob: the chance" not in lines


def test_json_holds_each_move_with_its_chances(record_file: Path) -> None:
    told = json.loads(analyse(record_file, "--seat", 2, "--games", 0, "--json").stdout)
    seat = told["rounds"][0]["seats"][0]
    assert (seat["seat"], told["rounds"][0]["difficulty"]) == (1, None)
    assert all(0 <= move["chance"] <= move["best_chance"] <= 1 for move in seat["moves"])


def test_a_file_that_is_no_record_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "no-record.jsonl"
    path.write_text("{}\n")
    result = analyse(path)
    assert result.exit_code == FAULT
    assert "is not a valid record" in result.stderr


def test_an_analysis_of_a_seat_that_does_not_exist_is_refused(record_file: Path) -> None:
    assert analyse(record_file, "--seat", 3).exit_code == 2


def ghost(*arguments: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["ghost", *map(str, arguments)], input=typed)


def test_a_ghost_is_raced_from_a_record(record_file: Path) -> None:
    result = ghost(record_file, "--seat", 2, typed="sa\nghost\nquit\n")
    assert result.exit_code == 0
    assert "bob, as far as your own turn goes:" in result.stdout


def test_a_ghost_of_a_round_that_does_not_exist_is_refused(record_file: Path) -> None:
    result = ghost(record_file, "--round", 7)
    assert (result.exit_code, "has no round 7" in result.stderr) == (FAULT, True)


def test_the_training_deal_of_the_day_is_practised() -> None:
    result = CliRunner().invoke(app, ["practice", "--daily"], input="quit\n")
    assert "seed daily 20" in result.stdout


def test_the_training_deal_takes_no_other_seed() -> None:
    assert CliRunner().invoke(app, ["practice", "--daily", "--seed", "abc"]).exit_code == 2
