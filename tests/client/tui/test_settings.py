"""The settings file: private to its owner, and never a reason not to start."""

from pathlib import Path

from fairest_cli.tui.settings import Colours, Keys, Settings, load_settings, save_settings

CHOSEN = Settings(keys=Keys.HOME_ROW, hints=False, colours=Colours.FOUR, sound=True)


def test_settings_are_read_as_they_were_saved(tmp_path: Path) -> None:
    save_settings(CHOSEN, tmp_path / "fairest" / "settings.json")
    assert load_settings(tmp_path / "fairest" / "settings.json") == (CHOSEN, "")


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    save_settings(CHOSEN, path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_without_a_file_the_defaults_apply(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "settings.json") == (Settings(), "")


def test_a_broken_file_gives_the_defaults_and_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"hints": fal')
    settings, sentence = load_settings(path)
    assert settings == Settings()
    assert "it is not valid JSON" in sentence


def test_a_file_that_is_not_text_gives_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"\xff\xfe{}")
    assert load_settings(path)[0] == Settings()


def test_unknown_settings_are_named_and_the_others_are_used(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"hints": false, "colours": "pink", "wings": 2, "sound": "yes"}')
    settings, sentence = load_settings(path)
    assert settings == Settings(hints=False)
    assert "colours, wings, sound" in sentence


def test_a_hostile_name_in_the_file_is_cleaned(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"\\u001b[2J": 1}')
    assert "\x1b" not in load_settings(path)[1]
