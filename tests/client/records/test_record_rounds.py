"""The proof of each round of a record by `fairest verify`, and rounds that cannot be."""

from collections.abc import Sequence
from typing import Any

import pytest

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.records.record_check import WrongRecord, prove_shown, verify_record
from fairest_protocol.calculation.race import Ending, Outcome, undealt_outcome
from fairest_protocol.calculation.record import Record, RecordedRound
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.races import KEY, Table, raced, start_next_round
from tests.support.records import signed_record, text_of


def verify(record: Record, key: bytes | None = None) -> list[str]:
    """Sign a record and return what is said of it."""
    _, checks = verify_record(text_of(KEY.sign(record)), key)
    return list(checks)


@pytest.fixture(scope="module")
def record() -> Record:
    return signed_record(raced(3, RoomOptions(rules="redeal")))


@pytest.fixture(scope="module")
def undealt() -> Record:
    """A match that ended before the deal: seat 0 did not reveal its entropy."""
    table = Table(1)
    table.seat_both()
    table.deal(revealing=[1])
    table.let_time_pass()
    return signed_record(table)


def with_round(record: Record, **changes: Any) -> Record:
    (played,) = record.rounds
    return replace(record, rounds=(replace(played, **changes),))


def sentences(record: Record) -> list[str]:
    (played,) = record.rounds
    lines = len(list(record.lines()))
    count = sum(map(len, played.envelopes))
    return [
        f"{lines} lines, each chained to the one before: none was changed, left out or moved.",
        f"Signed with the key {KEY.public.hex()}.",
        "Round 1: the server committed itself to its secret before anybody was ready, and has shown it.",
        "Round 1: both players committed themselves to their entropy before they saw the other's.",
        f"Round 1: secret and entropies make the deal; {count} of {count} envelopes hold its cards.",
    ]


def test_the_seal_of_a_record_is_proved_sentence_by_sentence(record: Record) -> None:
    assert verify(record)[:5] == sentences(record)


def test_a_key_that_was_known_is_said_to_be_the_right_one(record: Record) -> None:
    assert verify(record, KEY.public)[1] == f"Signed with the key {KEY.public.hex()}, as it should be."


def test_a_record_without_its_last_line_feed_is_said_to_lack_it(record: Record) -> None:
    with pytest.raises(WrongRecord, match=r"its last line has no line feed\.$"):
        verify_record(text_of(record)[:-1])


def test_a_draw_is_said_to_be_one() -> None:
    table = Table(1)
    table.start()
    while table.state.phase is Phase.RACING:
        table.let_time_pass()
    assert verify(signed_record(table))[-1].endswith("lead to the result: a draw, 4 to 4.")


@pytest.mark.parametrize("dropped", ["envelopes", "events"])
def test_a_round_without_a_deal_has_neither_envelopes_nor_moves(record: Record, dropped: str) -> None:
    entropies = (None, record.rounds[0].entropies[1])
    with pytest.raises(WrongRecord, match=r"^Round 1: there are cards or moves, but no deal\.$"):
        verify(with_round(record, entropies=entropies, **{dropped: ()}))


def outcome_of(record: Record, *endings: Ending) -> Outcome:
    return undealt_outcome(record.rules, endings)


@pytest.mark.parametrize(
    "endings",
    [
        (Ending.NOT_REVEALED, Ending.ROUND_OVER),
        (Ending.ROUND_OVER, Ending.RESIGNED),
        (Ending.NOT_REVEALED, Ending.NOT_REVEALED),
    ],
)
def test_a_player_who_did_not_reveal_or_resigned_has_lost_before_the_deal(
    undealt: Record, endings: tuple[Ending, ...]
) -> None:
    _, theirs = undealt.rounds[0].entropies
    entropies = (None, None if endings[1] is Ending.NOT_REVEALED else theirs)
    told = verify(with_round(undealt, entropies=entropies, outcome=outcome_of(undealt, *endings)))
    result = "a draw" if endings[0] is endings[1] else "bob wins" if endings[1] is Ending.ROUND_OVER else "ann wins"
    assert told[-1] == f"Round 1: ended before its cards were dealt, by a player who left or did not reveal: {result}."


@pytest.mark.parametrize(
    "endings",
    [
        (Ending.ROUND_OVER, Ending.ROUND_OVER),
        (Ending.NOT_REVEALED, Ending.OUT_OF_TIME),
        (Ending.RESIGNED, Ending.RESIGNED),
        (Ending.NOT_REVEALED, Ending.RESIGNED),
        (Ending.NOT_REVEALED, Ending.NOT_REVEALED),
        (Ending.ROUND_OVER, Ending.NOT_REVEALED),
    ],
)
def test_other_endings_before_the_deal_are_found_out(undealt: Record, endings: tuple[Ending, ...]) -> None:
    with pytest.raises(WrongRecord, match=r"^Round 1: it has a result that a round without a deal cannot have\.$"):
        verify(with_round(undealt, outcome=outcome_of(undealt, *endings)))


def test_a_round_to_which_a_player_was_not_committed_has_no_result(undealt: Record) -> None:
    hashes = (None, undealt.rounds[0].entropy_hashes[1])
    with pytest.raises(WrongRecord, match="it has a result, and not both players were ready"):
        verify(with_round(undealt, entropy_hashes=hashes))


def test_another_score_than_nothing_before_the_deal_is_found_out(undealt: Record) -> None:
    outcome = undealt.rounds[0].outcome
    assert outcome is not None
    with pytest.raises(WrongRecord, match="a result that a round without a deal cannot have"):
        verify(with_round(undealt, outcome=replace(outcome, winner=0)))


def with_first_time(record: Record, at_ms: int) -> Record:
    first, *events = record.rounds[0].events
    return with_round(record, events=(replace(first, at_ms=at_ms), *events))


def test_a_move_may_be_made_in_the_very_moment_of_the_start(record: Record) -> None:
    assert verify(with_first_time(record, 0))


def test_a_move_before_the_start_is_found_out(record: Record) -> None:
    with pytest.raises(
        WrongRecord, match=r"^Line 3 is not a line of a record: no server writes a line of type 'move' like this"
    ):
        verify(with_first_time(record, -1))


def told_before_the_fault(record: Record) -> Sequence[str]:
    _, checks = verify_record(text_of(KEY.sign(record)))
    told: list[str] = []
    with pytest.raises(WrongRecord):
        told.extend(checks)
    return told


def test_nothing_is_said_of_a_race_whose_result_is_wrong() -> None:
    """Of two rounds the first one has another winner in the record."""
    table = Table(4, RoomOptions(best_of=3))
    table.start()
    table.play(1, "resign")
    start_next_round(table)
    table.play(1, "resign")
    record = signed_record(table)
    first, second = record.rounds
    outcome = first.outcome
    assert outcome is not None
    forged: RecordedRound = replace(first, outcome=replace(outcome, winner=1))
    told = told_before_the_fault(replace(record, rounds=(forged, second)))
    assert not any("lead to the result" in sentence for sentence in told)


@pytest.fixture(scope="module")
def shown() -> KnownRoom:
    """The model of a player at the end of a match."""
    return staged.finished().model(0)


@pytest.fixture(scope="module")
def shown_record() -> Record:
    return staged.finished().record()


def prove(record: Record, model: KnownRoom) -> None:
    prove_shown(list(KEY.sign(record).lines()), model)


def test_the_record_of_what_we_were_shown_is_accepted(shown: KnownRoom, shown_record: Record) -> None:
    prove(shown_record, shown)


def test_the_record_of_another_room_is_not_ours(shown: KnownRoom, shown_record: Record) -> None:
    with pytest.raises(WrongRecord, match=r"^It is of the room other-room, and not of quiet-amber-otter\.$"):
        prove(replace(shown_record, room="other-room"), shown)


def with_piles_emptied(model: KnownRoom) -> KnownRoom:
    """Return the model as if our own piles were empty."""
    assert model.scene is not None and model.scene.seats[0].board is not None
    first, second = model.scene.seats
    board = replace(model.scene.seats[0].board, piles=((),) * 4)
    seats = (first.model_copy(update={"board": board}), second)
    return replace(model, scene=model.scene.model_copy(update={"seats": seats}))


def test_other_boards_than_ours_are_noticed(shown: KnownRoom, shown_record: Record) -> None:
    with pytest.raises(WrongRecord, match=r"^Its boards are not those that we were shown\.$"):
        prove(shown_record, with_piles_emptied(shown))


def test_the_boards_are_compared_once_the_race_is_over(shown: KnownRoom, shown_record: Record) -> None:
    emptied = with_piles_emptied(shown)
    assert emptied.scene is not None
    racing = replace(emptied, scene=emptied.scene.model_copy(update={"phase": Phase.RACING}))
    prove(shown_record, racing)


def test_the_boards_of_another_round_are_not_compared(shown: KnownRoom, shown_record: Record) -> None:
    emptied = with_piles_emptied(shown)
    prove(shown_record, replace(emptied, seal_check=replace(emptied.seal_check, round_id=bytes(16))))


def test_a_round_that_was_called_off_has_no_boards_to_compare(undealt: Record) -> None:
    table = Table(1)
    table.seat_both()
    model = staged.StagedRoom(table).model(None)
    assert model.seal_check.round_id == undealt.rounds[0].round_id
    prove(undealt, model)


def test_a_record_is_proved_without_a_scene(shown: KnownRoom, shown_record: Record) -> None:
    prove(shown_record, replace(shown, scene=None))


def test_a_record_with_a_wrong_envelope_is_not_accepted(shown: KnownRoom, shown_record: Record) -> None:
    (played,) = shown_record.rounds
    envelopes = ((bytes(32), *played.envelopes[0][1:]),)
    with pytest.raises(WrongRecord, match="holds another card"):
        prove(replace(shown_record, rounds=(replace(played, envelopes=envelopes),)), shown)


def test_a_record_that_is_signed_with_another_key_than_we_were_shown_is_not_accepted(
    shown: KnownRoom, shown_record: Record
) -> None:
    other = replace(shown, seal_check=replace(shown.seal_check, key=bytes(32)))
    with pytest.raises(WrongRecord, match="is signed with the key"):
        prove(shown_record, other)
