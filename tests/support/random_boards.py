"""Boards of every variant at random moments of a game, all of which a seed decides."""

import random
from collections.abc import Iterator

from fairest_cli.bots.policies import choose_greedy, choose_random
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import VARIANTS, Rules
from fairest_protocol.value import replace


def random_rules(chance: random.Random) -> Rules:
    """Return the rules of any variant with any number of piles and redeals that it allows."""
    variant = VARIANTS[chance.choice(list(VARIANTS))]
    return replace(variant.rules, piles=chance.choice(variant.piles), redeals=chance.choice(variant.redeals))


def random_race(chance: random.Random) -> Race:
    """Return a race of one seat before its first move."""
    rules = random_rules(chance)
    return start_race(rules, make_deal(rules, chance.randbytes(32)), seats=1)


def play_on(race: Race, chance: random.Random) -> Iterator[Race]:
    """Yield the race after each further move until it is over; some moves are greedy, some careless."""
    while not race.is_over:
        policy = choose_greedy if chance.random() < 0.7 else choose_random
        race = race.play(0, policy(race.racers[0].board, chance))
        yield race


def random_board(seed: int) -> Board:
    """Return a board somewhere between the first move and the end of a game."""
    chance = random.Random(seed)
    race = random_race(chance)
    boards = [race.racers[0].board, *(each.racers[0].board for each in play_on(race, chance))]
    return chance.choice(boards)
