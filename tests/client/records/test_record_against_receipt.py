"""A receipt is compared with a record line by line: every entry that was shown, and everything that we sent."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from fairest_cli.records.receipt_replay import BadReceipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_protocol.calculation.record import Record, RecordedMove
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play, Ready, Rematch, Reveal
from fairest_protocol.messages.from_server import Placed
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.catchup import make_catchup
from fairest_server.room.events import Played, PlayerReady, Revealed, RoundOpened
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.steps import Step
from fairest_server.room.view import ORIGIN, views_of
from tests.support.races import KEY, Table, choose_any
from tests.support.records import signed_record

HEADER = json.dumps({"type": "receipt", "server": "ws://here", "key": KEY.public.hex()})
NOTHING_MISSED = range(0)


def note(kind: str, data: bytes, at_ms: int = 0) -> str:
    return f'{{"at_ms":{at_ms},"{kind}":{data.decode()}}}'


def snapshot_at(steps: Sequence[Step], seat: int | None) -> str:
    return note("heard", make_catchup("a-b", StepHistory(list(steps)), seat, ORIGIN, 0).text, steps[-1].at_ms)


def said_with(step: Step, seat: int) -> list[str]:
    """Return our message that led to this step, if the step is of this seat."""
    event, before = step.event, step.before
    if not isinstance(event, PlayerReady | Revealed | Played) or event.seat != seat or before is None:
        return []
    if isinstance(event, Played):
        assert before.race is not None
        number = before.race.racers[seat].moves + 1
        return [note("said", encode(Play(number=number, move=event.move)), step.at_ms)]
    assert before.round is not None
    if isinstance(event, PlayerReady):
        return [note("said", encode(Ready(round=before.round.round_id, entropy_hash=event.entropy_hash)), step.at_ms)]
    return [note("said", encode(Reveal(round=before.round.round_id, entropy=event.entropy)), step.at_ms)]


def receipt_of(steps: Sequence[Step], seat: int = 0, missed: range = NOTHING_MISSED) -> list[str]:
    """Return the receipt of the client in this seat. It was away for the steps `missed`, and was started again."""
    start = next(place for place, step in enumerate(steps) if isinstance(step.event, RoundOpened))
    lines = [HEADER, snapshot_at(steps[: start + 1], seat)]
    watcher = views_of(steps[0].after)[seat]
    for place, step in enumerate(steps):
        shown = watcher.reveal(project(step))
        if place > start and place not in missed:
            lines += said_with(step, seat)
            if shown:
                told = encode_view(watcher.position, shown, watcher.tag)
                lines.append(note("heard", told, step.at_ms))
        if place + 1 == missed.stop:
            lines += [HEADER, snapshot_at(steps[: place + 1], seat)]
    return lines


def play_rounds(table: Table, count: int) -> None:
    """Play so many rounds of a match, each of which seat 1 resigns after a move of seat 0."""
    for _ in range(count):
        if table.state.phase is Phase.FINISHED and not table.state.match_is_over:
            table.let_time_pass()
        table.deal()
        table.let_time_pass()
        table.play(0, "sa")
        table.play(1, "resign")


def opened_at(table: Table) -> list[int]:
    """Return the places of the steps that opened a round."""
    return [place for place, step in enumerate(table.steps) if isinstance(step.event, RoundOpened)]


@pytest.fixture(scope="module")
def table() -> Table:
    """A race that the clock ended after some moves."""
    made = Table(3, RoomOptions())
    made.start()
    made.race(choose_any, most=12)
    while made.state.phase is Phase.RACING:
        made.let_time_pass()
    return made


@pytest.fixture(scope="module")
def record(table: Table) -> Record:
    return signed_record(table)


@pytest.fixture(scope="module")
def lines(table: Table) -> list[str]:
    return receipt_of(table.steps)


@pytest.fixture(scope="module")
def three_rounds() -> Table:
    """A match of three rounds."""
    made = Table(4, RoomOptions(best_of=5))
    made.seat_both()
    play_rounds(made, 3)
    assert made.state.match_is_over
    return made


def compare(record: Record, lines: Sequence[str]) -> list[str]:
    return list(compare_receipt(record, lines))


def with_round(record: Record, **changes: Any) -> Record:
    (played,) = record.rounds
    return replace(record, rounds=(replace(played, **changes),))


def counts_of(lines: Sequence[str]) -> tuple[int, int]:
    """Return how many cards and moves the lines of a receipt show."""
    shown = [entry for line in lines for entry in json.loads(line).get("heard", {}).get("entries", ())]
    kinds = [entry["type"] for entry in shown]
    return kinds.count("turned"), kinds.count("moved")


def sentences(rounds: str, lines: Sequence[str], results: int, proved: int) -> list[str]:
    cards, moves = counts_of(lines)
    shown = "result of 1 round" if results == 1 else f"results of {results} rounds"
    bound = "1 round" if results == 1 else f"{results} rounds"
    return [
        f"Receipt: {rounds} rounds were shown to you, each before you committed to it.",
        f"Receipt: {cards} cards and {moves} moves that you were shown are in the record.",
        f"Receipt: you were shown the {shown}, and the record has the same.",
        f"Receipt: you were bound to {bound}, and saw the end of {proved} proved.",
    ]


def test_what_the_receipt_confirms_is_counted(record: Record, lines: list[str]) -> None:
    assert compare(record, lines) == sentences("1 of 1", lines, 1, 1)


def test_a_message_that_was_kept_twice_counts_once(record: Record, lines: list[str]) -> None:
    twice = [each for line in lines for each in ([line, line] if '"heard":{"type":"view"' in line else [line])]
    assert compare(record, twice) == sentences("1 of 1", lines, 1, 1)


def test_a_receipt_of_several_rounds_confirms_all_of_them(three_rounds: Table) -> None:
    lines, record = receipt_of(three_rounds.steps), signed_record(three_rounds)
    word = "The server says that the other player resigned; only that player's client can check this."
    resigned = [f"Receipt: round {played.round_id.hex()}: {word}" for played in record.rounds]
    assert compare(record, lines) == [*sentences("3 of 3", lines, 3, 0), *resigned]


def test_a_receipt_from_a_server_with_another_key_is_told_apart(record: Record, lines: list[str]) -> None:
    header = json.dumps({"type": "receipt", "server": "ws://here", "key": bytes(32).hex()})
    with pytest.raises(
        WrongRecord, match=f"^Line 1 of the receipt: the server had the key {bytes(32).hex()}, not that"
    ):
        compare(record, [header, *lines[1:]])


@pytest.mark.parametrize("line", [note("said", encode(Rematch())), note("heard", encode(Placed(placed=(4, 4))))])
def test_a_message_that_a_receipt_does_not_keep_is_refused(record: Record, lines: list[str], line: str) -> None:
    with pytest.raises(BadReceipt, match=r"^Line 3 of the receipt holds a message that a receipt does not keep$"):
        compare(record, [*lines[:2], line, *lines[2:]])


def ready(round_id: bytes) -> str:
    return note("said", encode(Ready(round=round_id, entropy_hash=bytes(32))))


def reveal(round_id: bytes) -> str:
    return note("said", encode(Reveal(round=round_id, entropy=bytes(32))))


def test_a_round_that_was_not_shown_yet_is_not_one_to_commit_to(record: Record) -> None:
    with pytest.raises(
        WrongRecord, match=r"^Line 2 .*we committed ourselves to a round before its commitment was shown"
    ):
        compare(record, [HEADER, ready(record.rounds[0].round_id)])


def test_a_commitment_to_an_earlier_round_does_not_replace_the_newer_one(three_rounds: Table) -> None:
    lines, first = receipt_of(three_rounds.steps), signed_record(three_rounds).rounds[0]
    assert first.entropy_hashes[0] is not None
    again = note("said", encode(Ready(round=first.round_id, entropy_hash=first.entropy_hashes[0])))
    second = [place for place, line in enumerate(lines) if '"said":{"type":"ready"' in line][1]
    assert compare(signed_record(three_rounds), [*lines[: second + 1], again, *lines[second + 1 :]])


def test_a_receipt_without_a_seat_has_nothing_of_ours_to_compare(table: Table, record: Record) -> None:
    round_id, shown = record.rounds[0].round_id, snapshot_at(table.steps[: opened_at(table)[0] + 1], None)
    told = compare(record, [HEADER, shown, ready(round_id), reveal(round_id)])
    assert told[0].startswith("Receipt: 1 of 1 rounds")


def test_entropy_that_we_were_not_committed_to_is_compared_all_the_same(table: Table, record: Record) -> None:
    shown = snapshot_at(table.steps[: opened_at(table)[0] + 1], 0)
    with pytest.raises(WrongRecord, match="the record has another entropy for us than the one that we sent"):
        compare(record, [HEADER, shown, reveal(record.rounds[0].round_id)])


@pytest.mark.parametrize(("field", "what"), [("entropy_hashes", "entropy hash"), ("entropies", "entropy")])
def test_a_record_with_other_bytes_of_ours_is_found_out(
    record: Record, lines: list[str], field: str, what: str
) -> None:
    other = (bytes(32), getattr(record.rounds[0], field)[1])
    sentence = f"^Line .*: the record has another {what} for us than the one that we sent"
    with pytest.raises(WrongRecord, match=sentence):
        compare(with_round(record, **{field: other}), lines)


def test_entropy_that_came_too_late_need_not_be_in_the_record() -> None:
    table = Table(1)
    table.seat_both()
    entropies = table.get_ready(0, 1)
    table.reveal(1, entropies[1])
    table.let_time_pass()
    record, lines = signed_record(table), receipt_of(table.steps)
    late = note("said", encode(Reveal(round=record.rounds[0].round_id, entropy=entropies[0])), table.now_ms)
    assert compare(record, [*lines[:-1], late, lines[-1]])[0].startswith("Receipt: 1 of 1 rounds")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"commitment": bytes(32)}, "commitment"),
        ({"entropy_hashes": 0}, "entropy hash of seat 1"),
        ({"entropy_hashes": 1}, "entropy hash of seat 2"),
        ({"entropies": 0}, "entropy of seat 1"),
        ({"entropies": 1}, "entropy of seat 2"),
        ({"envelopes": ()}, "set of envelopes"),
    ],
)
def test_a_snapshot_that_differs_from_the_record_names_the_difference(
    table: Table, record: Record, changes: dict[str, Any], what: str
) -> None:
    """A number in `changes` is the seat whose bytes are others in the record."""
    for field, seat in changes.items():
        if isinstance(seat, int):
            values = list(getattr(record.rounds[0], field))
            values[seat] = bytes(32)
            changes = {field: tuple(values)}
    shown = snapshot_at(table.steps, None)
    sentence = rf"^Line 2 of the receipt: the record has another {what} than the one that was shown\.$"
    with pytest.raises(WrongRecord, match=sentence):
        compare(with_round(record, **changes), [HEADER, shown])


def test_a_record_of_another_deal_is_found_out_at_its_first_card(record: Record, lines: list[str]) -> None:
    with pytest.raises(WrongRecord, match=r"^Line \d+ .*: the deal of the record has another card than .. there\.$"):
        compare(with_round(record, secret=bytes(32)), lines)


def our_moves(record: Record) -> list[RecordedMove]:
    return [event for event in record.rounds[0].events if isinstance(event, RecordedMove) and event.seat == 0]


def test_a_record_that_lacks_our_last_move_is_found_out(record: Record, lines: list[str]) -> None:
    moves = our_moves(record)
    events = tuple(event for event in record.rounds[0].events if event is not moves[-1])
    sentence = f": move {len(moves)} of ann was {moves[-1].move}; the record has another one"
    with pytest.raises(WrongRecord, match=sentence):
        compare(with_round(record, events=events), lines)


def test_a_record_with_another_move_of_ours_is_found_out(record: Record, lines: list[str]) -> None:
    first, other = (
        our_moves(record)[0],
        next(each for each in our_moves(record) if each.move is not our_moves(record)[0].move),
    )
    events = tuple(replace(event, move=other.move) if event is first else event for event in record.rounds[0].events)
    with pytest.raises(WrongRecord, match=f": move 1 of ann was {first.move}; the record has another one"):
        compare(with_round(record, events=events), lines)


def test_a_record_with_another_result_is_found_out(record: Record, lines: list[str]) -> None:
    outcome = record.rounds[0].outcome
    assert outcome is not None
    other = replace(outcome, winner=0 if outcome.winner else 1)
    with pytest.raises(WrongRecord, match=": the result that was shown is not the one in the record"):
        compare(with_round(record, outcome=other), lines)


@pytest.mark.parametrize("dropped", [0, 1])
def test_a_round_that_is_missing_in_the_record_is_found_out(three_rounds: Table, dropped: int) -> None:
    record = signed_record(three_rounds)
    missing = record.rounds[dropped]
    kept = tuple(each for each in record.rounds if each is not missing)
    sentence = f"^The round {missing.round_id.hex()} belongs to this match and is missing in the record"
    with pytest.raises(WrongRecord, match=sentence):
        compare(replace(record, rounds=kept), receipt_of(three_rounds.steps))


def test_a_round_to_which_nobody_was_committed_may_be_missing() -> None:
    table = Table(5)
    table.seat_both()
    table.get_ready(0)
    table.let_time_pass()
    table.seat_both()
    play_rounds(table, 1)
    record = signed_record(table)
    raced = tuple(each for each in record.rounds if each.is_dealt)
    assert compare(replace(record, rounds=raced), receipt_of(table.steps))[0].startswith("Receipt: 1 of 1 rounds")


@pytest.fixture(scope="module")
def two_matches() -> Table:
    """Two matches of one round each in the same room."""
    made = Table(6)
    made.seat_both()
    play_rounds(made, 1)
    made.rematch()
    play_rounds(made, 1)
    return made


def test_the_rounds_of_an_earlier_match_are_not_missing(two_matches: Table) -> None:
    told = compare(signed_record(two_matches), receipt_of(two_matches.steps))
    assert told[0].startswith("Receipt: 1 of 1 rounds")


def test_a_client_that_missed_the_end_of_a_match_does_not_miss_its_rounds(two_matches: Table) -> None:
    second = opened_at(two_matches)[1]
    lines = receipt_of(two_matches.steps, missed=range(second - 4, second + 1))
    assert compare(signed_record(two_matches), lines)[0].startswith("Receipt: 1 of 1 rounds")


def test_a_round_before_a_gap_is_missing_if_the_record_has_an_earlier_one(three_rounds: Table) -> None:
    """The client was away when the third round opened; it has seen the first two in one go."""
    record, third = signed_record(three_rounds), opened_at(three_rounds)[2]
    lines = receipt_of(three_rounds.steps, missed=range(third, third + 1))
    with pytest.raises(WrongRecord, match="belongs to this match and is missing in the record"):
        compare(replace(record, rounds=(record.rounds[0], record.rounds[2])), lines)
