"""A practice game: moves taken back and made again, hints, the stock, and the help that is counted."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_cli.bots.hints import choose_hint, think_of_hint
from fairest_cli.bots.levels import STRONGEST, Level, decide
from fairest_cli.model.practice import (
    Practice,
    command_for,
    describe_help_taken,
    give_hint,
    hint_seed,
    play,
    redo,
    start_again,
    start_from_record,
    start_practice,
    toggle_stock,
    undo,
)
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import MOVES, STOP, Move
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.rules import VARIANTS, Rules, choose_rules
from fairest_protocol.value import replace
from tests.support import staged


def greedy(board: Board, rules: Rules, seed: int) -> Move:
    return decide(Level.CARELESS, board, rules, seed).move


@pytest.fixture
def game() -> Practice:
    return start_practice(choose_rules("classic"), "abc")


def laid(game: Practice, *moves: str) -> Practice:
    for move in moves:
        game = play(game, MOVES[move])
    return game


def test_undo_and_redo_lead_to_the_same_position(game: Practice) -> None:
    assert redo(undo(laid(game, "sa", "sb"))).positions == laid(game, "sa", "sb").positions


def test_undo_at_the_start_is_the_same_game(game: Practice) -> None:
    assert undo(game) is game


def test_redo_without_an_undo_is_the_same_game(game: Practice) -> None:
    assert redo(game) is game


def test_another_move_forgets_the_moves_that_were_taken_back(game: Practice) -> None:
    assert laid(undo(laid(game, "sa")), "sb").undone == ()


def test_a_hint_for_the_same_position_is_counted_once(game: Practice) -> None:
    assert give_hint(give_hint(game, greedy), greedy).hints == 1


def test_a_hint_is_forgotten_after_the_next_move(game: Practice) -> None:
    assert laid(give_hint(game, greedy), "sa").hint is None


def test_the_same_position_has_the_same_hint(game: Practice) -> None:
    hinted = give_hint(laid(game, "sa"), greedy)
    assert give_hint(laid(undo(hinted), "sa"), greedy).hint is hinted.hint


def test_a_game_that_is_over_has_no_hint(game: Practice) -> None:
    assert give_hint(play(game, STOP), greedy).hint is None


def test_taking_a_move_back_does_not_take_the_hint_back(game: Practice) -> None:
    hinted = laid(give_hint(game, greedy), "sa")
    assert describe_help_taken(undo(hinted)) == "1 hint, 1 undo"


def test_a_stock_that_was_closed_again_has_been_seen(game: Practice) -> None:
    assert describe_help_taken(toggle_stock(toggle_stock(game))) == "open stock"


def test_the_same_deal_again_starts_without_help(game: Practice) -> None:
    assert start_again(laid(toggle_stock(toggle_stock(give_hint(game, greedy))), "sa")) == game


def test_the_deal_of_a_record_is_that_of_its_round() -> None:
    record = staged.finished().record()
    _, race = next(record.steps(0))
    assert start_from_record(record).race.deal == race.deal


def test_a_round_that_was_not_dealt_has_no_deal() -> None:
    record = staged.finished().record()
    (played,) = record.rounds
    undealt = replace(record, rounds=(replace(played, entropies=(None, None)), played))
    assert start_from_record(undealt).seed == played.seed.hex()
    with pytest.raises(BadRecord, match="round 1 were never dealt; rounds with cards: 2"):
        start_from_record(undealt, 0)


def test_the_command_quotes_a_seed_for_the_shell() -> None:
    game = start_practice(choose_rules("classic"), "it's; rm -rf")
    assert command_for(game).endswith("""--seed 'it'"'"'s; rm -rf'""")


async def test_hints_are_the_moves_of_the_strongest_rival(game: Practice) -> None:
    seed = hint_seed(game)
    expected = decide(STRONGEST, game.board, game.rules, seed).move
    assert choose_hint(game.board, game.rules, seed) is expected
    assert await think_of_hint(game.board, game.rules, seed) is expected


@given(st.sampled_from(sorted(VARIANTS)), st.integers(0, 2**32), st.lists(st.sampled_from("muryh"), max_size=60))
def test_any_words_in_any_order_keep_to_the_rules_of_the_deal(name: str, seed: int, words: list[str]) -> None:
    chance = random.Random(seed)
    game = start = start_practice(choose_rules(name), str(seed))
    for word in words:
        match word:
            case "m" if not game.race.is_over:
                game = play(game, chance.choice([*game.board.legal_moves()]))
            case "u":
                game = undo(game)
            case "r" | "y":
                game = redo(game)
            case _:
                game = give_hint(game, greedy)
        assert game.positions[0] == start.race
        assert game.hint is None or game.board.refusal(game.hint) is None
    while game.undone:
        game = redo(game)
    race = start.race
    for after in game.positions[1:]:
        move = after.racers[0].last_move
        assert move is not None and race.refusal(0, move) is None
        race = race.play(0, move)
    assert race == game.race
