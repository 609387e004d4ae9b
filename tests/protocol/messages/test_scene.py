"""The scene: its first state, the boards that it refuses, and the entries that cannot follow it."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from fairest_protocol.calculation.board import Board, lay_out
from fairest_protocol.calculation.cards import Card, full_deck
from fairest_protocol.calculation.deal import make_deal, seal_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import MAX_PILES, choose_rules
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Phase, Seat
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import replace

CLASSIC = choose_rules("classic")
SEALED = seal_deal(CLASSIC, bytes(32), bytes(16))
STOCK = SEALED.deal.orders[0]
LAID = lay_out(CLASSIC, make_deal(CLASSIC, bytes(32)))
EMPTY_SEAT = {
    "name": None,
    "is_connected": False,
    "until_ms": None,
    "entropy_hash": None,
    "entropy": None,
    "wins": 0,
    "matches_won": 0,
    "wants_rematch": False,
    "board": None,
    "turn": None,
    "moves": 0,
    "has_stopped": False,
}
EMPTY_ROOM = {
    "phase": "waiting",
    "seats": [EMPTY_SEAT, EMPTY_SEAT],
    "match": None,
    "round": None,
    "round_number": 0,
    "commitment": None,
    "signature": None,
    "secret": None,
    "markers": [],
    "envelopes": [],
    "until_ms": None,
    "outcome": None,
    "duration_ms": None,
    "match_is_over": False,
}


def after(scene: Scene, *shown: Entry) -> Scene:
    for entry in shown:
        scene = scene.after(entry)
    return scene


@pytest.fixture
def dealt() -> Scene:
    """The scene of a room whose cards lie, before the first one is turned."""
    deal = SEALED.deal
    return Scene(options=RoomOptions()).after(
        entries.Dealt(
            layout=deal.foundations,
            starters=deal.starters,
            markers=deal.markers,
            piles=4,
            redeals=0,
            envelopes=SEALED.envelopes,
            until_ms=5000,
        )
    )


def turned(position: int) -> entries.Turned:
    """The entry that turns the card at this position for seat 0."""
    return entries.Turned(seat=0, turn=Turn(0, position), card=STOCK[position], salt=SEALED.salt(0, position))


def test_a_room_before_its_first_entry_is_empty() -> None:
    shown = json.loads(encode(Scene(options=RoomOptions())))
    del shown["options"]
    assert shown == EMPTY_ROOM


@pytest.mark.parametrize(
    "changes",
    [
        {"foundations": LAID.foundations[:3]},
        {"layout": LAID.layout[:3]},
        {"piles": ()},
        {"piles": ((),) * (MAX_PILES + 1)},
        {"stock": -1},
        {"turned": Card("1C")},
        {"piles": ((Card("XX"),),)},
        {"foundations": ((Card("AC"), Card("")), *LAID.foundations[1:])},
    ],
)
def test_a_board_without_the_shape_of_a_board_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="the board"):
        SeatScene(board=replace(LAID, **changes))


@pytest.mark.parametrize(
    "changes",
    [{"stock": 0}, {"piles": ((),)}, {"piles": ((),) * MAX_PILES}, {"turned": None}, {"turned": full_deck(2)[-1]}],
)
def test_a_board_at_the_limits_of_its_shape_is_accepted(changes: dict[str, Any]) -> None:
    board = replace(LAID, **changes)
    assert SeatScene(board=board).board == board


def test_the_board_of_a_deal_is_that_of_its_rules(dealt: Scene) -> None:
    assert [seat.board for seat in dealt.seats] == [LAID, LAID]


def test_a_deal_without_starters_leaves_its_foundations_empty() -> None:
    betsy_ross = choose_rules("betsy-ross")
    sealed = seal_deal(betsy_ross, bytes(32), bytes(16))
    scene = Scene(options=RoomOptions()).after(
        entries.Dealt(
            layout=sealed.deal.foundations,
            starters=(),
            markers=sealed.deal.markers,
            piles=1,
            redeals=2,
            envelopes=sealed.envelopes,
            until_ms=0,
        )
    )
    assert scene.seats[1].board == Board(
        layout=sealed.deal.foundations,
        foundations=((), (), (), ()),
        piles=((),),
        turned=None,
        stock=len(sealed.deal.orders[0]),
        redeals=2,
    )


def test_a_deal_begins_the_countdown_and_shows_its_markers_and_envelopes(dealt: Scene) -> None:
    assert (dealt.phase, dealt.until_ms) == (Phase.COUNTDOWN, 5000)
    assert (dealt.markers, dealt.envelopes) == (SEALED.deal.markers, SEALED.envelopes)


def test_a_turned_card_leaves_the_stock_and_becomes_the_turn_of_its_seat(dealt: Scene) -> None:
    first, second = dealt.after(turned(0)).seats
    assert (first.board, first.turn) == (LAID.turn(STOCK[0]), Turn(0, 0))
    assert (second.board, second.turn) == (LAID, None)


def test_a_card_turned_before_the_deal_is_a_contradiction() -> None:
    with pytest.raises(ValueError, match="seat 0 has no cards yet"):
        Scene(options=RoomOptions()).after(turned(0))


def test_a_move_is_counted_and_moves_its_card(dealt: Scene) -> None:
    racing = after(dealt, turned(0), entries.Moved(seat=0, number=1, move=MOVES["sb"], card=STOCK[0]))
    board = racing.seats[0].board
    assert board is not None
    assert (racing.seats[0].moves, board.piles) == (1, ((), (STOCK[0],), (), ()))


@pytest.mark.parametrize("move", ["stop", "resign"])
def test_the_end_of_a_race_is_counted_as_a_move_and_moves_nothing(dealt: Scene, move: str) -> None:
    ended = after(dealt, turned(0), entries.Moved(seat=0, number=1, move=MOVES[move], card=None))
    assert (ended.seats[0].moves, ended.seats[0].board) == (1, LAID.turn(STOCK[0]))


@pytest.mark.parametrize(
    ("number", "move", "card", "sentence"),
    [
        (2, "sa", STOCK[0], "moves another card, or comes out of turn"),
        (0, "sa", STOCK[0], "moves another card, or comes out of turn"),
        (1, "sa", STOCK[1], "moves another card, or comes out of turn"),
        (1, "sh", STOCK[0], "against the rules: no_such_pile"),
    ],
)
def test_a_move_that_cannot_follow_is_a_contradiction(
    dealt: Scene, number: int, move: str, card: Card, sentence: str
) -> None:
    moved = entries.Moved.model_construct(seat=0, number=number, move=MOVES[move], card=card)
    with pytest.raises(ValueError, match=sentence):
        after(dealt, turned(0), moved)


def test_a_pause_moves_the_deadline_and_the_grace_of_the_seats_that_are_away() -> None:
    away = after(
        Scene(options=RoomOptions()), entries.Started(until_ms=9000), entries.Detached(seat=1, until_ms=4000)
    ).after(entries.Paused(length_ms=500))
    assert (away.until_ms, [seat.until_ms for seat in away.seats]) == (9500, [None, 4500])


def test_a_pause_without_a_deadline_sets_none() -> None:
    assert Scene(options=RoomOptions()).after(entries.Paused(length_ms=500)).until_ms is None


def test_a_player_is_connected_until_the_connection_is_lost_and_again_after_coming_back() -> None:
    room = after(Scene(options=RoomOptions()), entries.Seated(seat=1, name="bob"), entries.Attached(seat=1))
    lost = room.after(entries.Detached(seat=1, until_ms=4000))
    back = lost.after(entries.Attached(seat=1))
    states = [(scene.seats[1].is_connected, scene.seats[1].until_ms) for scene in (room, lost, back)]
    assert states == [(True, None), (False, 4000), (True, None)]


def test_dealing_begins_when_both_players_are_ready() -> None:
    one = Scene(options=RoomOptions(), phase=Phase.READY).after(entries.PlayerReady(seat=1, entropy_hash=bytes(32)))
    both = one.after(entries.PlayerReady(seat=0, entropy_hash=bytes(32), until_ms=3000))
    assert [(each.phase, each.until_ms) for each in (one, both)] == [(Phase.READY, None), (Phase.DEALING, 3000)]


def test_a_stop_ends_the_race_of_its_seat_and_sets_the_time_of_the_other() -> None:
    stopped = Scene(options=RoomOptions(), phase=Phase.RACING).after(entries.Stopped(seat=1, until_ms=7000))
    assert [seat.has_stopped for seat in stopped.seats] == [False, True]
    assert stopped.until_ms == 7000


def test_a_stop_in_the_countdown_leaves_the_time_of_the_start() -> None:
    countdown = Scene(options=RoomOptions(), phase=Phase.COUNTDOWN, until_ms=5000)
    stopped = countdown.after(entries.Stopped(seat=1, until_ms=185_000))
    assert (stopped.seats[1].has_stopped, stopped.until_ms) == (True, 5000)


def test_a_player_who_wants_a_rematch_is_shown_to_want_one() -> None:
    wanted = Scene(options=RoomOptions()).after(entries.RematchWanted(seat=1))
    assert [seat.wants_rematch for seat in wanted.seats] == [False, True]


def test_a_request_to_finish_changes_nothing_in_the_scene() -> None:
    race = Scene(options=RoomOptions(), phase=Phase.RACING).after(entries.Stopped(seat=1, until_ms=9))
    assert race.after(entries.FinishAsked(seat=1)) == race


@pytest.mark.parametrize(
    ("phase", "seat"), [(Phase.RACING, 0), (Phase.COUNTDOWN, 1), (Phase.FINISHED, 1)], ids=["races", "before", "after"]
)
def test_a_request_to_finish_of_a_seat_that_has_not_finished_a_race_is_a_contradiction(
    phase: Phase, seat: Seat
) -> None:
    stopped = Scene(options=RoomOptions(), phase=phase).after(entries.Stopped(seat=1, until_ms=9))
    with pytest.raises(ValueError, match="asks the other one to finish"):
        stopped.after(entries.FinishAsked(seat=seat))


def test_a_closed_room_has_no_deadline() -> None:
    closed = Scene(options=RoomOptions(), until_ms=5).after(entries.RoomClosed())
    assert (closed.phase, closed.until_ms) == (Phase.CLOSED, None)


def test_a_voided_round_shows_its_secret_and_waits_for_a_player() -> None:
    voided = Scene(options=RoomOptions(), phase=Phase.READY, until_ms=5).after(
        entries.RoundVoided(round=bytes(16), secret=bytes(32))
    )
    assert (voided.phase, voided.until_ms, voided.secret) == (Phase.WAITING, None, bytes(32))


def test_the_stock_has_the_cards_of_the_first_pass() -> None:
    deal, (first,) = SEALED.deal, SEALED.envelopes
    shown = entries.Dealt(
        layout=deal.foundations,
        starters=deal.starters,
        markers=(),
        piles=4,
        redeals=1,
        envelopes=(first, first[:5]),
        until_ms=0,
    )
    board = Scene(options=RoomOptions()).after(shown).seats[0].board
    assert board is not None and board.stock == 48
