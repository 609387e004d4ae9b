"""The history lists the matches of a folder, the newest first, with a line for people on each."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairest_cli.records.history import PastMatch, describe_history, describe_match, past_matches
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.calculation.record import Record
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.records import text_of


@pytest.fixture(scope="module")
def record() -> Record:
    return staged.finished().record()


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have this machine keep the time of Greenwich."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def outcome_of(record: Record) -> Outcome:
    outcome = record.rounds[0].outcome
    assert outcome is not None
    return outcome


def write_files(folder: Path, count: int) -> None:
    """Write files that are not records; the higher the number in a name, the later the file was written."""
    for number in range(count):
        path = folder / f"{number:03}.jsonl"
        path.write_text("")
        os.utime(path, (number, number))


def won_by(record: Record, *winners: int | None) -> Record:
    """Return a record with a round for each of these winners."""
    (played,) = record.rounds
    outcome = outcome_of(record)
    rounds = tuple(replace(played, outcome=replace(outcome, winner=winner)) for winner in winners)
    return replace(record, rounds=rounds)


def describe(record: Record) -> str:
    return describe_match(PastMatch(Path("race.jsonl"), record))


def test_the_newest_file_comes_first(tmp_path: Path) -> None:
    write_files(tmp_path, 3)
    assert [match.path.stem for match in past_matches(tmp_path)] == ["002", "001", "000"]


def test_no_more_files_than_the_limit_are_read(tmp_path: Path) -> None:
    write_files(tmp_path, 3)
    assert [match.path.stem for match in past_matches(tmp_path, 2)] == ["002", "001"]


def test_two_hundred_files_are_read_by_default(tmp_path: Path) -> None:
    write_files(tmp_path, 202)
    assert len(past_matches(tmp_path)) == 200


def test_other_files_and_folders_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    assert past_matches(tmp_path) == []


def test_a_file_where_the_folder_should_be_holds_no_matches(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("")
    assert past_matches(tmp_path / "records") == []


def test_a_record_that_was_read_has_no_problem(tmp_path: Path, record: Record) -> None:
    path = tmp_path / "race.jsonl"
    path.write_text(text_of(record))
    assert past_matches(tmp_path) == [PastMatch(path, record)]


@pytest.mark.usefixtures("utc")
def test_the_date_is_that_of_the_end_of_the_match(record: Record) -> None:
    finished = replace(record, finished_at_ms=1_700_000_000_000)
    assert describe(finished).startswith("2023-11-14 22:13  ann against bob: ")


def test_a_broken_file_is_named_with_its_problem() -> None:
    assert describe_match(PastMatch(Path("here/race.jsonl"), None, "line 2 is torn")) == "race.jsonl: line 2 is torn"


@pytest.mark.parametrize(("winner", "result"), [(0, "ann won"), (1, "bob won"), (None, "a draw")])
def test_the_result_of_one_round_is_its_winner_and_the_cards_placed(
    record: Record, winner: int | None, result: str
) -> None:
    counts = " to ".join(str(score.placed) for score in outcome_of(record).scores)
    assert describe(won_by(record, winner)).endswith(f"ann against bob: {result}, {counts}  (classic)")


def test_the_result_of_several_rounds_is_how_many_each_player_won(record: Record) -> None:
    assert describe(won_by(record, 1, 0, None, 1)).endswith("ann against bob: 1 rounds to 2  (classic)")


def test_a_round_that_was_called_off_does_not_count(record: Record) -> None:
    (played,) = record.rounds
    called_off = replace(played, outcome=None)
    assert describe(replace(record, rounds=(called_off, played))) == describe(record)


def test_each_match_has_the_command_that_replays_it(record: Record) -> None:
    match = PastMatch(Path("here/race.jsonl"), record)
    assert list(describe_history([match])) == [describe_match(match), "    fairest replay here/race.jsonl"]


def test_a_folder_without_records_says_how_to_have_one() -> None:
    assert list(describe_history([])) == ["There are no records here yet. Race a bot: fairest play"]


def test_a_broken_file_has_a_problem_and_no_record(tmp_path: Path) -> None:
    (tmp_path / "race.jsonl").write_text("{")
    (match,) = past_matches(tmp_path)
    assert (match.record, bool(match.problem)) == (None, True)


def test_a_time_that_the_system_cannot_show_ends_nothing(record: Record) -> None:
    told = describe(replace(record, finished_at_ms=2**53 - 1))
    assert told.startswith("at a time that this system cannot show  ann against bob: ")
