"""Receipts have bounds, at which nothing is left out in silence: another file, an alarm, or a sentence."""

import itertools
import json
import os
from collections import deque
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.seal_check import SealCheck
from fairest_cli.records.receipt_replay import BadReceipt, replay_receipt
from fairest_cli.records.receipts import BOUNDS, MAX_LINE_BYTES, Receipt, ReceiptBounds, read_receipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import decode_from_client, decode_from_server
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Left, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_server.room.match_record import record_matches
from tests.client.records.test_record_against_receipt import receipt_of
from tests.support.full_disk import no_file_longer_than
from tests.support.races import KEY, Table, race_match

EACH_MATCH = ReceiptBounds(next_file=1)
"""Each match begins another file."""


def play_match(table: Table) -> None:
    """Play one match, in which players stop now and then."""
    table.deal()
    table.let_time_pass()
    race_match(table, stops=0.1)


@pytest.fixture(scope="module")
def table() -> Table:
    """Three matches of up to three rounds, of the same players."""
    made = Table(5, RoomOptions(best_of=3))
    made.seat_both()
    for number in range(3):
        if number:
            made.rematch()
        play_match(made)
    return made


def write(receipt: Receipt, lines: list[str]) -> None:
    """Let a client write its receipt that was shown and has sent what is in these lines."""
    after = {step.where: step.model for step in replay_receipt(lines)}
    model = KnownRoom(seal_check=SealCheck(key=KEY.public))
    for number, line in enumerate(lines, 1):
        fields = json.loads(line)
        if "heard" in fields:
            message = decode_from_server(json.dumps(fields["heard"]))
            assert isinstance(message, Snapshot | View | Left)
            receipt.add_heard(message, model, fields["at_ms"])
        elif "said" in fields:
            said = decode_from_client(json.dumps(fields["said"]))
            assert isinstance(said, Ready | Reveal | Play | Leave)
            receipt.add_said(said, fields["at_ms"])
        model = after.get(f"Line {number} of the receipt", model)


@pytest.fixture(scope="module")
def folder(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The receipts of the player in seat 0, a file for each match."""
    place = tmp_path_factory.mktemp("receipts")
    with closing(Receipt(place, EACH_MATCH)) as receipt:
        write(receipt, receipt_of(table.steps))
    return place


def numbered(folder: Path) -> list[Path]:
    stem = f"a-b-seat1-{KEY.public.hex()[:32]}"
    return [folder / f"{stem}{number}.jsonl" for number in ("", "-2", "-3", "-4")]


def test_a_match_that_begins_when_the_file_is_full_begins_another_file(folder: Path) -> None:
    assert [path.exists() for path in numbered(folder)] == [True, True, True, False]


@pytest.mark.parametrize("number", range(3))
def test_each_file_agrees_with_the_record_of_its_match(folder: Path, table: Table, number: int) -> None:
    record = KEY.sign(record_matches("quiet-amber-otter", table.steps)[number])
    told = list(compare_receipt(record, read_receipt(numbered(folder)[number])))
    count = len(record.rounds)
    assert told[0] == f"Receipt: {count} of {count} rounds were shown to you, each before you committed to it."
    assert told[-1].endswith(f"you were bound to {count} round{'s' * (count > 1)}, and saw the end of {count} proved.")


def test_no_line_of_a_match_goes_into_another_file(folder: Path, table: Table, tmp_path: Path) -> None:
    with closing(Receipt(tmp_path)) as receipt:
        write(receipt, receipt_of(table.steps))
    whole = [line for line in numbered(tmp_path)[0].read_text().splitlines()[1:] if '"known"' not in line]
    parts = [line for path in numbered(folder)[:3] for line in path.read_text().splitlines()[1:]]
    assert [line for line in parts if '"known"' not in line] == whole


def test_a_view_that_was_shown_before_begins_no_file(tmp_path: Path) -> None:
    opened = entries.RoundOpened(
        round=bytes(16), match=bytes(16), round_number=1, commitment=bytes(32), signature=bytes(64), until_ms=0
    )
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot().model_copy(update={"position": 9}), 0)
    with closing(Receipt(tmp_path, EACH_MATCH)) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=9, entries=(opened,), tag="00000000"), model, 0)
        assert len(list(tmp_path.iterdir())) == 1
        receipt.add_heard(View(position=10, entries=(opened,), tag="00000000"), model, 0)
        assert len(list(tmp_path.iterdir())) == 2


def test_a_client_that_was_started_again_goes_on_in_the_newest_file(folder: Path, table: Table) -> None:
    before = [path.stat().st_size for path in numbered(folder)[:3]]
    first = next(line for line in receipt_of(table.steps) if '"snapshot"' in line)
    with closing(Receipt(folder, EACH_MATCH)) as receipt:
        write(receipt, [json.dumps({"type": "receipt", "server": "", "key": KEY.public.hex()}), first])
        assert receipt.path == numbered(folder)[2]
    os.truncate(numbered(folder)[2], before[2])


def snapshot() -> Snapshot:
    scene = Scene(options=RoomOptions().resolved(), seats=(SeatScene(name="ann"), SeatScene()))
    return Snapshot(tag="00000000", room="quiet-amber-otter", seat=0, position=0, now_ms=0, scene=scene)


def endless_views() -> Iterator[View]:
    shown = (entries.Detached(seat=1, until_ms=0), entries.Attached(seat=1)) * 20
    for number in itertools.count(1):
        yield View(position=number * len(shown), entries=shown, tag="00000000")


def hear_without_end(receipt: Receipt, model: KnownRoom) -> None:
    for view in endless_views():
        receipt.add_heard(view, model, 0)


def test_a_server_that_sends_without_end_is_an_alarm_at_the_bound(tmp_path: Path) -> None:
    bounds = ReceiptBounds(next_file=1000, match=2**20)
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path, bounds)) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        with pytest.raises(Cheated, match=r"^The server has sent more about one match than a receipt holds, 1 MiB"):
            hear_without_end(receipt, model)
    (path,) = tmp_path.iterdir()
    assert 2**20 < path.stat().st_size < 2**20 + 10_000


def test_our_own_words_are_written_at_the_bound_too(tmp_path: Path) -> None:
    with closing(Receipt(tmp_path, ReceiptBounds(match=500))) as receipt:
        receipt.add_heard(snapshot(), KnownRoom(), 0)
        receipt.add_said(Ready(round=bytes(16), entropy_hash=bytes(32)), 7)
        assert receipt.path is not None
        assert '"said":{"type":"ready"' in receipt.path.read_text().splitlines()[-1]


def test_the_receipts_of_a_room_have_a_bound_that_is_told(table: Table, tmp_path: Path) -> None:
    with closing(Receipt(tmp_path, ReceiptBounds(next_file=1, room=1))) as receipt:
        write(receipt, receipt_of(table.steps))
    assert [path.exists() for path in numbered(tmp_path)] == [True, False, False, False]
    assert "so no more are written; move them elsewhere" in receipt.problem
    last = json.loads(numbered(tmp_path)[0].read_text().splitlines()[-1])
    assert last["heard"]["entries"][-1]["type"] in ("round_finished", "rematch_wanted")


def test_servers_whose_keys_begin_alike_have_receipts_of_their_own(tmp_path: Path) -> None:
    for last in (1, 2):
        model = KnownRoom(seal_check=SealCheck(key=bytes(8) + bytes([last]) * 24))
        with closing(Receipt(tmp_path)) as receipt:
            receipt.add_heard(snapshot(), model, 0)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_race_has_a_small_part_of_the_bound(folder: Path, table: Table) -> None:
    assert table.state.phase is Phase.FINISHED
    assert max(path.stat().st_size for path in folder.iterdir()) < BOUNDS.match / 100


def test_a_line_that_no_client_writes_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "receipt.jsonl").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(BadReceipt, match=r"^line 1 is longer than a line of a receipt can be$"):
        list(read_receipt(tmp_path / "receipt.jsonl"))


def test_a_receipt_that_is_not_text_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "receipt.jsonl").write_bytes(b"{}\n\xff\n")
    with pytest.raises(BadReceipt, match=r"^line 2 is not text$"):
        list(read_receipt(tmp_path / "receipt.jsonl"))


def test_the_bounds_are_those_of_the_longest_match_and_room() -> None:
    assert ReceiptBounds(next_file=2**20, match=2**25, room=2**27) == BOUNDS


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_a_receipt_may_be_a_line_longer_than_its_bound(tmp_path: Path, more: int, is_read: bool) -> None:
    with (tmp_path / "receipt.jsonl").open("wb") as file:
        for number in range(1, 10):
            file.seek(number * MAX_LINE_BYTES - 1)
            file.write(b"\n")
        file.write(b"x" * more)
    with nullcontext() if is_read else pytest.raises(BadReceipt, match=r"^line 10 is behind the most that a receipt"):
        deque(read_receipt(tmp_path / "receipt.jsonl"), maxlen=0)


@pytest.mark.parametrize(("size", "is_read"), [(2**22, True), (2**22 + 1, False)])
def test_a_line_of_four_mebibytes_is_read(tmp_path: Path, size: int, is_read: bool) -> None:
    (tmp_path / "receipt.jsonl").write_bytes(b"{}\n" + b"x" * size)
    with nullcontext() if is_read else pytest.raises(BadReceipt, match=r"^line 2 is longer than a line"):
        list(read_receipt(tmp_path / "receipt.jsonl"))


def test_the_lines_of_a_receipt_come_without_their_ends(tmp_path: Path) -> None:
    (tmp_path / "receipt.jsonl").write_bytes(b"{}\r\n{ }\n[x")
    assert list(read_receipt(tmp_path / "receipt.jsonl")) == ["{}", "{ }", "[x"]


def opening(number: int = 1) -> entries.RoundOpened:
    return entries.RoundOpened(
        round=bytes(16), match=bytes(16), round_number=number, commitment=bytes(32), signature=bytes(64), until_ms=0
    )


BETWEEN_MATCHES = (
    entries.Seated(seat=1, name="bob"),
    entries.Attached(seat=1),
    entries.Detached(seat=1, until_ms=0),
    entries.RematchWanted(seat=1),
)


@pytest.mark.parametrize(
    ("shown", "files"),
    [
        ((opening(),), 2),
        ((*BETWEEN_MATCHES, opening()), 2),
        ((opening(2),), 1),
        (BETWEEN_MATCHES, 1),
        ((entries.Started(until_ms=0), opening()), 1),
    ],
    ids=["a match", "a match after a rematch", "a later round", "no round", "the end of a round before it"],
)
def test_a_file_begins_with_the_first_round_of_a_match_alone(
    tmp_path: Path, shown: tuple[entries.Entry, ...], files: int
) -> None:
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path, EACH_MATCH)) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=len(shown), entries=shown, tag="00000000"), model, 0)
    assert len(list(tmp_path.iterdir())) == files


@pytest.mark.parametrize(("more", "files"), [(0, 2), (1, 1)])
def test_another_file_begins_once_a_file_has_as_many_bytes_as_its_bound(tmp_path: Path, more: int, files: int) -> None:
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path / "first")) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        assert receipt.path is not None
        size = receipt.path.stat().st_size
    with closing(Receipt(tmp_path / "second", ReceiptBounds(next_file=size + more))) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), model, 0)
    assert len(list((tmp_path / "second").iterdir())) == files


@pytest.mark.parametrize(("more", "files"), [(0, 2), (-1, 1)])
def test_the_receipts_of_a_room_may_have_as_many_bytes_as_their_bound(tmp_path: Path, more: int, files: int) -> None:
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path / "first")) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        assert receipt.path is not None
        size = receipt.path.stat().st_size
    with closing(Receipt(tmp_path / "second", ReceiptBounds(next_file=1, room=size + more))) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), model, 0)
    assert len(list((tmp_path / "second").iterdir())) == files


def test_receipts_that_would_be_too_many_are_named_with_their_bound(tmp_path: Path) -> None:
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path, ReceiptBounds(next_file=1, room=1))) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), model, 0)
    stem = f"quiet-amber-otter-seat1-{KEY.public.hex()[:32]}"
    assert receipt.problem == (
        f"The receipts {stem}* take more than 0 MiB, so no more are written; move them elsewhere"
    )


def test_a_file_goes_on_while_lines_wait_to_be_written_to_it(tmp_path: Path) -> None:
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path, EACH_MATCH)) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        assert receipt.path is not None
        with no_file_longer_than(receipt.path.stat().st_size):
            receipt.add_said(Ready(round=bytes(16), entropy_hash=bytes(32)), 7)
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), model, 0)
    assert len(list(tmp_path.iterdir())) == 1


def test_another_file_begins_with_what_is_known_of_the_room_between_two_matches(tmp_path: Path) -> None:
    seats = (SeatScene(name="ann", is_connected=True, wins=1), SeatScene(name="bob", until_ms=9, wants_rematch=True))
    scene = Scene(options=RoomOptions().resolved(), phase=Phase.FINISHED, seats=seats)
    shown = snapshot().model_copy(update={"scene": scene, "tag": "0000000a", "position": 4})
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(shown, 0)
    with closing(Receipt(tmp_path, EACH_MATCH)) as receipt:
        receipt.add_heard(shown, model, 0)
        receipt.add_heard(View(position=5, entries=(opening(),), tag="0000000b"), model, 77)
    second = tmp_path / f"quiet-amber-otter-seat1-{KEY.public.hex()[:32]}-2.jsonl"
    first, known, heard = (json.loads(line) for line in second.read_text().splitlines())
    seats = (SeatScene(name="ann", is_connected=True), SeatScene(name="bob", until_ms=9))
    wanted = Snapshot(
        room="quiet-amber-otter",
        seat=0,
        position=4,
        tag="0000000a",
        now_ms=77,
        scene=Scene(options=RoomOptions().resolved(), phase=Phase.WAITING, seats=seats),
    )
    assert (first["type"], known["at_ms"], heard["at_ms"]) == ("receipt", 77, 77)
    assert decode_from_server(json.dumps(known["known"])) == wanted


@pytest.mark.parametrize("room", [None, "quiet-amber-otter"])
def test_another_file_of_a_client_that_knows_no_scene_begins_with_its_server_alone(
    tmp_path: Path, room: str | None
) -> None:
    model = KnownRoom(room=room)
    with closing(Receipt(tmp_path, EACH_MATCH)) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), model, 0)
    lines = (tmp_path / "quiet-amber-otter-seat1-unsigned-2.jsonl").read_text().splitlines()
    assert [next(iter(json.loads(line))) for line in lines] == ["type", "at_ms"]


def test_nothing_more_is_written_once_the_receipts_of_a_room_are_too_many(tmp_path: Path) -> None:
    model = KnownRoom(seal_check=SealCheck(key=KEY.public)).after(snapshot(), 0)
    with closing(Receipt(tmp_path, ReceiptBounds(next_file=1, room=1))) as receipt:
        receipt.add_heard(snapshot(), model, 0)
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), model, 0)
        receipt.add_said(Ready(round=bytes(16), entropy_hash=bytes(32)), 7)
    (path,) = tmp_path.iterdir()
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize(("more", "is_alarm"), [(0, False), (-1, True)])
def test_a_server_may_send_as_many_bytes_about_a_match_as_the_bound(tmp_path: Path, more: int, is_alarm: bool) -> None:
    with closing(Receipt(tmp_path / "first")) as receipt:
        receipt.add_heard(snapshot(), KnownRoom(), 0)
        assert receipt.path is not None
        size = receipt.path.stat().st_size
    with closing(Receipt(tmp_path / "second", ReceiptBounds(match=size + more))) as receipt:
        receipt.add_heard(snapshot(), KnownRoom(), 0)
        with pytest.raises(Cheated) if is_alarm else nullcontext():
            receipt.add_heard(snapshot(), KnownRoom(), 0)


def test_another_file_that_cannot_be_opened_is_copied_in_full(tmp_path: Path) -> None:
    with closing(Receipt(tmp_path / "receipts", EACH_MATCH)) as receipt:
        receipt.add_heard(snapshot(), KnownRoom(), 0)
        (tmp_path / "receipts" / "quiet-amber-otter-seat1-unsigned-2.jsonl").mkdir()
        receipt.add_heard(View(position=1, entries=(opening(),), tag="00000000"), KnownRoom(), 0)
        copy = receipt.save_copy(tmp_path / "there")
    assert copy is not None and len(list(read_receipt(copy))) == 2
