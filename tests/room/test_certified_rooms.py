"""A certified room: the deal waits for its step, which nobody can choose, and no round ends without it."""

import pytest

from fairest_protocol.calculation.certified import find_step
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room import events
from fairest_server.room.commands import CloseRoom, CreateRoom, DealStep, ExpireDeadline
from fairest_server.room.decide import decide
from fairest_server.room.lobby_entry import list_room
from fairest_server.room.round_entries import round_entries
from fairest_server.room.state import RoomState, has_work_left, round_seed
from fairest_server.room.view import view
from fairest_server.store.log_entries import format_event, parse_event
from tests.support.races import Table, race_match, raced
from tests.support.records import unsigned_record

CERTIFIED = RoomOptions(certified=1)


@pytest.fixture
def waiting() -> Table:
    """A certified room in which both players have revealed, and no step was found yet."""
    table = Table(3, CERTIFIED)
    table.seat_both()
    for seat, entropy in table.get_ready(0, 1).items():
        table.reveal(seat, entropy)
    return table


def round_id(state: RoomState) -> bytes:
    assert state.round is not None
    return state.round.round_id


def test_the_cards_are_not_dealt_before_the_step_is_found(waiting: Table) -> None:
    assert (waiting.state.phase, waiting.state.race) == (Phase.DEALING, None)


def test_the_step_deals_the_cards_of_its_own_seed(waiting: Table) -> None:
    seed = round_seed(waiting.state)
    waiting.submit(DealStep(round_id(waiting.state), 3))
    dealt = waiting.state.round
    assert dealt is not None and dealt.sealed is not None
    assert waiting.state.phase is Phase.COUNTDOWN
    assert dealt.sealed.deal == make_deal(waiting.state.rules, make_step_seed(seed, 3))


def test_a_second_process_with_the_same_step_changes_nothing(waiting: Table) -> None:
    command = DealStep(round_id(waiting.state), find_step(waiting.state.rules, round_seed(waiting.state)).step)
    waiting.submit(command)
    assert waiting.submit(command) == ()


def test_the_step_of_another_round_deals_nothing(waiting: Table) -> None:
    assert waiting.submit(DealStep(bytes(16), 0)) == ()


def test_a_room_that_is_not_certified_takes_no_step() -> None:
    table = Table(3)
    table.seat_both()
    table.deal()
    assert table.submit(DealStep(round_id(table.state), 0)) == ()


def test_nobody_loses_for_the_time_that_the_step_takes(waiting: Table) -> None:
    assert waiting.state.next_deadline() is None
    assert waiting.submit(ExpireDeadline(waiting.now_ms + 10**9)) == ()


def test_some_process_looks_for_the_step_when_the_time_to_reveal_is_over(waiting: Table) -> None:
    assert has_work_left(waiting.state)
    assert waiting.state.next_check_ms() == waiting.state.clocks.phase_until_ms


def test_one_reveal_alone_waits_for_the_other_as_everywhere() -> None:
    table = Table(3, CERTIFIED)
    table.seat_both()
    table.deal(revealing=(0,))
    assert not has_work_left(table.state)
    table.let_time_pass()
    assert table.state.phase is Phase.FINISHED


def test_a_player_who_leaves_while_the_step_is_looked_for_is_away_and_the_round_is_dealt(waiting: Table) -> None:
    waiting.submit(waiting.request(0, Leave()))
    assert isinstance(waiting.steps[-1].event, events.Detached)
    waiting.deal_step()
    while waiting.state.phase is not Phase.FINISHED:
        waiting.let_time_pass()
    assert waiting.state.round is not None and waiting.state.round.outcome is not None
    assert waiting.state.round.outcome.scores[0].ending is Ending.AWAY


def test_the_operator_cannot_close_a_room_whose_step_is_looked_for(waiting: Table) -> None:
    refused = waiting.submit(CloseRoom("enough"))
    assert isinstance(refused, Refused) and refused.code is Refusal.WRONG_PHASE


def test_viewers_are_shown_the_step_with_the_deal(waiting: Table) -> None:
    waiting.deal_step()
    for viewer in (0, 1, None):
        [dealt] = [each for each in view(waiting.steps, viewer) if isinstance(each, entries.Dealt)]
        assert dealt.step == find_step(waiting.state.rules, round_seed(waiting.state)).step


def test_a_process_that_reads_the_log_deals_the_same_cards_without_a_solver(waiting: Table) -> None:
    waiting.deal_step()
    step = waiting.steps[-1]
    assert parse_event(format_event(step.event)) == step.event == events.StepFound(step=0)


def test_a_record_has_the_step_of_each_round_that_was_dealt() -> None:
    table = Table(6, RoomOptions(certified=1, best_of=3))
    table.start()
    race_match(table, stops=0.1)
    record = unsigned_record(table)
    assert record.terms.is_certified
    assert [each.step for each in record.rounds] == [
        find_step(record.rules, each.round_seed).step for each in record.rounds
    ]


def test_a_round_without_a_deal_has_no_step_in_the_record() -> None:
    table = Table(6, CERTIFIED)
    table.seat_both()
    table.deal(revealing=())
    table.let_time_pass()
    assert [each.step for each in unsigned_record(table).rounds] == [None]


def test_the_chain_of_rounds_names_the_rules_of_a_certified_round_apart() -> None:
    opened = [next(round_entries(raced(4, options).steps)) for options in (CERTIFIED, RoomOptions())]
    assert '"rules":"classic-certified 4 0"' in opened[0]
    assert '"rules":"classic 4 0"' in opened[1]


def test_the_lobby_says_that_a_room_is_certified() -> None:
    rows = [list_room("room-ab", Table(1, RoomOptions(listed=True, certified=each)).state, 0) for each in (1, None)]
    assert [row.model_dump(mode="json").get("certified", "nothing") for row in rows if row] == [1, "nothing"]


def test_rules_by_which_few_deals_are_proved_make_no_certified_room() -> None:
    table = Table(1)
    refused = decide(
        None, CreateRoom(RoomOptions(rules="single", certified=1), "player-0", "ann", "link-0"), table.draw_round
    )
    assert isinstance(refused, Refused) and refused.code is Refusal.BAD_RULES
    assert refused.sentence.startswith("A certified room needs 4 piles and redeals together")


def test_options_log_and_terms_of_other_rooms_have_no_word_of_certified_deals() -> None:
    table = raced(8)
    logged = b" ".join(map(bytes, (format_event(step.event) for step in table.steps)))
    assert b"certified" not in logged and b"step" not in logged
    assert not any("certified" in line or '"step"' in line for line in unsigned_record(table).lines())
