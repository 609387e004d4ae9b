"""A disk without room costs no race: files are written as far as they can be, and saved elsewhere afterwards."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from fairest_cli.records.files import load_record
from fairest_cli.records.receipts import Receipt, read_receipt
from fairest_cli.session.identity import open_identity
from fairest_cli.session.saving import NewProblems, describe_unsaved, save_elsewhere
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.from_server import MatchRecord
from tests.client.records.test_receipts import KNOWN, MOVE, snapshot
from tests.client.tui.test_full_screen import CALM, racing
from tests.support import staged
from tests.support.full_disk import fill, no_file_longer_than, small_disk
from tests.support.processes import CLIENT_COMMAND
from tests.support.real_terminal import RealTerminal
from tests.support.wire_client import open_client

MOVES_TO_FILL_A_PAGE = 25


def match_record() -> MatchRecord:
    record = staged.finished().record()
    return MatchRecord(match=record.match_id, lines=tuple(record.lines()))


def begun_receipt(folder: Path) -> Receipt:
    receipt = Receipt(folder)
    receipt.add_heard(snapshot(), KNOWN, 7)
    return receipt


def test_a_receipt_is_saved_elsewhere_with_the_lines_that_it_lacks(tmp_path: Path) -> None:
    receipt = begun_receipt(tmp_path / "full")
    assert receipt.path is not None
    with no_file_longer_than(receipt.path.stat().st_size):
        receipt.add_said(MOVE, 8)
    (copy,) = save_elsewhere(str(tmp_path / "there"), None, receipt)
    receipt.close()
    assert len(list(read_receipt(copy))) == 3


def test_a_record_is_saved_in_a_folder_that_a_person_names(tmp_path: Path) -> None:
    (path,) = save_elsewhere(f"{tmp_path}/new/folder", match_record(), None)
    assert load_record(path).room == staged.ROOM


@pytest.mark.parametrize(
    ("folder", "record", "sentence"),
    [("", True, "Name a folder"), ("x", False, "nothing to save"), ("/dev/null/x", True, "Name another folder")],
)
def test_what_cannot_be_saved_is_explained(tmp_path: Path, folder: str, record: bool, sentence: str) -> None:
    try:
        save_elsewhere(folder and str(tmp_path / folder), match_record() if record else None, None)
        said = ""
    except (OSError, ValueError) as reason:
        said = describe_unsaved(folder, reason)
    assert sentence in said


def test_a_problem_is_told_once() -> None:
    problems = NewProblems()
    assert [problems.among("full", ""), problems.among("full"), problems.among("full", "more")] == ["full", "", "more"]


def test_a_player_who_cannot_be_stored_plays_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with open_identity("ws://there:1", None, file) as identity:
        identity.keep_token("A" * 43)
        assert "you cannot come back to your seat" in identity.problem


def test_a_token_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    with open_identity("ws://there:1", None, tmp_path) as identity, no_file_longer_than(10):
        identity.keep_token("A" * 43)
        assert "you cannot come back to your seat" in identity.problem
        assert identity.token == "A" * 43


@pytest.mark.long
async def test_a_race_on_the_full_screen_ends_with_a_result_and_the_record_is_saved_elsewhere(
    server_url: str, home: Path
) -> None:
    (home / "data").write_text("a file in the place of the folder")
    async with racing(server_url, home) as (player, rival):
        await player.press("a")
        await rival.play("stop")
        await player.press("escape", "down", "enter")
        await player.is_on(ResultScreen)
        await player.sees("could not be saved")
        await player.press("w")
        await player.is_on(TextPrompt)
        await player.press("ctrl+u", *"/dev/null", "enter")
        await player.sees("Nothing could be saved in")
        await player.press("ctrl+u", *str(home / "there"), "enter")
        await player.is_on(ResultScreen)
        assert len(list((home / "there").glob("*.jsonl"))) == 2


def in_lines(player: RealTerminal, disk: Path, elsewhere: Path) -> None:
    player.type(b"sa\r")
    player.sees("on pile a")
    fill(disk)
    # The last page of the receipt has room for some lines more.
    player.type(MOVES_TO_FILL_A_PAGE * b"sb\r")
    player.read_until(lambda written: b"could not be written: No space left on device. The race goes on." in written)
    player.type(b"stop\r")
    player.sees("The record could not be saved")
    player.type(f"save {elsewhere}\r".encode())
    player.sees("Saved ")


def on_the_full_screen(player: RealTerminal, disk: Path, _: Path) -> None:
    player.type(b"a")
    player.sees("on pile a")
    fill(disk)
    # A key that comes before the next card is refused, so it is pressed again with each output.
    while not any("Not saved; the race goes on" in line for line in player.lines):
        player.type(b"b")
        player.read_more()
    player.type(b"\x1b")
    player.sees("Back to the race")
    player.type(b"\x1b[B\r")
    player.sees("The record could not be saved")
    player.type(b"w")
    player.sees("Folder to save")
    player.sees("~/")
    player.type(b"there\r")
    player.sees("The record was checked as well", "~/there")


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "play"), [(["--plain"], in_lines), ([], on_the_full_screen)], ids=("lines", "full screen")
)
async def test_a_disk_that_fills_up_in_a_race_costs_only_the_files(
    server_url: str, tmp_path: Path, options: list[str], play: Callable[[RealTerminal, Path, Path], None]
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with open_client(server_url) as rival:
            shown = await rival.enter(Create(options=CALM))
            command = [*CLIENT_COMMAND, "join", shown.room, "--server", server_url, *options]
            player = RealTerminal(tmp_path, command, size=(120, 40), environment={"XDG_DATA_HOME": str(disk)})
            try:
                await asyncio.to_thread(player.sees, "Press Enter when you are ready")
                player.type(b"\r")
                await rival.take_part_in_deal()
                await asyncio.to_thread(player.sees, "Go!")
                await rival.play("stop")
                await asyncio.to_thread(play, player, disk, tmp_path / "there")
                assert len(list((tmp_path / "there").glob("*.jsonl"))) == 2
            finally:
                player.close()
