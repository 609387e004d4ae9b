"""Boards of games that a bot without thought has begun, and one game of a level to its end."""

import random

from fairest_cli.bots.levels import Level, decide
from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.deal import Deal, make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.rules import Rules


def deal_of(rules: Rules, seed: int) -> Deal:
    """Return the deal of a small number as its seed."""
    return make_deal(rules, seed.to_bytes(32, "big"))


def board_after(rules: Rules, seed: int, moves: int) -> Board:
    """Return the board after this number of greedy moves, or before the last move of a shorter game."""
    chance, race = random.Random(seed), start_race(rules, deal_of(rules, seed), seats=1)
    board = race.racers[0].board
    for _ in range(moves):
        race = race.play(0, choose_greedy(board, chance))
        if race.is_over:
            break
        board = race.racers[0].board
    return board


def play_out(rules: Rules, deal: Deal, level: Level, seed: int, most_moves: int = 1000) -> tuple[Race, list[Move]]:
    """Play a deal by a level; return the race and the moves."""
    chance, race = random.Random(seed), start_race(rules, deal, seats=1)
    moves: list[Move] = []
    while not race.is_over and len(moves) < most_moves:
        moves.append(decide(level, race.racers[0].board, rules, chance.getrandbits(63)).move)
        race = race.play(0, moves[-1])
    return race, moves
