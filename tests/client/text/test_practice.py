"""Practice alone: every variant, moves taken back, the stock opened, and nothing that bad typing could change."""

from pathlib import Path

import pytest

from fairest_cli.text.practice import OVER, Practice, answer, start_practice
from fairest_cli.text.seeds import read_seed
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from tests.client.commands.test_main import run


@pytest.fixture
def game() -> Practice:
    return start_practice(choose_rules("classic"), "abc")


def type_in(game: Practice, *lines: str) -> Practice:
    for line in lines:
        game, _ = answer(game, line, lambda: "next")
    return game


def shown(game: Practice, line: str) -> str:
    return "\n".join(answer(game, line, lambda: "next")[1])


def test_the_deal_is_that_of_its_seed(game: Practice) -> None:
    assert game.race.deal == make_deal(choose_rules("classic"), read_seed("abc"))


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_every_variant_can_be_practised_to_its_end(name: str) -> None:
    game = start_practice(choose_rules(name), "abc")
    while not game.race.is_over:
        move = next(iter(game.player.board.legal_moves()))
        game = type_in(game, move.text)
    assert game.player.ending in (Ending.WON, Ending.STUCK)
    assert f"of {game.rules.goal} cards" in shown(game, "board")


def test_undo_takes_back_one_move_after_another(game: Practice) -> None:
    assert type_in(game, "sa", "sb", "undo", "undo") == game


def test_undo_at_the_start_says_that_there_is_nothing(game: Practice) -> None:
    assert shown(game, "undo") == "There is no move to take back."


def test_undo_brings_a_game_back_that_was_over(game: Practice) -> None:
    assert not type_in(game, "stop", "undo").race.is_over


def test_a_game_that_is_over_takes_no_move(game: Practice) -> None:
    over = type_in(game, "stop")
    assert (type_in(over, "sa"), shown(over, "sa")) == (over, OVER)


@pytest.mark.parametrize("line", ["sz", "ab", "h1", "redeal", "\x1b[2J", "help", "undo", "1" * 10_000])
def test_what_cannot_be_played_changes_nothing(game: Practice, line: str) -> None:
    assert type_in(game, line) == game
    assert "\x1b" not in shown(game, line)


def test_the_stock_is_closed_until_it_is_asked_for(game: Practice) -> None:
    names = " ".join(rank_name(rank(card)) for card in game.race.deal.orders[0][1:])

    def text(lines: str) -> str:
        return " ".join(lines.replace("|", " ").split())

    assert names not in text(shown(game, "board"))
    assert names in text(shown(game, "stock"))
    assert names not in text(shown(type_in(game, "stock"), "stock"))


def test_an_open_stock_after_a_redeal_is_what_is_left_of_its_order() -> None:
    game = start_practice(choose_rules("redeal"), "abc", shows_stock=True)
    game = type_in(game, *["sa"] * 48, "redeal")
    assert game.player.board.turned == game.race.deal.orders[1][0]
    assert " ".join(rank_name(rank(card)) for card in game.race.deal.orders[1][1:20]) in shown(game, "board")


def test_again_is_the_same_deal_from_its_start(game: Practice) -> None:
    assert type_in(game, "sa", "sb", "again") == game


def test_new_is_another_deal_of_the_same_rules(game: Practice) -> None:
    assert type_in(game, "sa", "new") == start_practice(choose_rules("classic"), "next")


def test_practice_is_played_offline_through_a_pipe(tmp_path: Path) -> None:
    done = run(tmp_path, "practice", "senior", "--piles", "8", "--seed", "x", typed="sh\nundo\nquit\n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "This deal again: fairest practice senior --piles 8 --redeals 0 --seed x"
