"""The entries of a room's rounds for the chain of rounds: each round is opened and ended once, whatever happens."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room import events
from fairest_server.room.checkpoint import make_checkpoint
from fairest_server.room.commands import CloseRoom, TakeSeat
from fairest_server.room.round_entries import round_entries
from fairest_server.room.steps import LogEntry, fold
from tests.support.races import Table, race_match, raced


def told(table: Table) -> list[dict[str, Any]]:
    return [json.loads(text) for text in round_entries(table.steps)]


def test_a_raced_round_is_opened_then_proved_with_the_endings_of_both_seats() -> None:
    table = raced(1)
    opened, ended = told(table)
    assert (opened["type"], ended["how"], ended["why"]) == ("opened", "proved", None)
    outcome = table.state.round.outcome if table.state.round else None
    assert outcome is not None
    assert table.state.round is not None
    assert table.state.round.sealed is not None
    assert ended["seed"] == table.state.round.sealed.seed.hex()
    assert ended["endings"] == [score.ending for score in outcome.scores]


def test_a_round_that_a_player_leaves_before_both_are_ready_is_voided() -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0)
    table.submit(table.request(1, Leave()))
    ended = told(table)[-1]
    assert (ended["how"], ended["why"], ended["endings"]) == ("voided", "left", None)


def test_a_round_that_a_player_leaves_before_the_deal_is_broken_off() -> None:
    table = Table(1)
    table.seat_both()
    table.deal(revealing=[0])
    table.submit(table.request(1, Leave()))
    ended = told(table)[-1]
    assert (ended["how"], ended["endings"]) == ("broken_off", ["round_over", "resigned"])
    assert (ended["revealed"], ended["seed"]) == ([True, False], None)


def test_a_round_whose_room_the_operator_closes_is_voided_or_shows_its_deck() -> None:
    voided, racing = Table(1), Table(2)
    voided.seat_both()
    racing.start()
    for table in (voided, racing):
        table.submit(CloseRoom("maintenance"))
    assert [told(table)[-1]["how"] for table in (voided, racing)] == ["voided", "proved"]


def test_the_rounds_of_a_match_and_of_a_rematch_all_have_entries() -> None:
    table = Table(3, RoomOptions(best_of=3))
    table.start()
    for _ in range(2):
        race_match(table)
        table.rematch()
        table.deal()
        table.let_time_pass()
    opened = [entry for entry in told(table) if entry["type"] == "opened"]
    assert len(opened) == sum(isinstance(step.event, events.RoundOpened) for step in table.steps)
    assert len(told(table)) == 2 * len(opened) - 1, "the last round is still open"


@given(st.integers(0, 10_000), st.lists(st.integers(0, 8), max_size=60))
def test_every_round_has_one_opening_and_at_most_one_end_that_opens_its_commitment(seed: int, deeds: list[int]) -> None:
    table = Table(seed, RoomOptions(best_of=3))
    table.seat_both()
    for deed in deeds:
        do(table, deed)
    entries = told(table)
    opened = [entry["commitment"] for entry in entries if entry["type"] == "opened"]
    ended = [entry for entry in entries if entry["type"] == "ended"]
    rounds = [step.event for step in table.steps if isinstance(step.event, events.RoundOpened)]
    assert opened == [commit_secret(each.round, each.secret).hex() for each in rounds]
    still_open = table.state.phase in (Phase.READY, Phase.DEALING, Phase.COUNTDOWN, Phase.RACING)
    assert [entry["commitment"] for entry in ended] == opened[: len(opened) - still_open]
    for entry in ended:
        assert (entry["how"] == "proved") == all(entry["revealed"]) == (entry["seed"] is not None)


def do(table: Table, deed: int) -> None:
    """Do one of the things that may happen to a room, if it may happen now."""
    state = table.state
    if state.phase is Phase.CLOSED:
        return
    if deed == 0 and state.next_deadline() is not None:
        table.let_time_pass()
    elif deed in (1, 2) and state.seats[deed - 1] and (state.seat(deed - 1).connection_id or ""):
        table.submit(table.request(deed - 1, Leave()))
    elif deed == 3 and state.free_seat() is not None:
        table.submit(TakeSeat(f"player-{len(table.steps)}", "eve", f"link-{len(table.steps)}"))
    elif deed in (4, 5) and state.phase is Phase.READY:
        table.get_ready(deed - 4)
    elif deed == 6 and state.phase is Phase.READY and not any(seat and seat.entropy_hash for seat in state.seats):
        table.deal()
    elif deed == 7 and all(state.seats) and state.phase is Phase.FINISHED:
        table.rematch()
    elif deed == 8 and state.phase is not Phase.DEALING:
        table.submit(CloseRoom("maintenance"))


def test_a_log_that_begins_with_the_checkpoint_of_a_finished_round_does_not_end_it_again() -> None:
    table = raced(1)
    table.record_match()
    checkpoint = make_checkpoint(table.steps, 10**12)
    assert checkpoint is not None and checkpoint.state.phase is Phase.FINISHED
    steps = fold([LogEntry(1, "cut", table.now_ms, checkpoint)])
    assert list(round_entries(steps)) == []
