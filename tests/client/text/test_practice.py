"""Practice alone: every variant, moves taken back, the stock opened, and nothing that bad typing could change."""

from pathlib import Path

import pytest

from fairest_cli.bots.hints import choose_hint
from fairest_cli.exit_codes import FAULT, USAGE
from fairest_cli.model.practice import Practice, start_practice
from fairest_cli.model.seeds import read_seed
from fairest_cli.text.practice import OVER, answer
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from tests.support import staged
from tests.support.invoking import invoke
from tests.support.records import text_of


@pytest.fixture
def game() -> Practice:
    return start_practice(choose_rules("classic"), "abc")


def type_in(game: Practice, *lines: str) -> Practice:
    for line in lines:
        game, _ = answer(game, line, lambda: "next", choose_hint)
    return game


def shown(game: Practice, line: str) -> str:
    return "\n".join(answer(game, line, lambda: "next", choose_hint)[1])


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
    assert type_in(game, "sa", "sb", "undo", "undo").race == game.race


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
    done = invoke(tmp_path, "practice", "senior", "--piles", "8", "--seed", "x", typed="sh\nundo\nquit\n")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "This deal again: fairest practice senior --piles 8 --redeals 0 --seed x"


def test_redo_makes_the_move_again(game: Practice) -> None:
    assert type_in(game, "sa", "undo", "redo").race == type_in(game, "sa").race


def test_redo_without_an_undo_says_that_there_is_nothing(game: Practice) -> None:
    assert shown(game, "redo") == "No move was taken back."


def test_a_hint_is_a_legal_move_in_the_words_of_a_race(game: Practice) -> None:
    advised = type_in(game, "hint").hint
    assert advised is not None and game.board.refusal(advised) is None
    assert f"({advised})" in shown(game, "hint")


def test_the_board_says_how_much_help_was_taken(game: Practice) -> None:
    assert shown(type_in(game, "hint", "sa", "undo", "stock"), "board").splitlines()[1] == (
        "classic, seed abc: 4 of 52 cards; 1 hint, 1 undo, open stock"
    )


def test_a_game_that_is_over_has_no_hint(game: Practice) -> None:
    assert shown(type_in(game, "stop"), "hint") == OVER


def test_the_end_of_a_game_says_that_it_was_played_without_help(game: Practice) -> None:
    assert shown(game, "stop").endswith("without help")


def test_a_record_has_its_own_variant(tmp_path: Path) -> None:
    done = invoke(tmp_path, "practice", "senior", "--record", "x.jsonl")
    assert done.exit_code == USAGE
    assert "a record has its own variant" in done.stderr


def test_a_round_without_a_record_is_refused(tmp_path: Path) -> None:
    assert "--round chooses a round of --record" in invoke(tmp_path, "practice", "--round", "2").stderr


def test_the_deal_of_a_record_is_practised(tmp_path: Path) -> None:
    record = staged.finished().record()
    (tmp_path / "race.jsonl").write_text(text_of(record))
    done = invoke(tmp_path, "practice", "--record", str(tmp_path / "race.jsonl"), typed="quit\n")
    assert done.stdout.splitlines()[-1].endswith(f"--seed {record.rounds[0].seed.hex()}")


def test_a_round_that_is_not_in_the_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "race.jsonl").write_text(text_of(staged.finished().record()))
    done = invoke(tmp_path, "practice", "--record", str(tmp_path / "race.jsonl"), "--round", "3")
    assert (done.exit_code, "round 3 were never dealt; rounds with cards: 1" in done.stderr) == (FAULT, True)


def test_a_file_that_is_no_record_cannot_be_practised(tmp_path: Path) -> None:
    (tmp_path / "race.jsonl").write_text("\x1b[2J{\n")
    done = invoke(tmp_path, "practice", "--record", str(tmp_path / "race.jsonl"))
    assert (done.exit_code, "cannot be practised" in done.stderr, "\x1b" in done.stderr) == (FAULT, True, False)
