"""The horizon rule, against an independent computation of what each seat has seen.

The oracle below does not use the turns that the code computes. It counts, in the log, the stock cards that each seat
has played, for rules without a redeal; tests/room/test_view_redeals.py tests the others.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry, encode_view
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.value import replace
from fairest_server.room import events
from fairest_server.room.projection import project
from fairest_server.room.steps import Step
from fairest_server.room.view import placed, scene, view, views_of
from tests.support.races import Table, choose_any, raced

STOCK = 48
EVER = 1000
seeds = st.integers(min_value=0, max_value=2**32)
eagerness = st.sampled_from([(1, 1), (20, 1), (1, 20), (300, 1), (1, 4)])
stops = st.sampled_from([0.0, 0.0, 0.01])
viewers = st.sampled_from([0, 1, None])


def is_stock_move(step: Step, seat: int) -> bool:
    """Return whether this seat moved a turned card: ``s2``, ``sa``; not ``stop``."""
    return isinstance(step.event, events.Played) and step.event.seat == seat and step.event.move.text[:-1] == "s"


def cards_played(steps: Sequence[Step], seat: int) -> int:
    """Return how many stock cards a seat has moved, which is the position of its turned card."""
    return sum(is_stock_move(step, seat) for step in steps)


def seen_by_counting(steps: Sequence[Step]) -> list[int]:
    """Return `cards_played` for each seat, or EVER for one whose race has ended."""
    race = steps[-1].after.race
    ended = [racer.ending for racer in race.racers] if race else [None, None]
    return [EVER if ended[seat] else cards_played(steps, seat) for seat in (0, 1)]


def turn_of_each_decision(steps: Sequence[Step], seat: int) -> list[int]:
    """Return for each decision of a seat how many stock cards it had moved before."""
    turns, played = [], 0
    for step in steps:
        if isinstance(step.event, events.Played) and step.event.seat == seat:
            turns.append(played)
            played += is_stock_move(step, seat)
    return turns


def moves_shown(shown: Sequence[Entry], seat: int) -> int:
    return sum(isinstance(entry, entries.Moved) and entry.seat == seat for entry in shown)


@given(seeds, eagerness, stops, viewers)
def test_a_decision_is_shown_exactly_when_every_racing_seat_is_past_its_turn(
    seed: int, eagerness: tuple[int, int], stops: float, viewer: int | None
) -> None:
    steps = raced(seed, eagerness=eagerness, stops=stops).steps
    viewed = views_of(steps[0].after)[viewer]
    shown: list[Entry] = []
    turns = [turn_of_each_decision(steps, 0), turn_of_each_decision(steps, 1)]
    for place, step in enumerate(steps, 1):
        shown.extend(map(decode_entry, viewed.reveal(project(step))))
        horizon = min(seen_by_counting(steps[:place]))
        made = [turn_of_each_decision(steps[:place], 0), turn_of_each_decision(steps[:place], 1)]
        for seat in {0, 1} - {viewer}:
            open_to_all = sum(turn < horizon or turn == horizon == STOCK for turn in turns[seat][: len(made[seat])])
            assert moves_shown(shown, seat) == open_to_all


@given(seeds, eagerness, viewers)
def test_no_frame_holds_a_card_that_a_racing_seat_has_not_turned(
    seed: int, eagerness: tuple[int, int], viewer: int | None
) -> None:
    steps = raced(seed, eagerness=eagerness).steps
    viewed = views_of(steps[0].after)[viewer]
    for place, step in enumerate(steps, 1):
        shown = viewed.reveal(project(step))
        race = step.after.race
        if race is None or race.is_over or not shown:
            continue
        own = 0 if viewer is None else cards_played(steps[:place], viewer)
        hidden = race.deal.orders[0][max(own, min(seen_by_counting(steps[:place]))) + 1 :]
        frame = encode_view(1, shown, "00000000").decode()
        assert not [card for card in hidden if f'"{card}"' in frame]


@given(seeds, eagerness, viewers, st.integers(min_value=1, max_value=200))
def test_a_snapshot_holds_no_card_that_the_viewer_may_not_know(
    seed: int, eagerness: tuple[int, int], viewer: int | None, cut: int
) -> None:
    steps = raced(seed, eagerness=eagerness).steps[: 12 + cut]
    state = steps[-1].after
    if state.race is None or state.race.is_over:
        return
    shown = view(steps, viewer)
    snapshot = Snapshot(tag="00000000", room="a-b", seat=None, position=len(shown), now_ms=0, scene=scene(state, shown))
    own = 0 if viewer is None else cards_played(steps, viewer)
    hidden = state.race.deal.orders[0][max(own, min(seen_by_counting(steps))) + 1 :]
    assert not [card for card in hidden if f'"{card}"' in encode(snapshot).decode()]


@given(seeds, eagerness)
def test_a_refusal_says_nothing_about_the_leader(seed: int, eagerness: tuple[int, int]) -> None:
    """The same refused move, before and after the other seat ran ahead, gets the same bytes."""
    table = Table(seed)
    table.start()
    refused = table.request(1, Play(number=1, move=MOVES["ab"]))
    before = table.submit(refused)
    for _ in range(sum(eagerness) % 30):
        if table.state.phase is Phase.RACING and table.state.race and not table.state.race.racers[0].ending:
            table.play(0, choose_any(table.state.race.racers[0].board, table.chance))
    if table.state.phase is Phase.RACING:
        assert isinstance(before, Refused)
        assert table.submit(refused) == before


@given(seeds, eagerness, stops, viewers)
def test_after_the_round_the_moves_of_each_seat_are_shown_in_their_order(
    seed: int, eagerness: tuple[int, int], stops: float, viewer: int | None
) -> None:
    steps = raced(seed, eagerness=eagerness, stops=stops).steps
    shown = view(steps, viewer)
    for seat in (0, 1):
        made = [step.event.move for step in steps if isinstance(step.event, events.Played) and step.event.seat == seat]
        moved = [entry.move for entry in shown if isinstance(entry, entries.Moved) and entry.seat == seat]
        assert moved == made


@given(seeds, eagerness, stops, viewers)
def test_the_scene_of_a_viewer_ends_with_the_boards_of_the_race(
    seed: int, eagerness: tuple[int, int], stops: float, viewer: int | None
) -> None:
    table = raced(seed, eagerness=eagerness, stops=stops)
    seen = scene(table.state, view(table.steps, viewer))
    assert table.state.race is not None
    assert [seat.board for seat in seen.seats] == [racer.board for racer in table.state.race.racers]


@given(seeds, viewers)
def test_a_view_is_the_same_in_every_process(seed: int, viewer: int | None) -> None:
    """A view read from the whole log, and one that followed it step by step, have the same entries and positions."""
    steps = raced(seed, eagerness=(5, 1)).steps
    live = views_of(steps[0].after)[viewer]
    shown = [decode_entry(text) for step in steps for text in live.reveal(project(step))]
    assert shown == view(steps, viewer)
    assert live.cursor.position == len(shown)


def test_of_a_leader_far_ahead_a_spectator_sees_only_the_first_card() -> None:
    table = Table(1)
    table.start()
    before = len(view(table.steps, None))
    for _ in range(30):
        table.play(0, "sa")
    assert len(view(table.steps, None)) == before


def test_a_leader_far_ahead_is_followed_step_by_step() -> None:
    table = Table(1)
    table.start()
    for _ in range(30):
        table.play(0, "sa")
    before = len(view(table.steps, 1))
    table.play(1, "sb")
    shown = view(table.steps, 1)[before:]
    assert [entry.type for entry in shown] == ["moved", "turned", "moved", "turned"]


def test_in_an_open_room_spectators_see_everything_at_once() -> None:
    table = Table(1, RoomOptions(spectators=Spectators.OPEN))
    table.start()
    table.play(0, "sa")
    assert moves_shown(view(table.steps, None), 0) == 1
    assert moves_shown(view(table.steps, 1), 0) == 0


def test_when_one_seat_has_stopped_spectators_see_the_other_live() -> None:
    table = Table(1)
    table.start()
    for _ in range(10):
        table.play(0, "sa")
    table.play(1, "stop")
    assert moves_shown(view(table.steps, None), 0) == 10


def test_the_secret_is_shown_when_the_round_is_over_and_not_before() -> None:
    table = Table(1)
    table.start()
    assert table.state.round is not None
    secret = table.state.round.secret.hex()

    def view_text(viewer: int | None) -> str:
        return encode(View(tag="00000000", position=1, entries=tuple(view(table.steps, viewer)))).decode()

    assert not any(secret in view_text(viewer) for viewer in (0, 1, None))
    table.play(0, "resign")
    assert all(secret in view_text(viewer) for viewer in (0, 1, None))


def test_there_are_placed_counts_only_while_a_race_is_on() -> None:
    table = Table(1)
    assert placed(table.state) is None
    table.start()
    assert placed(table.state) == (4, 4)


def test_there_are_no_placed_counts_before_the_start_or_after_the_end_of_a_race() -> None:
    table = Table(1)
    table.seat_both()
    table.deal()
    assert (table.state.phase, placed(table.state)) == (Phase.COUNTDOWN, None)
    table.let_time_pass()
    table.play(0, "resign")
    assert (table.state.phase, placed(table.state)) == (Phase.FINISHED, None)


def test_the_placed_counts_are_those_of_each_seat() -> None:
    table = Table(1)
    table.start()
    assert table.state.race is not None
    first, second = table.state.race.racers
    laid = first.board.foundations
    five = replace(first.board, foundations=((*laid[0], Card("2C")), *laid[1:]))
    three = replace(first.board, foundations=((), *laid[1:]))
    racers = (replace(first, board=five), replace(second, board=three))
    assert placed(table.state.with_race(replace(table.state.race, racers=racers))) == (5, 3)


def test_how_a_seat_ended_stays_hidden_until_the_round_is_over() -> None:
    table = Table(1)
    table.start()
    table.play(0, "stop")
    shown = [entry for entry in view(table.steps, 1) if isinstance(entry, entries.Stopped)]
    assert [set(entry.model_dump()) for entry in shown] == [{"type", "seat", "until_ms"}]


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_indices_of_the_log_never_reach_the_wire(viewer: int | None) -> None:
    """Positions count the entries of one view, so no gap shows where an entry is held back."""
    table = Table(1)
    table.start()
    viewed = views_of(table.steps[0].after)[viewer]
    positions: list[int] = []
    for step in table.steps:
        shown = viewed.reveal(project(step))
        positions.extend(range(viewed.cursor.position - len(shown) + 1, viewed.cursor.position + 1))
    assert positions == list(range(1, viewed.cursor.position + 1))
