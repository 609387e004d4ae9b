"""Random games of the load: legal to their ends, on our server and on the hand-written race."""

import random

import pytest

from benchmarks.random_games import random_game
from benchmarks.under_load import loading, serving_kind


def test_a_random_game_takes_every_card_of_the_stock() -> None:
    assert sum(move.startswith("s") for move in random_game(random.Random(1))) == 48


@pytest.mark.long
@pytest.mark.parametrize(("kind", "clients"), [("race", "race"), ("handwritten", "echo")])
async def test_random_games_are_played_to_their_ends(kind: str, clients: str) -> None:
    async with serving_kind(kind) as served, loading(clients, served, 2, games="random") as load:
        moved = await load.move()
    assert moved.messages > 4 * 48
