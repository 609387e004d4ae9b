"""A receipt without a record: it says how each round ended to which this client was bound."""

import json
from pathlib import Path

import pytest

from fairest_cli.records.receipt_replay import BadReceipt, judge_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.from_server import Left
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import DealStep
from fairest_server.room.events import Revealed, Started
from tests.client.records.test_record_against_receipt import HEADER, note, receipt_of
from tests.support.invoking import invoke
from tests.support.races import Table, choose_any, raced


@pytest.fixture(scope="module")
def table() -> Table:
    return raced(3)


def lines_until(table: Table, kind: type) -> list[str]:
    """Return the receipt of the client in seat 0 up to the first event of this kind."""
    place = next(place for place, step in enumerate(table.steps) if isinstance(step.event, kind))
    return receipt_of(table.steps[: place + 1])


def time_of(line: str) -> int:
    return int(json.loads(line).get("at_ms", 0))


def ended(way_out: str, at_ms: int, detail: str = "") -> str:
    return json.dumps({"at_ms": at_ms, "ended": {"way_out": way_out, "detail": detail}})


def dropped(at_ms: int) -> str:
    return json.dumps({"at_ms": at_ms, "dropped": {"alive_ms": at_ms}})


def judge(lines: list[str]) -> str:
    return " ".join(judge_receipt(lines))


def test_a_race_that_was_followed_to_its_end_is_proved(table: Table) -> None:
    assert judge(receipt_of(table.steps)) == "Receipt: you were bound to 1 round, and saw the end of 1 proved."


def test_a_round_in_which_the_client_was_ended_by_its_user_is_broken_off_and_not_proved(table: Table) -> None:
    lines = lines_until(table, Started)
    told = judge([*lines, ended("quit", time_of(lines[-1]) + 5)])
    assert "Broken off, not proved: your client ended before the round was over." in told


def test_a_round_in_which_the_server_did_not_answer_any_more_is_an_alarm(table: Table) -> None:
    lines = lines_until(table, Started)
    later = time_of(lines[-1]) + 5000
    with pytest.raises(WrongRecord, match="Broken off, not proved: the server did not answer any more"):
        judge([*lines, dropped(later), ended("quit", later + 1000)])


@pytest.mark.parametrize("way_out", ["refused", "replaced", "banned", "bad_token", "closed", "contradiction"])
@pytest.mark.parametrize("kind", [Revealed, Started], ids=["dealing", "racing"])
def test_a_way_out_that_was_an_alarm_for_the_client_is_one_in_the_receipt(
    table: Table, way_out: str, kind: type
) -> None:
    lines = lines_until(table, kind)
    with pytest.raises(WrongRecord, match=r"^Line \d+ of the receipt: .*never opened its commitment\.$"):
        judge([*lines, ended(way_out, time_of(lines[-1]), "Because.")])


def test_a_player_who_was_put_out_without_leaving_has_an_alarm(table: Table) -> None:
    lines = lines_until(table, Started)
    with pytest.raises(WrongRecord, match="put you out of the room without being asked"):
        judge([*lines, note("heard", encode(Left()), time_of(lines[-1]))])


def test_a_player_who_left_has_none(table: Table) -> None:
    lines = lines_until(table, Started)
    at_ms = time_of(lines[-1])
    told = judge([*lines, note("said", encode(Leave()), at_ms), note("heard", encode(Left()), at_ms)])
    assert "You left before the round was over" in told


def test_a_client_that_was_started_again_and_came_back_goes_on_with_its_round() -> None:
    table = Table(4)
    table.start()
    table.race(choose_any, most=10)
    missed = range(len(table.steps) - 4, len(table.steps))
    while table.state.phase is not Phase.FINISHED:
        table.race(choose_any)
    assert "you were bound to 1 round" in judge(receipt_of(table.steps, missed=missed))


@pytest.mark.parametrize(
    "line",
    [
        '{"at_ms":1,"dropped":{}}',
        ended("fled", 1),
        '{"at_ms":1,"ended":1}',
        '{"dropped":{"alive_ms":1}}',
        '{"at_ms":1,"arrived":{}}',
        '{"at_ms":1,"arrived":{"round":"xy"}}',
        '{"at_ms":1,"arrived":{"round":7}}',
    ],
)
def test_a_line_that_no_client_writes_is_refused(table: Table, line: str) -> None:
    with pytest.raises(BadReceipt):
        judge([*lines_until(table, Started), line])


def verify(tmp_path: Path, lines: list[str]) -> tuple[int, str]:
    receipt = tmp_path / "receipt.jsonl"
    receipt.write_text("\n".join(lines))
    done = invoke(tmp_path, "verify", "--receipt", str(receipt))
    return done.exit_code, done.stdout


def test_the_program_judges_a_receipt_without_a_record(tmp_path: Path, table: Table) -> None:
    code, told = verify(tmp_path, receipt_of(table.steps))
    assert (code, "saw the end of 1 proved" in told) == (0, True)


def test_the_program_ends_with_3_for_a_round_that_the_server_broke_off(tmp_path: Path, table: Table) -> None:
    lines = lines_until(table, Started)
    code, told = verify(tmp_path, [*lines, ended("replaced", time_of(lines[-1]))])
    assert (code, "WRONG: Line" in told) == (3, True)


def test_the_program_does_not_call_a_round_right_that_it_cannot_prove(tmp_path: Path, table: Table) -> None:
    code, told = verify(tmp_path, lines_until(table, Started))
    assert (code, "not proved" in told) == (0, True)


def test_the_program_wants_a_record_or_a_receipt(tmp_path: Path) -> None:
    assert invoke(tmp_path, "verify").exit_code == 2


def test_an_empty_receipt_has_no_rounds() -> None:
    assert judge([HEADER]) == "Receipt: you were bound to 0 rounds, and saw the end of 0 proved."


def certified_receipt(step: int) -> list[str]:
    """Return the receipt of a certified round, of a server that dealt this step."""
    table = Table(3, RoomOptions(certified=1))
    table.seat_both()
    for seat, entropy in table.get_ready(0, 1).items():
        table.reveal(seat, entropy)
    assert table.state.round is not None
    table.submit(DealStep(table.state.round.round_id, step))
    table.let_time_pass()
    table.race(choose_any)
    return receipt_of(table.steps)


def test_a_certified_round_of_a_receipt_is_proved_by_its_steps() -> None:
    assert judge(certified_receipt(0)) == "Receipt: you were bound to 1 round, and saw the end of 1 proved."


def test_a_later_step_of_a_certified_round_is_an_alarm_in_the_receipt() -> None:
    with pytest.raises(WrongRecord, match="dealt step 2 of the certified round, where step 1 is to be dealt"):
        judge(certified_receipt(1))
