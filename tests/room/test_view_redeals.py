"""The horizon rule through redeals, against an independent computation of how far each seat has seen.

The oracle does not use the turns that the code computes. It takes the turned card of a seat, counts the redeals that
the seat has made, and finds the card's position in the committed order of that pass.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.moves import MOVES, REDEAL
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room import events
from fairest_server.room.projection import project
from fairest_server.room.steps import Step
from fairest_server.room.view import scene, view, views_of
from tests.support.races import Table, raced

EVER = (99, 0)
seeds = st.integers(min_value=0, max_value=2**32)
eagerness = st.sampled_from([(1, 1), (20, 1), (1, 20), (300, 1), (1, 4)])
stops = st.sampled_from([0.0, 0.0, 0.01])
viewers = st.sampled_from([0, 1, None])
with_redeals = st.sampled_from(
    [
        RoomOptions(rules="redeal", redeals=2),
        RoomOptions(rules="betsy-ross"),
        RoomOptions(rules="classic", piles=5, redeals=1),
        RoomOptions(rules="reverse", redeals=1),
        RoomOptions(rules="broken", piles=2, redeals=1),
    ]
)
Place = tuple[int, int]


def redeals_made(steps: Sequence[Step], seat: int) -> int:
    return sum(
        isinstance(step.event, events.Played) and step.event.seat == seat and step.event.move is REDEAL
        for step in steps
    )


def place_of(steps: Sequence[Step], seat: int) -> Place:
    """Return the pass, and the position of the turned card in it: after the last card if no card is turned."""
    race = steps[-1].after.race
    assert race is not None
    order, turned = race.deal.orders[redeals_made(steps, seat)], race.racers[seat].board.turned
    return redeals_made(steps, seat), len(order) if turned is None else order.index(turned)


def horizon_of(steps: Sequence[Step]) -> Place:
    race = steps[-1].after.race
    assert race is not None
    return min((place_of(steps, seat) for seat in (0, 1) if not race.racers[seat].ending), default=EVER)


@given(seeds, with_redeals, eagerness, stops, viewers)
def test_of_the_other_seat_exactly_what_is_within_the_horizon_is_shown(
    seed: int, options: RoomOptions, eagerness: tuple[int, int], stops: float, viewer: int | None
) -> None:
    """Decisions before the horizon, cards up to it, and on the last turn everything: no more and no less."""
    steps = raced(seed, options, eagerness=eagerness, stops=stops).steps
    viewed = views_of(steps[0].after)[viewer]
    shown: list[Entry] = []
    decisions: dict[int, list[Place]] = {0: [], 1: []}
    cards: dict[int, list[Place]] = {0: [], 1: []}
    for count, step in enumerate(steps, 1):
        shown.extend(map(decode_entry, viewed.reveal(project(step))))
        race = step.after.race
        if race is None or not any(racer.moves for racer in race.racers):
            continue
        if isinstance(step.event, events.Played):
            seat = step.event.seat
            if not cards[seat]:
                cards[seat].append((0, 0))
            decisions[seat].append(place_of(steps[: count - 1], seat))
            now = place_of(steps[:count], seat)
            if now != decisions[seat][-1] and race.racers[seat].board.turned is not None:
                cards[seat].append(now)
        horizon = horizon_of(steps[:count])
        last = (race.rules.redeals, len(race.deal.orders[0]))
        for other in {0, 1} - {viewer}:
            moves = sum(isinstance(entry, entries.Moved) and entry.seat == other for entry in shown)
            turned = sum(isinstance(entry, entries.Turned) and entry.seat == other for entry in shown)
            assert moves == sum(place < horizon or place == horizon == last for place in decisions[other])
            assert turned == max(1, sum(place <= horizon for place in cards[other]))


@given(seeds, with_redeals, eagerness, stops, viewers)
def test_the_scene_of_a_viewer_ends_with_the_boards_of_the_race(
    seed: int, options: RoomOptions, eagerness: tuple[int, int], stops: float, viewer: int | None
) -> None:
    table = raced(seed, options, eagerness=eagerness, stops=stops)
    seen = scene(table.state, view(table.steps, viewer))
    assert table.state.race is not None
    assert [seat.board for seat in seen.seats] == [racer.board for racer in table.state.race.racers]


@pytest.mark.parametrize("viewer", [1, None])
def test_a_redeal_is_not_shown_before_the_other_player_has_redealt(viewer: int | None) -> None:
    table = Table(1, RoomOptions(rules="redeal"))
    table.start()
    for _ in range(48):
        table.play(0, "sa")
        table.play(1, "sb")
    table.play(0, "redeal")
    before = len(view(table.steps, viewer))
    for _ in range(10):
        table.play(0, "sc")
    assert len(view(table.steps, viewer)) == before
    table.play(1, "redeal")
    moves = [entry for entry in view(table.steps, viewer)[before:] if isinstance(entry, entries.Moved)]
    assert [(entry.seat, entry.move) for entry in moves if entry.seat == 0] == [(0, REDEAL)]


def test_a_card_that_the_other_player_will_not_see_again_opens_once_its_position_is_passed() -> None:
    """Cards on seat 1's foundations do not come back to it; that seat 0 turned them shows once seat 1 is past them."""
    table = Table(3, RoomOptions(rules="redeal"))
    table.start()
    assert table.state.race is not None
    board = table.state.race.racers[1].board
    while board.turned is not None:
        direct = [move for move in board.legal_moves() if move.text[1].isdigit()]
        table.play(1, direct[0] if direct else "sa")
        table.play(0, "sa")
        board = table.state.race.racers[1].board
    table.play(0, "redeal")
    table.play(1, "redeal")
    order = table.state.race.deal.orders[1]
    waste = {order[place] for place in table.state.race.racers[1].ahead} | {table.state.race.racers[1].board.turned}
    for _ in range(48):
        table.play(0, MOVES["sa"])
    while table.state.race.racers[1].board.turned is not None:
        turned = [
            entry for entry in view(table.steps, 1) if isinstance(entry, entries.Turned) and entry.turn.pass_number
        ]
        theirs = [order[entry.turn.position] for entry in turned if entry.seat == 0]
        mine = [order[entry.turn.position] for entry in turned if entry.seat == 1]
        assert theirs == list(order[: order.index(mine[-1]) + 1])
        assert set(mine) <= waste
        table.play(1, "sb")
