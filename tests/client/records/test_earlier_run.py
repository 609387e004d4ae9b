"""The end of the run of the client before this one, as its receipt has it."""

import json
from pathlib import Path

import pytest

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_cli.records.earlier_run import EarlierRun, read_earlier_run
from fairest_cli.records.receipt_replay import BadReceipt
from fairest_cli.records.receipts import Receipt
from fairest_protocol.messages.from_server import Snapshot, View
from fairest_server.room.view import scene, view
from tests.support import staged
from tests.support.staged import StagedRoom


def shown(room: StagedRoom) -> Snapshot:
    """Return the snapshot of the room for the first seat."""
    entries = view(room.table.steps, 0)
    now_ms, state = room.table.now_ms, scene(room.table.state, entries)
    return Snapshot(room=staged.ROOM, seat=0, position=len(entries), tag="00000000", now_ms=now_ms, scene=state)


def round_id(room: StagedRoom) -> str:
    assert room.table.state.round is not None
    return room.table.state.round.round_id.hex()


def written(folder: Path, room: StagedRoom, at_ms: int) -> Receipt:
    """Return the receipt of a client that was killed at that time: it wrote no end."""
    receipt = Receipt(folder)
    receipt.add_heard(shown(room), KnownRoom(), at_ms)
    receipt.close()
    return receipt


def test_a_new_client_finds_the_last_time_and_the_round_of_the_one_before(tmp_path: Path) -> None:
    room = staged.racing()
    written(tmp_path, room, 7_000)
    assert written(tmp_path, room, 90_000).earlier == EarlierRun(7_000, round_id(room))


def test_the_first_client_of_a_seat_finds_none(tmp_path: Path) -> None:
    assert written(tmp_path, staged.racing(), 7_000).earlier is None


def test_a_client_that_was_quit_has_ended_at_its_last_line(tmp_path: Path) -> None:
    room = staged.racing()
    receipt = written(tmp_path, room, 7_000)
    receipt.add_end(WayOut.QUIT, "", 9_000)
    receipt.close()
    assert written(tmp_path, room, 90_000).earlier == EarlierRun(9_000, round_id(room))


def test_a_race_that_was_stopped_is_known_to_be_over(tmp_path: Path) -> None:
    room = staged.racing()
    before = room.model()
    receipt = written(tmp_path, room, 7_000)
    room.table.play(0, "stop")
    seen = view(room.table.steps, 0)
    news = View(position=len(seen), tag="00000001", entries=tuple(seen[before.position :]))
    receipt.add_heard(news, before, 8_000)
    receipt.close()
    assert written(tmp_path, room, 90_000).earlier == EarlierRun(8_000, round_id(room), is_race_over=True)


@pytest.mark.parametrize("line", ["7", "{", json.dumps({"at_ms": "x"}), '{"at_ms": 1, "heard": {"scene": {}}}'])
def test_lines_that_no_client_writes_are_named(line: str) -> None:
    with pytest.raises(BadReceipt, match="line 1"):
        read_earlier_run([line], 0)


def test_a_receipt_that_cannot_be_read_keeps_nobody_from_the_seat(tmp_path: Path) -> None:
    room = staged.racing()
    receipt = written(tmp_path, room, 7_000)
    assert receipt.path is not None
    receipt.path.write_text("{\n")
    assert written(tmp_path, room, 90_000).earlier is None


def snapshot_line(at_ms: int = 1, kind: str = "heard", outcome: object = None, *stopped: bool) -> str:
    seats = [{"has_stopped": has_stopped} for has_stopped in stopped or (False, False)]
    return json.dumps({"at_ms": at_ms, kind: {"scene": {"round": "aa", "outcome": outcome, "seats": seats}}})


def view_line(*entries: dict[str, object]) -> str:
    return json.dumps({"at_ms": 2, "heard": {"entries": entries}})


OPENED: dict[str, object] = {"type": "round_opened", "round": "bb"}
FINISHED: dict[str, object] = {"type": "round_finished"}


def stopped(seat: int) -> dict[str, object]:
    return {"type": "stopped", "seat": seat}


RUNS: list[tuple[list[str], EarlierRun | None]] = [
    ([], None),
    (['{"type":"receipt"}'], None),
    (['{"at_ms":5,"said":{}}'], EarlierRun(5, None, is_race_over=False)),
    (['{"at_ms":5,"said":{}}', '{"at_ms":7,"dropped":{}}'], EarlierRun(7, None, is_race_over=False)),
    ([snapshot_line()], EarlierRun(1, "aa", is_race_over=False)),
    ([snapshot_line(3, "known")], EarlierRun(3, "aa", is_race_over=False)),
    ([snapshot_line(1, "heard", {})], EarlierRun(1, "aa", is_race_over=True)),
    ([snapshot_line(1, "heard", None, True, False)], EarlierRun(1, "aa", is_race_over=False)),
    ([snapshot_line(1, "heard", None, False, True)], EarlierRun(1, "aa", is_race_over=True)),
    ([snapshot_line(), view_line(stopped(0))], EarlierRun(2, "aa", is_race_over=False)),
    ([snapshot_line(), view_line(stopped(1))], EarlierRun(2, "aa", is_race_over=True)),
    ([snapshot_line(), view_line(FINISHED)], EarlierRun(2, "aa", is_race_over=True)),
    ([snapshot_line(), view_line(FINISHED, OPENED)], EarlierRun(2, "bb", is_race_over=False)),
    ([snapshot_line(), view_line(OPENED, stopped(1))], EarlierRun(2, "bb", is_race_over=True)),
]
"""The lines of a receipt, and the run that they tell of."""


def test_the_last_round_of_a_run_is_that_of_its_last_lines() -> None:
    wrong = [(found, run, lines) for lines, run in RUNS if (found := read_earlier_run(lines, 1)) != run]
    assert wrong == []


def test_the_line_that_no_client_writes_is_named_by_its_number() -> None:
    with pytest.raises(BadReceipt, match=r"^line 3 is not a line of a receipt$"):
        read_earlier_run(["{}", "{}", "7"], 0)
