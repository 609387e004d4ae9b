"""Notes of attempts at daily deals: they lead back to an attempt, and a broken file is not worth a race."""

from pathlib import Path

import pytest

from fairest_cli.model.daily_game import DailyGame
from fairest_cli.records.daily_notes import day_under_way, keep_note, load_notes
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
