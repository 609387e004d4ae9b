"""The best run on a deal is kept as one small file, which is replaced only by a better one and never trusted."""

import hashlib
import json
from pathlib import Path

import pytest

from fairest_cli.model.run import BadRun, Run
from fairest_cli.records.best_runs import keep_best_run, load_best_run
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import Rules, choose_rules
from fairest_protocol.calculation.solver import solve_race

RULES = choose_rules("classic")
SEED = bytes(31) + b"\x03"
LINE = solve_race(start_race(RULES, make_deal(RULES, SEED), seats=1), 0).line


def run_of(moves: int, step_ms: int = 1000) -> Run:
    return Run(RULES, SEED, tuple((step_ms * at, move) for at, move in enumerate(LINE[:moves], 1)))


def stored(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_a_run_is_loaded_as_it_was_kept(tmp_path: Path) -> None:
    assert keep_best_run(run_of(len(LINE)), tmp_path)
    assert load_best_run(RULES, SEED, tmp_path) == run_of(len(LINE))


def test_only_a_better_run_replaces_the_best_one(tmp_path: Path) -> None:
    assert keep_best_run(run_of(len(LINE), 2000), tmp_path)
    assert not keep_best_run(run_of(len(LINE), 3000), tmp_path)
    assert not keep_best_run(run_of(len(LINE) - 1, 10), tmp_path)
    assert keep_best_run(run_of(len(LINE), 1999), tmp_path)
    assert load_best_run(RULES, SEED, tmp_path) == run_of(len(LINE), 1999)


def test_another_deal_has_no_best_run(tmp_path: Path) -> None:
    keep_best_run(run_of(5), tmp_path)
    assert load_best_run(RULES, bytes(32), tmp_path) is None
    assert load_best_run(choose_rules("broken"), SEED, tmp_path) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"moves": [[1, "a1"]]},
        {"moves": [[1, "nonsense"]]},
        {"moves": [[5, "sa"], [4, "sb"]]},
        {"moves": 7},
        {"seed": "xyz"},
        {"seed": "00"},
        {"rules": "chess"},
        {"piles": 99},
        {"format": 2},
    ],
    ids=str,
)
def test_a_file_that_holds_no_run_on_the_deal_is_refused_and_replaced(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    keep_best_run(run_of(5), tmp_path)
    path = stored(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    with pytest.raises(BadRun):
        load_best_run(RULES, SEED, tmp_path)
    assert keep_best_run(run_of(2), tmp_path)
    assert load_best_run(RULES, SEED, tmp_path) == run_of(2)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    keep_best_run(run_of(5), tmp_path)
    stored(tmp_path).write_bytes(b" " * 2**17)
    with pytest.raises(BadRun, match="larger than a run"):
        load_best_run(RULES, SEED, tmp_path)


def test_a_run_against_the_rules_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(BadRun):
        keep_best_run(Run(RULES, SEED, ((1, MOVES["a1"]),)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_file_is_private(tmp_path: Path) -> None:
    keep_best_run(run_of(5), tmp_path / "runs")
    assert stored(tmp_path / "runs").stat().st_mode & 0o077 == 0


def test_a_run_is_a_file_of_its_variant_and_deal_in_the_players_folder(home: Path) -> None:
    keep_best_run(run_of(2))
    digest = hashlib.sha256(f"4 0 {SEED.hex()}".encode()).hexdigest()
    path = stored(home / "data" / "fairest" / "runs")
    assert (path.name, load_best_run(RULES, SEED)) == (f"classic-{digest[:16]}.json", run_of(2))


def test_the_file_is_as_short_as_json_allows(tmp_path: Path) -> None:
    keep_best_run(run_of(1), tmp_path)
    head = '{"format":1,"rules":"classic","piles":4,"redeals":0,"seed":"'
    assert stored(tmp_path).read_text() == f'{head}{SEED.hex()}","moves":[[1000,"{LINE[0].text}"]]}}'


@pytest.mark.parametrize("rules", [choose_rules("classic", 5), choose_rules("classic", None, 1)], ids=str)
def test_the_same_seed_with_other_piles_or_redeals_is_another_deal(tmp_path: Path, rules: Rules) -> None:
    keep_best_run(run_of(5), tmp_path)
    assert load_best_run(rules, SEED, tmp_path) is None


def test_the_run_of_another_deal_in_the_place_of_a_run_is_refused(tmp_path: Path) -> None:
    other = Run(RULES, bytes(32), ())
    keep_best_run(other, tmp_path)
    misplaced = stored(tmp_path).read_text()
    keep_best_run(run_of(5), tmp_path / "ours")
    stored(tmp_path / "ours").write_text(misplaced)
    with pytest.raises(BadRun, match=r"^it is a run on another deal$"):
        load_best_run(RULES, SEED, tmp_path / "ours")


def test_a_file_of_64_kibibytes_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    keep_best_run(run_of(5), tmp_path)
    path = stored(tmp_path)
    path.write_bytes(path.read_bytes().ljust(2**16))
    assert load_best_run(RULES, SEED, tmp_path) == run_of(5)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(BadRun, match=r"^the file is larger than a run can be, 64 KiB$"):
        load_best_run(RULES, SEED, tmp_path)


def test_a_file_of_a_later_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    keep_best_run(run_of(5), tmp_path)
    stored(tmp_path).write_text(stored(tmp_path).read_text().replace('"format":1', '"format":2'))
    with pytest.raises(BadRun, match=r"^the file has the format 2, and this version reads 1$"):
        load_best_run(RULES, SEED, tmp_path)


def test_an_equal_run_does_not_replace_the_best_one(tmp_path: Path) -> None:
    keep_best_run(run_of(5), tmp_path)
    assert keep_best_run(run_of(5), tmp_path) is False
