"""A receipt without a record: it says how each round ended to which this client was bound."""

import json
import re
from itertools import pairwise, product
from pathlib import Path

import pytest

from fairest_cli.records.receipt_replay import BadReceipt, judge_receipt, replay_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.from_server import Left
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import DealStep
from fairest_server.room.events import Revealed, Started
from tests.client.records.test_record_against_receipt import HEADER, note, play_rounds, receipt_of
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


def returned(at_ms: int) -> str:
    return json.dumps({"at_ms": at_ms, "returned": {}})


def arrived(at_ms: int, round_id: str) -> str:
    return json.dumps({"at_ms": at_ms, "arrived": {"round": round_id}})


def judge(lines: list[str]) -> str:
    return " ".join(judge_receipt(lines))


def id_of(table: Table) -> str:
    """Return the id of the last round of a table."""
    assert table.state.round is not None
    return table.state.round.round_id.hex()


def not_proved(table: Table, why: str) -> str:
    """Return the judgement on a receipt with one round, whose end is explained and not proved."""
    bound = "Receipt: you were bound to 1 round, and saw the end of 0 proved."
    return f"{bound} Receipt: round {id_of(table)}: {why}"


CLIENT_ENDED = "Broken off, not proved: your client ended before the round was over."


def test_a_race_that_was_followed_to_its_end_is_proved(table: Table) -> None:
    assert judge(receipt_of(table.steps)) == "Receipt: you were bound to 1 round, and saw the end of 1 proved."


def test_a_round_in_which_the_client_was_ended_by_its_user_is_broken_off_and_not_proved(table: Table) -> None:
    lines = lines_until(table, Started)
    told = judge([*lines, ended("quit", time_of(lines[-1]) + 5)])
    assert told == not_proved(table, CLIENT_ENDED)


def test_a_round_in_which_the_server_did_not_answer_any_more_is_an_alarm(table: Table) -> None:
    lines = lines_until(table, Started)
    later = time_of(lines[-1]) + 5000
    sentence = (
        f"^The round {id_of(table)}: Broken off, not proved: the server did not answer any more. Both players were "
        "bound to the round, and it never opened its commitment.$"
    )
    with pytest.raises(WrongRecord, match=sentence):
        judge([*lines, dropped(later), ended("quit", later + 1000)])


def alarm_of(lines: list[str]) -> str:
    """Return the alarm in a receipt, empty if there is none."""
    try:
        judge(lines)
    except WrongRecord as alarm:
        return str(alarm)
    return ""


def test_a_way_out_that_was_an_alarm_for_the_client_is_one_in_the_receipt(table: Table) -> None:
    ways_out = ["refused", "replaced", "banned", "bad_token", "closed", "contradiction"]
    receipts = {"dealing": lines_until(table, Revealed), "racing": lines_until(table, Started)}
    alarms = {
        (phase, way_out): alarm_of([*lines, ended(way_out, time_of(lines[-1]), "Because.")])
        for (phase, lines), way_out in product(receipts.items(), ways_out)
    }
    sentence = re.compile(r"Line \d+ of the receipt: .*never opened its commitment\.")
    assert [(case, alarm) for case, alarm in alarms.items() if not sentence.fullmatch(alarm)] == []


def test_a_player_who_was_put_out_without_leaving_has_an_alarm(table: Table) -> None:
    lines = lines_until(table, Started)
    with pytest.raises(WrongRecord, match="put you out of the room without being asked"):
        judge([*lines, note("heard", encode(Left()), time_of(lines[-1]))])


def test_a_player_who_left_has_none(table: Table) -> None:
    lines = lines_until(table, Started)
    at_ms = time_of(lines[-1])
    told = judge([*lines, note("said", encode(Leave()), at_ms), note("heard", encode(Left()), at_ms)])
    assert told == not_proved(table, "You left before the round was over, so its deal was not proved to you.")


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


def test_a_server_that_has_answered_a_ping_since_is_not_one_that_does_not_answer(table: Table) -> None:
    lines = lines_until(table, Started)
    later = time_of(lines[-1]) + 5000
    told = judge([*lines, dropped(later), returned(later + 800), ended("quit", later + 1000)])
    assert told == not_proved(table, CLIENT_ENDED)


@pytest.fixture(scope="module")
def unrevealed() -> Table:
    """A round that ended since seat 0 had not shown its bytes; both were ready two seconds before seat 1 showed its."""
    made = Table(1)
    made.seat_both()
    entropies = made.get_ready(0, 1)
    made.reveal(1, entropies[1])
    made.let_time_pass()
    return made


def dealing_ms(table: Table) -> int:
    """Return the time at which both players of the last round were ready."""
    return next(step.at_ms for step in table.steps if step.after.phase is Phase.DEALING)


SILENCE = "The server says that you did not show your bytes in time."


def test_a_ping_that_was_answered_behind_our_bytes_proves_that_they_came(unrevealed: Table) -> None:
    lines, at_ms = receipt_of(unrevealed.steps), dealing_ms(unrevealed)
    between = [arrived(at_ms + 700, id_of(unrevealed)), dropped(at_ms + 800), returned(at_ms + 900)]
    with pytest.raises(WrongRecord, match=rf": {SILENCE} It had them after 0\.7 seconds: it answered a ping"):
        judge([*lines[:-1], *between, lines[-1]])


def test_a_ping_that_was_answered_behind_other_bytes_proves_nothing(unrevealed: Table) -> None:
    lines, at_ms = receipt_of(unrevealed.steps), dealing_ms(unrevealed)
    told = judge([*lines[:-1], arrived(at_ms + 700, bytes(16).hex()), lines[-1]])
    assert told == not_proved(unrevealed, f"{SILENCE} Your client sent them late or not at all.")


def test_the_length_of_a_silence_is_kept_when_it_ends(unrevealed: Table) -> None:
    lines, at_ms = receipt_of(unrevealed.steps), dealing_ms(unrevealed)
    told = judge([*lines[:-1], dropped(at_ms), returned(at_ms + 1_500), lines[-1]])
    assert told == not_proved(unrevealed, f"{SILENCE} Your connection was down for 1.5 seconds.")


def test_the_words_of_a_server_that_ended_the_connection_are_in_the_alarm(table: Table) -> None:
    lines = lines_until(table, Started)
    with pytest.raises(WrongRecord, match=r"^Line \d+ of the receipt: .* \(Go away\)\. Both players were bound"):
        judge([*lines, ended("banned", time_of(lines[-1]), "Go away")])


def test_each_step_begins_where_the_one_before_it_ended(table: Table) -> None:
    lines = lines_until(table, Started)
    at_ms = time_of(lines[-1])
    about = [arrived(at_ms, id_of(table)), dropped(at_ms), returned(at_ms + 1), note("said", encode(Leave()), at_ms)]
    steps = list(replay_receipt([*lines, *about, ended("closed", at_ms + 2)]))
    assert all(step.before == earlier.model != step.model for earlier, step in pairwise(steps[-5:]))


def test_a_line_about_the_connection_is_a_step_of_its_place_and_time_without_a_message(table: Table) -> None:
    lines = lines_until(table, Started)
    steps = list(replay_receipt([*lines, arrived(7, id_of(table)), dropped(8), returned(9), ended("quit", 10)]))
    wanted = [(f"Line {len(lines) + number} of the receipt", 6 + number, None) for number in range(1, 5)]
    assert [(step.where, step.at_ms, step.what) for step in steps[-4:]] == wanted


def test_a_message_that_no_server_sends_is_refused_with_its_line(table: Table) -> None:
    lines = lines_until(table, Started)
    with pytest.raises(BadReceipt, match=f"^line {len(lines) + 1} does not hold a message "):
        judge([*lines, '{"at_ms":1,"heard":{"type":"view"}}'])


def test_a_round_whose_end_was_missed_is_not_proved_by_its_secret_alone() -> None:
    made = raced(3)
    lines = receipt_of(made.steps, missed=range(len(made.steps) - 6, len(made.steps)))
    assert judge(lines) == not_proved(made, "It ended while your client was not there; its commitment was opened.")


def test_rounds_that_have_ended_and_one_that_is_open_are_counted_together() -> None:
    made = Table(6)
    made.seat_both()
    play_rounds(made, 1)
    first = id_of(made)
    made.rematch()
    made.get_ready(0, 1)
    assert judge(receipt_of(made.steps)) == (
        f"Receipt: you were bound to 2 rounds, and saw the end of 0 proved. Receipt: round {first}: The server says "
        "that the other player resigned; only that player's client can check this. "
        f"Receipt: round {id_of(made)}: {CLIENT_ENDED}"
    )
