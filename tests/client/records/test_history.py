"""The history reads the heads and the results of a folder's records, quickly, and believes none of them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.records.history import PastMatch, PastRound, each_past_match, last_lost_round, past_matches, seat_of
from fairest_cli.records.own_names import own_names
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.record import Record
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.records import make_record, text_of


@pytest.fixture(scope="module")
def record() -> Record:
    return staged.finished().record()


def write_files(folder: Path, count: int) -> None:
    """Write files that are not records; the higher the number in a name, the later the file was written."""
    for number in range(count):
        path = folder / f"{number:03}.jsonl"
        path.write_text("")
        os.utime(path, (number, number))


def read(folder: Path, text: str, *own: str) -> PastMatch:
    """Write a file and return what the history reads in it."""
    (folder / "race.jsonl").write_text(text)
    (match,) = past_matches(folder, own)
    return match


def changed(record: Record, kind: str, **fields: Any) -> str:
    """Return the text of a record whose lines of this type have other values, without the chains of a real one."""
    lines = [json.loads(line) for line in record.lines()]
    return "".join(
        json.dumps({**line, **fields} if line["type"] == kind else line, separators=(",", ":")) + "\n" for line in lines
    )


def test_the_newest_file_comes_first(tmp_path: Path) -> None:
    write_files(tmp_path, 3)
    assert [match.path.stem for match in past_matches(tmp_path)] == ["002", "001", "000"]


def test_the_progress_counts_the_files_that_are_read(tmp_path: Path) -> None:
    write_files(tmp_path, 3)
    reported: list[tuple[int, int]] = []
    list(each_past_match(tmp_path, (), lambda read, of: reported.append((read, of))))
    assert reported == [(1, 3), (2, 3), (3, 3)]


def test_no_more_files_than_the_limit_are_read(tmp_path: Path) -> None:
    write_files(tmp_path, 3)
    assert [match.path.stem for match in past_matches(tmp_path, limit=2)] == ["002", "001"]


def test_all_files_are_read_by_default(tmp_path: Path) -> None:
    write_files(tmp_path, 202)
    assert len(past_matches(tmp_path)) == 202


def test_other_files_and_folders_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    assert past_matches(tmp_path) == []


def test_a_file_where_the_folder_should_be_holds_no_matches(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("")
    assert past_matches(tmp_path / "records") == []


def test_a_match_is_read_as_its_record_has_it(tmp_path: Path, record: Record) -> None:
    match = read(tmp_path, text_of(record), "BOB")
    assert (match.names, match.rules, match.finished_at_ms) == (record.names, record.rules, record.finished_at_ms)
    assert [played.outcome for played in match.rounds] == [played.outcome for played in record.rounds]
    assert (match.own_seat, match.problem) == (1, "")


def test_a_round_took_until_its_last_move(tmp_path: Path, record: Record) -> None:
    (played,) = read(tmp_path, text_of(record)).rounds
    assert played.duration_ms == record.rounds[0].events[-1].at_ms


def test_rounds_that_were_called_off_keep_their_numbers(tmp_path: Path, record: Record) -> None:
    (played,) = record.rounds
    called_off = replace(played, outcome=None, events=())
    (past,) = read(tmp_path, text_of(replace(record, rounds=(called_off, played)))).rounds
    assert past.number == 1


IMPOSSIBLE: list[tuple[str, dict[str, Any]]] = [
    ("match", {"finished_at_ms": 2**53}),
    ("match", {"finished_at_ms": -1}),
    ("match", {"names": ["ann"]}),
    ("match", {"names": [1, 2]}),
    ("match", {"terms": "no terms"}),
    ("match", {"terms": None}),
    ("result", {"winner": 2}),
    ("result", {"winner": "ann"}),
    ("result", {"scores": []}),
    ("result", {"scores": [{"placed": 9, "goal": 0, "direct": 0, "cards_turned": 1, "ending": "won"}] * 2}),
    ("result", {"scores": [{"placed": 10**9, "goal": 10**9, "direct": 0, "cards_turned": 1, "ending": "won"}] * 2}),
    ("result", {"scores": [{"placed": -9, "goal": 52, "direct": 0, "cards_turned": 1, "ending": "won"}] * 2}),
    ("result", {"scores": [{"placed": 9, "goal": 52, "direct": 0, "cards_turned": 1, "ending": "\x1b[2J"}] * 2}),
    ("move", {"at_ms": 10**18}),
    ("move", {"at_ms": "soon"}),
    ("stop", {"at_ms": 10**18}),
]
"""The type of a line, and the values in it."""


def test_a_file_with_an_impossible_value_has_a_problem(tmp_path: Path, record: Record) -> None:
    texts = [(kind, fields, changed(record, kind, **fields)) for kind, fields in IMPOSSIBLE]
    wrong = [
        (kind, fields)
        for kind, fields, text in texts
        if bool(read(tmp_path, text).problem) != (f'"type":"{kind}"' in text)
    ]
    assert wrong == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"type":"match"}', b"\0" * 5_000_000], ids=len)
def test_a_file_that_is_no_record_has_a_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "race.jsonl").write_bytes(content)
    (match,) = past_matches(tmp_path)
    assert (match.rules, bool(match.problem)) == (None, True)


def test_a_file_that_may_not_be_read_has_a_problem(tmp_path: Path) -> None:
    (tmp_path / "race.jsonl").symlink_to(tmp_path / "nowhere")
    assert past_matches(tmp_path) == []


def test_the_likeliest_of_our_names_decides_the_seat() -> None:
    assert seat_of(("ann", "bob"), ["bob", "ann"]) == 1


def test_strangers_have_no_seat_of_ours() -> None:
    assert seat_of(("ann", "bob"), ["you"]) is None


def test_our_names_are_the_chosen_one_the_guests_and_those_of_the_players_files(tmp_path: Path) -> None:
    (tmp_path / "players" / "host_8765").mkdir(parents=True)
    (tmp_path / "players" / "host_8765" / "name-zoe.json").write_text("{}")
    (tmp_path / "players" / "host_8765" / "player-1.json").write_text("{}")
    assert own_names("ann", tmp_path) == ["ann", "you", "zoe"]


def test_the_lost_deal_is_that_of_the_newest_lost_round(tmp_path: Path) -> None:
    for number in range(3):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text_of(make_record(number)))
        os.utime(path, (number, number))
    found = last_lost_round(past_matches(tmp_path, ["bob"]))
    # bob loses the first of these, 24 to 30, and wins the others.
    assert found is not None and (found[0].path.stem, found[1]) == ("0", 0)


def test_without_a_name_of_ours_no_deal_is_lost(tmp_path: Path, record: Record) -> None:
    assert last_lost_round([read(tmp_path, text_of(record))]) is None


RESULT = {
    "winner": 1,
    "scores": [
        {"placed": 23, "goal": 52, "direct": 15, "cards_turned": 48, "ending": "stuck"},
        {"placed": 25, "goal": 52, "direct": 16, "cards_turned": 48, "ending": "stuck"},
    ],
}


def compact(**fields: Any) -> str:
    return json.dumps(fields, separators=(",", ":")) + "\n"


def match_line(record: Record, finished_at_ms: int = 7) -> str:
    return compact(type="match", names=record.names, terms=record.terms.text, finished_at_ms=finished_at_ms)


ROUND_LINE, RESULT_LINE = compact(type="round"), compact(type="result", **RESULT)


def test_a_result_before_the_first_round_is_not_one(tmp_path: Path, record: Record) -> None:
    assert read(tmp_path, match_line(record) + RESULT_LINE).rounds == ()


@pytest.mark.parametrize(("rounds", "read_rounds"), [(100, 100), (101, 100)])
def test_a_hundred_rounds_of_a_match_are_read(tmp_path: Path, record: Record, rounds: int, read_rounds: int) -> None:
    text = match_line(record) + (ROUND_LINE + RESULT_LINE) * rounds
    assert [played.number for played in read(tmp_path, text).rounds] == list(range(read_rounds))


@pytest.mark.parametrize(
    ("before", "duration_ms"),
    [
        ("", 0),
        (compact(type="move", at_ms=0), 0),
        (compact(type="move", at_ms=5_000), 5_000),
        (compact(type="stop", at_ms=6_000), 6_000),
        (compact(type="stop", at_ms=None), 0),
        (compact(type="move", at_ms=9_000) + compact(type="stop"), 0),
        (compact(type="move", at_ms=253_370_764_800_000), 253_370_764_800_000),
        (compact(type="other", at_ms=5_000), 0),
    ],
)
def test_a_round_took_until_the_line_before_its_result(
    tmp_path: Path, record: Record, before: str, duration_ms: int
) -> None:
    (played,) = read(tmp_path, match_line(record) + ROUND_LINE + before + RESULT_LINE).rounds
    assert played.duration_ms == duration_ms


@pytest.mark.parametrize("at_ms", [-1, 253_370_764_800_001])
def test_a_time_that_is_not_one_is_named(tmp_path: Path, record: Record, at_ms: int) -> None:
    moved = match_line(record) + ROUND_LINE + compact(type="move", at_ms=at_ms) + RESULT_LINE
    problems = {read(tmp_path, text).problem for text in (moved, match_line(record, at_ms))}
    assert problems == {f"the time {at_ms} is not one"}


@pytest.mark.parametrize("at_ms", [0, 253_370_764_800_000])
def test_a_match_may_have_finished_at_any_time_of_a_clock(tmp_path: Path, record: Record, at_ms: int) -> None:
    assert read(tmp_path, match_line(record, at_ms)).finished_at_ms == at_ms


def score(**changes: int) -> dict[str, Any]:
    return {"placed": 9, "goal": 52, "direct": 0, "cards_turned": 1, "ending": "stuck", **changes}


SCORES: list[tuple[dict[str, int], str]] = [
    ({}, ""),
    ({"placed": 0}, ""),
    ({"placed": -1}, "a score is not one of a race"),
    ({"placed": 52}, ""),
    ({"placed": 53}, "a score is not one of a race"),
    ({"goal": 104}, ""),
    ({"goal": 105}, "a score is not one of a race"),
    ({"placed": 0, "goal": 0}, "a score is not one of a race"),
    ({"placed": 1, "goal": 1}, ""),
    ({"cards_turned": 0}, ""),
    ({"cards_turned": -1}, "a score is not one of a race"),
]
"""Changed fields of a score, and the problem of a file with them."""


def problem_with_score(folder: Path, record: Record, changes: dict[str, int]) -> str:
    result = compact(type="result", winner=None, scores=[score(), score(**changes)])
    return read(folder, match_line(record) + ROUND_LINE + result).problem


def test_a_score_is_one_that_a_race_can_have(tmp_path: Path, record: Record) -> None:
    wrong = [
        (changes, found, problem)
        for changes, problem in SCORES
        if (found := problem_with_score(tmp_path, record, changes)) != problem
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"winner": 0}, ""),
        ({"winner": 1}, ""),
        ({"winner": None}, ""),
        ({"winner": 2}, "a result is not one of two players"),
        ({"scores": [score()]}, "a result is not one of two players"),
        ({"scores": [score()] * 3}, "a result is not one of two players"),
    ],
    ids=str,
)
def test_a_result_is_one_of_two_players(tmp_path: Path, record: Record, fields: dict[str, Any], problem: str) -> None:
    result = compact(**{"type": "result", "winner": 0, "scores": [score()] * 2, **fields})
    assert read(tmp_path, match_line(record) + ROUND_LINE + result).problem == problem


@pytest.mark.parametrize(
    ("more", "problem"), [(0, ""), (1, "the file is larger than a record can be, 4 MiB")], ids=["full", "too large"]
)
def test_a_file_of_four_mebibytes_is_read(tmp_path: Path, record: Record, more: int, problem: str) -> None:
    path = tmp_path / "race.jsonl"
    path.write_text(text_of(record))
    os.truncate(path, 2**22 + more)
    (match,) = past_matches(tmp_path)
    assert match.problem == problem


def test_a_file_that_begins_otherwise_is_named(tmp_path: Path) -> None:
    assert read(tmp_path, "{}\n").problem == "the file does not begin as a record does"


def test_files_that_were_written_at_the_same_time_come_by_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.jsonl").write_text("")
        os.utime(tmp_path / f"{name}.jsonl", (7, 7))
    assert [match.path.stem for match in past_matches(tmp_path)] == ["a", "b", "c"]


def test_the_names_of_this_machines_players_are_those_of_its_data_folder(home: Path) -> None:
    folder = home / "data" / "fairest" / "players" / "host_8765"
    folder.mkdir(parents=True)
    (folder / "name-zoe.json").write_text("{}")
    assert own_names() == ["you", "zoe"]


def lost(number: int, own_seat: int | None = 0, cards_turned: int = 1, winner: int | None = 1) -> PastMatch:
    """Return a match of two rounds, of which the first was won by us."""
    scores = tuple(Score(9, 52, 0, turned, Ending.STUCK) for turned in (0, cards_turned))
    ours = 0 if own_seat is None else own_seat
    rounds = (PastRound(0, Outcome(ours, scores), 0), PastRound(1, Outcome(winner, scores), 0))
    return PastMatch(Path(f"{number}.jsonl"), rounds=rounds, own_seat=own_seat)


@pytest.mark.parametrize(
    ("matches", "found"),
    [
        ([lost(1), lost(2)], 1),
        ([lost(1, own_seat=1, winner=0)], 1),
        ([lost(1, own_seat=1), lost(2)], 2),
        ([lost(1, own_seat=None), lost(2)], 2),
        ([lost(1, winner=None), lost(2)], 2),
        ([lost(1, cards_turned=0), lost(2)], 2),
        ([lost(1, winner=0)], None),
    ],
    ids=["newest", "second seat", "won there", "strangers", "a draw", "never dealt", "won"],
)
def test_the_lost_deal_is_that_of_the_newest_round_that_we_lost_on_a_deal(
    matches: list[PastMatch], found: int | None
) -> None:
    wanted = None if found is None else (next(each for each in matches if each.path.stem == str(found)), 1)
    assert last_lost_round(matches) == wanted


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="needs a file that is there and cannot be read")
def test_a_file_that_the_system_does_not_read_has_its_words_as_problem(tmp_path: Path) -> None:
    (tmp_path / "race.jsonl").symlink_to("/proc/self/mem")
    assert [match.problem for match in past_matches(tmp_path)] == ["Input/output error"]
