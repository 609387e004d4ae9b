"""A race in few words: after each change only what has changed, by real rooms."""

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.text.brief_narration import describe_briefly, describe_counts_of_cards, describe_piles, describe_wanted
from fairest_protocol.calculation.moves import REDEAL
from fairest_protocol.messages.from_server import Placed, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.view import view
from tests.support import staged
from tests.support.races import Table
from tests.support.staged import StagedRoom

STOCK_BEFORE_THE_TWO = "abbbbbbb"
"""Piles for the first eight cards of the deal, of which the first is a 3; the ninth is the 2 of hearts."""


def start(options: RoomOptions | None = None) -> StagedRoom:
    table = Table(staged.SEED, options)
    table.start()
    return StagedRoom(table)


def start_with_the_two_turned() -> StagedRoom:
    room = start()
    for pile in STOCK_BEFORE_THE_TWO:
        room.table.play(0, f"s{pile}")
    return room


def play(room: StagedRoom, *moves: str, seat: int = 0) -> list[str]:
    """Make moves, and return the lines about the one message that shows them to the player in seat 0."""
    before = room.model()
    for move in moves:
        room.table.play(seat, move)
    shown = view(room.table.steps, 0)
    message = View(position=len(shown), entries=tuple(shown[before.position :]), tag="00000000")
    return list(describe_briefly(before, Update(room.model(), message)))


def test_a_card_laid_onto_a_pile_is_told_with_the_next_turned_card() -> None:
    assert play(start(), "sa") == ["3 of hearts on pile a.", "Turned: J of hearts."]


def test_a_card_on_a_foundation_is_told_with_what_the_foundation_wants_now() -> None:
    assert play(start_with_the_two_turned(), "s1")[0] == "2 of hearts to foundation 1, which wants 3 now."


def test_a_card_from_a_pile_is_told_with_what_is_left_on_the_pile() -> None:
    assert play(start_with_the_two_turned(), "s1", "a1")[-1] == (
        "3 of hearts to foundation 1, which wants 4 now; pile a is empty."
    )


def test_each_of_several_moves_in_one_message_is_told_by_the_board_right_after_it() -> None:
    assert "2 of hearts to foundation 1, which wants 3 now." in play(start_with_the_two_turned(), "s1", "a1")


def test_the_start_of_a_race_tells_what_is_wanted_and_the_first_card() -> None:
    room = staged.counting_down()
    before = room.model()
    room.table.let_time_pass()
    shown = view(room.table.steps, 0)
    message = View(position=len(shown), entries=tuple(shown[before.position :]), tag="00000000")
    lines = list(describe_briefly(before, Update(room.model(), message)))
    assert "Wanted: 1 wants 2, 2 wants 4, 3 wants 6, 4 wants 8." in lines and lines[-1] == "Turned: 3 of hearts."


def test_a_player_who_comes_back_is_told_what_is_wanted_and_the_turned_card() -> None:
    model = start().model()
    assert model.scene is not None
    snapshot = Snapshot(room=staged.ROOM, seat=0, position=model.position, tag="00000000", now_ms=0, scene=model.scene)
    assert "Turned: 3 of hearts." in describe_briefly(KnownRoom(), Update(model, snapshot))


def test_the_last_card_of_the_stock_is_told_to_be_the_last() -> None:
    room = start()
    for _ in range(47):
        room.table.play(0, "sa")
    assert play(room, "sa")[1:2] in (["The stock is empty."], [])
    board = room.model().board
    assert board is not None and board.turned is None


def test_a_redeal_is_told_with_the_card_that_it_turns() -> None:
    room = start(RoomOptions(redeals=1))
    for _ in range(48):
        room.table.play(0, "sa")
    lines = play(room, REDEAL.text)
    assert lines[0] == "The waste is the stock again." and lines[1].startswith("Turned: ")


def test_a_count_is_told_when_the_other_players_count_has_changed() -> None:
    room = start()
    before = replace(room.model(), placed=(4, 4))
    model = replace(room.model(), placed=(4, 5))
    lines = list(describe_briefly(before, Update(model, Placed(placed=(4, 5)))))
    assert lines == ["Cards placed: ann (you) 4, bob 5"]


def test_a_count_of_our_own_is_not_repeated() -> None:
    room = start()
    before = replace(room.model(), placed=(4, 4))
    model = replace(room.model(), placed=(5, 4))
    assert list(describe_briefly(before, Update(model, Placed(placed=(5, 4))))) == []


def test_a_complete_foundation_wants_nothing() -> None:
    board = staged.finished().model().board
    assert board is not None
    full = replace(board, foundations=(board.layout[0].length * board.foundations[0][:1], *board.foundations[1:]))
    assert describe_wanted(full).startswith("1 is complete, 2 wants ")


def test_a_pile_is_told_from_the_bottom_with_its_top_card() -> None:
    board = start_with_the_two_turned().model().board
    assert board is not None
    assert list(describe_piles(board))[0::2] == ["Pile a: 3; on top 3 of hearts.", "Pile c: empty."]


def test_the_score_has_both_counts_and_the_goal() -> None:
    assert describe_counts_of_cards(start().model()) == "Cards placed: you 4 of 52, bob 4 of 52."


def test_there_is_no_score_before_a_race() -> None:
    assert describe_counts_of_cards(staged.waiting().model()) == "No race is on."
