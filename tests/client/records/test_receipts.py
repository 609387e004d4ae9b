"""A receipt keeps what a seated client was shown and what it sent, a line for each message, as it happens."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_cli.model.seal_check import SealCheck
from fairest_cli.records.receipts import Receipt
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene

SERVER = "ws://there"
KEY = bytes(range(32))
KNOWN = KnownRoom(server_url=SERVER, seal_check=SealCheck(key=KEY))
UNSIGNED = KnownRoom(server_url=SERVER)
MOVE = Play(number=1, move=MOVES["sa"])


def snapshot(seat: Any = 1, position: int = 3) -> Snapshot:
    scene = Scene(options=RoomOptions())
    return Snapshot(tag="00000000", room="quiet-amber-otter", seat=seat, position=position, now_ms=0, scene=scene)


def as_json(message: Snapshot | Play) -> Any:
    return json.loads(encode(message))


def lines_of(receipt: Receipt) -> list[Any]:
    assert receipt.path is not None
    return [json.loads(line) for line in receipt.path.read_text().splitlines()]


MakeReceipt = Callable[[Path], Receipt]


@pytest.fixture
def make_receipt() -> Iterator[MakeReceipt]:
    """Makes receipts in a folder, which are closed when the test is over."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(closing(Receipt(folder)))


@pytest.fixture
def receipt(tmp_path: Path, make_receipt: MakeReceipt) -> Receipt:
    """A receipt that was begun by a snapshot of our seat."""
    begun = make_receipt(tmp_path / "fairest" / "receipts")
    begun.add_heard(snapshot(), KNOWN, 7)
    return begun


def test_a_receipt_is_named_after_its_room_its_seat_and_its_server(tmp_path: Path, receipt: Receipt) -> None:
    assert receipt.path == tmp_path / "fairest" / "receipts" / f"quiet-amber-otter-seat2-{KEY.hex()[:32]}.jsonl"


def test_the_receipt_of_a_server_without_a_key_says_so_in_its_name(tmp_path: Path, make_receipt: MakeReceipt) -> None:
    receipt = make_receipt(tmp_path)
    receipt.add_heard(snapshot(), UNSIGNED, 0)
    assert receipt.path == tmp_path / "quiet-amber-otter-seat2-unsigned.jsonl"


def test_a_receipt_begins_with_its_server_and_the_first_snapshot(receipt: Receipt) -> None:
    assert lines_of(receipt) == [
        {"type": "receipt", "server": SERVER, "key": KEY.hex()},
        {"at_ms": 7, "heard": as_json(snapshot())},
    ]


def test_a_receipt_without_a_key_begins_without_one(tmp_path: Path, make_receipt: MakeReceipt) -> None:
    receipt = make_receipt(tmp_path)
    receipt.add_heard(snapshot(), UNSIGNED, 0)
    assert lines_of(receipt)[0] == {"type": "receipt", "server": SERVER, "key": None}


def test_our_own_messages_are_added_to_the_receipt(receipt: Receipt) -> None:
    receipt.add_said(MOVE, 8)
    assert lines_of(receipt)[-1] == {"at_ms": 8, "said": as_json(MOVE)}


def test_a_drop_is_added_with_the_time_at_which_the_connection_was_last_known_to_be_up(receipt: Receipt) -> None:
    receipt.add_drop(8, 9)
    assert lines_of(receipt)[-1] == {"at_ms": 9, "dropped": {"alive_ms": 8}}


def test_the_end_of_the_client_is_added_with_the_way_out(receipt: Receipt) -> None:
    receipt.add_end(WayOut.REPLACED, "Elsewhere.", 9)
    assert lines_of(receipt)[-1] == {"at_ms": 9, "ended": {"way_out": "replaced", "detail": "Elsewhere."}}


def test_a_later_message_of_the_server_is_added_behind_the_others(receipt: Receipt) -> None:
    receipt.add_heard(snapshot(position=4), KNOWN, 9)
    assert lines_of(receipt)[2:] == [{"at_ms": 9, "heard": as_json(snapshot(position=4))}]


def test_each_line_is_as_short_as_json_allows(receipt: Receipt) -> None:
    assert receipt.path is not None
    assert receipt.path.read_text().startswith('{"type":"receipt","server":"ws://there","key":"')


def test_a_message_is_in_the_file_before_the_next_one_comes(receipt: Receipt) -> None:
    receipt.add_said(MOVE, 8)
    assert len(lines_of(receipt)) == 3


def test_a_spectator_has_no_receipt(tmp_path: Path) -> None:
    receipt = Receipt(tmp_path)
    receipt.add_heard(snapshot(seat=None), KNOWN, 0)
    assert (receipt.path, list(tmp_path.iterdir())) == (None, [])


def test_entries_before_the_first_snapshot_are_not_kept(tmp_path: Path) -> None:
    receipt = Receipt(tmp_path)
    receipt.add_heard(View(tag="00000000", position=1, entries=()), KNOWN, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_message_of_ours_before_the_first_snapshot_is_not_kept(tmp_path: Path) -> None:
    receipt = Receipt(tmp_path)
    receipt.add_said(MOVE, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_receipt_that_was_closed_goes_on_behind_its_last_line(receipt: Receipt) -> None:
    receipt.close()
    receipt.add_said(MOVE, 8)
    assert len(lines_of(receipt)) == 3


def test_closing_a_receipt_closes_its_file(receipt: Receipt) -> None:
    written = receipt._file
    receipt.close()
    assert written is not None and written.closed


def test_a_client_that_was_started_again_goes_on_in_the_same_file(
    tmp_path: Path, receipt: Receipt, make_receipt: MakeReceipt
) -> None:
    receipt.close()
    again = make_receipt(tmp_path / "fairest" / "receipts")
    again.add_heard(snapshot(), KNOWN, 9)
    assert len(lines_of(again)) == 4


def test_only_the_player_may_read_a_receipt(receipt: Receipt) -> None:
    assert receipt.path is not None
    assert (receipt.path.stat().st_mode & 0o777, receipt.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_receipt_that_is_written_has_no_problem(receipt: Receipt) -> None:
    assert receipt.problem == ""


@pytest.fixture
def failed(tmp_path: Path) -> Receipt:
    """A receipt that could not be written, since there is a file where its folder should be."""
    (tmp_path / "receipts").write_text("")
    receipt = Receipt(tmp_path / "receipts")
    receipt.add_heard(snapshot(), KNOWN, 0)
    return receipt


def test_a_receipt_that_cannot_be_written_says_why(failed: Receipt) -> None:
    assert failed.problem == f"The receipt {failed.path} could not be written: File exists."


def test_a_receipt_is_written_in_full_as_soon_as_it_can_be(tmp_path: Path, failed: Receipt) -> None:
    (tmp_path / "receipts").unlink()
    failed.add_said(MOVE, 1)
    failed.close()
    assert failed.problem == "" and len(lines_of(failed)) == 3


def test_an_answered_ping_is_added_as_a_return(receipt: Receipt) -> None:
    receipt.add_pong(9)
    assert lines_of(receipt)[-1] == {"at_ms": 9, "returned": {}}


def test_an_answered_ping_behind_our_bytes_is_added_with_their_round(receipt: Receipt) -> None:
    receipt.add_pong(9, bytes(range(16)))
    assert lines_of(receipt)[-1] == {"at_ms": 9, "arrived": {"round": bytes(range(16)).hex()}}


def test_a_receipt_that_was_closed_twice_is_closed(receipt: Receipt) -> None:
    receipt.close()
    receipt.close()
    assert receipt._file is None


def test_a_message_of_ours_before_the_first_snapshot_is_not_kept_for_later(
    tmp_path: Path, make_receipt: MakeReceipt
) -> None:
    receipt = make_receipt(tmp_path)
    receipt.add_said(MOVE, 0)
    receipt.add_heard(snapshot(), KNOWN, 7)
    assert [next(iter(line)) for line in lines_of(receipt)] == ["type", "at_ms"]


def test_a_new_receipt_has_no_file_no_problem_and_no_run_before_it(tmp_path: Path) -> None:
    receipt = Receipt(tmp_path)
    assert (receipt.path, receipt.problem, receipt.earlier) == (None, "", None)
