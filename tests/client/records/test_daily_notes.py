"""Notes of attempts at daily deals: they lead back to an attempt, and a broken file is not worth a race."""

from pathlib import Path

import pytest

from fairest_cli.model.daily_game import DailyGame
from fairest_cli.records.daily_notes import day_under_way, keep_note, load_notes, noted_attempt
from fairest_protocol.calculation.daily import DAY_MS, day_start_ms
from fairest_protocol.value import replace
from tests.support.daily import staged_attempt

SERVER = "ws://127.0.0.1:8765"


@pytest.fixture
def game() -> DailyGame:
    return staged_attempt(4)


def test_a_note_holds_the_seal_and_the_envelopes(tmp_path: Path, game: DailyGame) -> None:
    keep_note(SERVER, "Ann", game, tmp_path)
    [note] = load_notes(SERVER, "classic", tmp_path)
    assert (note.day, note.name, note.seal, note.envelopes) == (game.day, "Ann", game.seal, game.envelopes)


def test_a_later_note_of_an_attempt_replaces_the_earlier_one(tmp_path: Path) -> None:
    over = staged_attempt(None)
    for each in (staged_attempt(4), over):
        keep_note(SERVER, "ann", each, tmp_path)
    [note] = load_notes(SERVER, "classic", tmp_path)
    assert note.result == over.result


def test_notes_of_several_names_come_with_the_newest_day_first(tmp_path: Path, game: DailyGame) -> None:
    for day, name in (("2026-01-01", "zoe"), ("2026-01-02", "ann")):
        keep_note(SERVER, name, replace(game, day=day), tmp_path)
    assert [note.day for note in load_notes(SERVER, "classic", tmp_path)] == ["2026-01-02", "2026-01-01"]


def test_an_attempt_with_time_left_is_under_way(tmp_path: Path, game: DailyGame) -> None:
    keep_note(SERVER, "Ann", game, tmp_path)
    until_ms = game.until_ms + game.ahead_ms
    assert day_under_way(SERVER, "aNN", "classic", until_ms - 1, tmp_path) == game.day
    assert day_under_way(SERVER, None, "classic", until_ms - 1, tmp_path) == game.day


def test_an_attempt_whose_time_is_over_is_not_under_way(tmp_path: Path, game: DailyGame) -> None:
    keep_note(SERVER, "ann", game, tmp_path)
    assert day_under_way(SERVER, "ann", "classic", game.until_ms + game.ahead_ms, tmp_path) is None


def test_an_attempt_with_a_result_is_not_under_way(tmp_path: Path) -> None:
    keep_note(SERVER, "ann", staged_attempt(None), tmp_path)
    assert day_under_way(SERVER, "ann", "classic", 0, tmp_path) is None


@pytest.mark.parametrize(
    ("server", "name", "variant"),
    [("ws://127.0.0.1:8766", "ann", "classic"), (SERVER, "bob", "classic"), (SERVER, "ann", "senior")],
)
def test_a_note_of_another_server_player_or_variant_leads_nowhere(
    tmp_path: Path, game: DailyGame, server: str, name: str, variant: str
) -> None:
    keep_note(SERVER, "ann", game, tmp_path)
    assert day_under_way(server, name, variant, 0, tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"day": 1}', "\x00", '{"day": "2026-11-24", "rules": "classic", "envelopes": [["zz"]]}'],
)
def test_a_file_that_is_no_note_is_passed_over(tmp_path: Path, game: DailyGame, text: str) -> None:
    keep_note(SERVER, "ann", game, tmp_path)
    [path] = tmp_path.iterdir()
    path.with_name(path.name.replace("-ann", "-zoe")).write_text(text)
    assert [note.name for note in load_notes(SERVER, "classic", tmp_path)] == ["ann"]


def test_notes_of_an_address_with_slashes_stay_in_the_folder(tmp_path: Path, game: DailyGame) -> None:
    keep_note("ws://host/../../etc", "ann", game, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert [note.name for note in load_notes("ws://host/../../etc", "classic", tmp_path)] == ["ann"]


def test_notes_are_kept_with_the_data_of_the_user(home: Path, game: DailyGame) -> None:
    keep_note(SERVER, "Ann", game)
    [path] = (home / "data" / "fairest" / "daily").iterdir()
    assert (path.name, len(list(load_notes(SERVER, "classic")))) == (f"127.0.0.1_8765-{game.day}-classic-ann.json", 1)


def test_the_end_of_an_attempt_is_noted_by_our_own_clock(tmp_path: Path, game: DailyGame) -> None:
    keep_note(SERVER, "ann", replace(game, until_ms=1_000, ahead_ms=30), tmp_path)
    assert [note.until_ms for note in load_notes(SERVER, "classic", tmp_path)] == [1_030]


def test_an_attempt_under_way_is_looked_for_in_the_folder_of_the_user(game: DailyGame) -> None:
    keep_note(SERVER, "ann", game)
    assert day_under_way(SERVER, "ann", "classic", 0) == game.day


def test_the_name_of_a_player_is_not_taken_for_a_variant(tmp_path: Path, game: DailyGame) -> None:
    keep_note(SERVER, "x-senior-y", game, tmp_path)
    assert list(load_notes(SERVER, "senior", tmp_path)) == []


def test_an_attempt_that_is_over_does_not_hide_an_older_one_that_is_under_way(tmp_path: Path, game: DailyGame) -> None:
    keep_note(SERVER, "ann", replace(staged_attempt(None), day="2026-01-02"), tmp_path)
    keep_note(SERVER, "ann", replace(game, day="2026-01-01"), tmp_path)
    assert day_under_way(SERVER, "ann", "classic", 0, tmp_path) == "2026-01-01"


def test_an_attempt_of_today_that_is_over_is_noted(tmp_path: Path) -> None:
    over = staged_attempt(None)
    keep_note(SERVER, "ann", over, tmp_path)
    note = noted_attempt(SERVER, None, "classic", day_start_ms(over.day) + DAY_MS - 1, tmp_path)
    assert note is not None and note.result == over.result


def test_an_attempt_that_is_over_is_not_noted_the_day_after(tmp_path: Path) -> None:
    over = staged_attempt(None)
    keep_note(SERVER, "ann", over, tmp_path)
    assert noted_attempt(SERVER, "ann", "classic", day_start_ms(over.day) + DAY_MS, tmp_path) is None


def test_an_attempt_under_way_is_noted_before_one_of_today(tmp_path: Path, game: DailyGame) -> None:
    # Of yesterday, over midnight: the server leads back to it only by its day.
    keep_note(SERVER, "ann", replace(game, day="2026-01-01", until_ms=day_start_ms("2026-01-02") + 9), tmp_path)
    keep_note(SERVER, "ann", replace(staged_attempt(None), day="2026-01-02"), tmp_path)
    note = noted_attempt(SERVER, "ann", "classic", day_start_ms("2026-01-02"), tmp_path)
    assert note is not None and note.day == "2026-01-01"
