"""The history in words: figures first, then a line for each match, our name and the winner's number first."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairest_cli.records.history import PastMatch, past_matches
from fairest_cli.records.statistics import statistics_of
from fairest_cli.text.history import (
    describe_history,
    describe_match,
    describe_statistics,
    fit_match,
    history_as_json,
    sparkline,
)
from fairest_protocol.value import replace
from tests.client.records.test_statistics import match
from tests.support import staged
from tests.support.invoking import invoke
from tests.support.records import text_of


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have this machine keep the time of Greenwich."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def lines_of(*matches: PastMatch) -> list[str]:
    return list(describe_history(matches, statistics_of(matches)))


@pytest.mark.usefixtures("utc")
def test_the_date_is_that_of_the_end_of_the_match() -> None:
    finished = replace(match((30, 20)), finished_at_ms=1_700_000_000_000)
    assert describe_match(finished).startswith("2023-11-14 22:13  you against house: ")


@pytest.mark.parametrize(
    ("rounds", "own_seat", "result"),
    [
        ([(31, 18)], 1, "you against house: you won, 31 to 18  (classic)"),
        ([(18, 31)], 1, "you against house: house won, 31 to 18  (classic)"),
        ([(20, 20)], 0, "you against house: a draw, 20 to 20  (classic)"),
        ([(1, 2), (1, 2), (3, 2)], 0, "you against house: house won, 2 rounds to 1  (classic)"),
        ([(1, 2), (3, 2)], 0, "you against house: a draw, 1 round each  (classic)"),
    ],
    ids=str,
)
def test_we_stand_first_and_the_number_of_the_winner_too(
    rounds: list[tuple[int, int]], own_seat: int, result: str
) -> None:
    assert describe_match(match(*rounds, own_seat=own_seat)).endswith(result)


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("columns", "own_seat", "line"),
    [
        (80, 0, "2023-11-14 22:13  you against house: house won, 31 to 18  (classic)"),
        (62, 0, "2023-11-14  you against house: house won, 31 to 18  (classic)"),
        (60, 0, "2023-11-14  against house: lost, 31 to 18  (classic)"),
        (50, 0, "11-14  house: lost, 31 to 18  (classic)"),
        (38, 0, "11-14  hou.: lost, 31 to 18  (classic)"),
        (50, None, "11-14  house won, 31 to 18  (classic)"),
    ],
)
def test_a_match_in_few_columns_keeps_its_result_and_its_variant(columns: int, own_seat: int | None, line: str) -> None:
    assert fit_match(replace(match((18, 31), own_seat=own_seat), finished_at_ms=1_700_000_000_000), columns) == line


def test_a_win_over_a_rival_whose_name_ends_with_ours_stays_a_win() -> None:
    assert "joyou: won, 31 to 18" in fit_match(match((31, 18), own_seat=1, rival="joyou"), 40)


def test_a_broken_file_is_named_with_its_problem() -> None:
    broken = PastMatch(Path("here/ra\x1b[2Jce.jsonl"), problem="line 2 is \x9btorn")
    assert describe_match(broken) == "ra?[2Jce.jsonl: line 2 is ?torn"


def test_a_hostile_name_is_cleaned_and_cut() -> None:
    line = describe_match(match((30, 20), rival="\x1b[2J\u202e" + "x" * 500))
    assert "?[2J?xxx" in line and "x" * 30 not in line


def test_each_match_has_the_command_that_replays_it() -> None:
    assert "    fairest replay x.jsonl" in lines_of(match((30, 20)))


def test_a_folder_without_records_says_how_to_have_one() -> None:
    assert lines_of() == ["There are no records here yet. Race a bot: fairest play"]


def test_the_races_of_strangers_are_listed_without_figures() -> None:
    first, _ = lines_of(match((30, 20), own_seat=None))
    assert "you won, 30 to 20" in first


def test_a_time_that_the_system_cannot_show_ends_nothing() -> None:
    assert describe_match(replace(match((30, 20)), finished_at_ms=2**53 - 1)).startswith(
        "at a time that this system cannot show  you against house: "
    )


def test_the_figures_are_bests_streaks_near_misses_and_rates() -> None:
    races = [match((52, 20), duration_ms=185_000), match((46, 47)), match((30, 20), rival="bob", variant="senior")]
    assert list(describe_statistics(statistics_of(races))) == [
        "3 races: 2 won (67 %), 1 lost",
        "the last 3: ▅▇█  WLW",
        "the last race won; longest row of wins: 1",
        "1 near miss: 45 or more of 52 cards, without winning",
        "classic: 1 of 2 won (50 %); most cards 52 of 52; fastest win 3:05",
        "senior: 1 of 1 won (100 %); most cards 30 of 52",
        "against house: 1 of 2 won (50 %)",
        "against bob: 1 of 1 won (100 %)",
    ]


def test_many_rivals_are_counted() -> None:
    figures = statistics_of([match((30, 20), rival=f"bot-{number}") for number in range(11)])
    assert list(describe_statistics(figures))[-1] == "and 3 other rivals"


def test_the_sparkline_may_be_ascii() -> None:
    figures = statistics_of([match((0, 20)), match((52, 20))])
    assert (sparkline(figures.last), sparkline(figures.last, is_ascii=True)) == ("█▁", "@.")


def test_the_json_has_the_same_figures() -> None:
    matches = [match((31, 18), own_seat=1), PastMatch(Path("b.jsonl"), problem="torn")]
    told = json.loads(json.dumps(history_as_json(matches, statistics_of(matches))))
    assert (told["races"], told["won"], told["variants"][0]["most_cards"]) == (1, 1, 31)
    assert [entry.get("problem") for entry in told["matches"]] == [None, "torn"]


def test_the_command_prints_lines_or_json(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "fairest" / "records"
    folder.mkdir(parents=True)
    (folder / "race.jsonl").write_text(text_of(staged.finished().record()))
    (folder / "broken.jsonl").write_text("{\x1b[2J")
    plain, as_json = invoke(tmp_path, "history").stdout, invoke(tmp_path, "history", "--json").stdout
    assert "ann against bob: bob won, 25 to 23  (classic)" in plain and "\x1b" not in plain
    assert len(json.loads(as_json)["matches"]) == len(past_matches(folder)) == 2
