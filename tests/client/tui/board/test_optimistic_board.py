"""The board with unanswered moves made: it is the board that the server shows in the end."""

import random

import pytest

from fairest_cli.bots.policies import choose_greedy
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.tui.board.optimistic_board import optimistic_board, refused_move
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import SEND_AGAIN, Refusal
from tests.support import staged


def sending(model: KnownRoom, *moves: str) -> KnownRoom:
    for text in moves:
        model = model.with_sent(model.next_play(MOVES[text]))
    return model


@pytest.fixture
def model() -> KnownRoom:
    return staged.racing((6, 6)).model()


def test_without_unanswered_moves_it_is_the_board_itself(model: KnownRoom) -> None:
    seen = optimistic_board(model)
    assert seen is not None
    assert (seen.board, seen.unconfirmed) == (model.board, frozenset())


def test_without_a_board_there_is_no_optimistic_board() -> None:
    assert optimistic_board(staged.waiting().model()) is None


def test_an_unanswered_move_is_already_made(model: KnownRoom) -> None:
    seen = optimistic_board(sending(model, "sb"))
    assert seen is not None and model.board is not None and model.board.turned is not None
    assert seen.board.piles[1][-1] == model.board.turned
    assert seen.unconfirmed == {model.board.turned}


def test_the_card_that_the_server_turns_next_is_not_shown(model: KnownRoom) -> None:
    seen = optimistic_board(sending(model, "sb"))
    assert seen is not None and model.board is not None
    assert (seen.board.turned, seen.board.stock) == (None, model.board.stock)


def test_a_stop_moves_no_card(model: KnownRoom) -> None:
    seen = optimistic_board(sending(model, "stop"))
    assert seen is not None
    assert seen.board == model.board


def test_moves_after_an_illegal_one_are_not_made(model: KnownRoom) -> None:
    seen = optimistic_board(sending(model, "sb", "sc"))
    one = optimistic_board(sending(model, "sb"))
    assert seen == one


def test_it_equals_the_board_that_the_server_shows_afterwards() -> None:
    chance = random.Random(1)
    for moves in range(40):
        stage = staged.racing((moves, moves))
        model = stage.model()
        assert model.board is not None
        move: Move = choose_greedy(model.board, chance)
        seen = optimistic_board(sending(model, move.text))
        stage.table.play(0, move)
        after = stage.model().board
        assert seen is not None and after is not None
        assert (seen.board.foundations, seen.board.piles) == (after.foundations, after.piles)


def test_a_refused_move_is_refused_move(model: KnownRoom) -> None:
    before = sending(model, "sb")
    refused = Refused(to="play", code=Refusal.RACE_OVER, sentence="The race is over.", number=before.sent[0].number)
    assert refused_move(before, refused) == MOVES["sb"]
    seen = optimistic_board(before.after(refused, 0))
    assert seen is not None
    assert seen.board == model.board


@pytest.mark.parametrize("code", sorted(SEND_AGAIN))
def test_a_move_that_is_sent_again_is_not_refused_move(model: KnownRoom, code: Refusal) -> None:
    before = sending(model, "sb")
    number = before.sent[0].number
    assert refused_move(before, Refused(to="play", code=code, sentence="", number=number)) is None
