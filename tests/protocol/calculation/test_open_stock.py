"""Positions with an open stock, by the values that the solver's answers alone do not show."""

import pytest

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.exhaustion import Verdict, exhaust
from fairest_protocol.calculation.open_stock import OpenGame, Position, open_game, open_position, plan_order, redealt
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import choose_rules


@pytest.fixture
def game_and_start() -> tuple[OpenGame, Position]:
    """A deal of redeal, and the position at its beginning."""
    rules = choose_rules("redeal")
    race = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    return open_game(race.deal), open_position(race.deal, race.racers[0])


def laid_out(start: Position, count: int) -> Position:
    """Return the position after the first `count` cards were laid on the first pile."""
    piles = (start.stock[:count], *start.piles[1:])
    return Position(start.heights, piles, start.stock, count, start.pass_number)


def test_the_waste_is_redealt_when_the_stock_is_empty(game_and_start: tuple[OpenGame, Position]) -> None:
    game, start = game_and_start
    after = redealt(game, laid_out(start, len(start.stock)))
    assert after is not None and len(after.stock) == len(start.stock)


def test_no_redeal_comes_before_the_last_card_is_laid(game_and_start: tuple[OpenGame, Position]) -> None:
    game, start = game_and_start
    assert redealt(game, laid_out(start, len(start.stock) - 1)) is None


def test_a_game_whose_foundations_are_full_costs_nothing(game_and_start: tuple[OpenGame, Position]) -> None:
    game, start = game_and_start
    full = Position(tuple(map(len, game.sequences)), ((),) * len(start.piles), ())
    assert plan_order(game, full, [0] * 52) == 0


def test_a_search_that_may_look_at_one_position_has_looked_at_one(game_and_start: tuple[OpenGame, Position]) -> None:
    assert exhaust(*game_and_start, max_nodes=1) == (Verdict.OPEN, (), 1)


def test_an_empty_waste_is_not_redealt(game_and_start: tuple[OpenGame, Position]) -> None:
    game, start = game_and_start
    assert redealt(game, Position(start.heights, ((),) * len(start.piles), ())) is None
