"""Pairs of Swiss rounds, round robins and knock-outs: nobody is left out, and nobody is paired twice."""

import random
from collections import Counter
from itertools import combinations

import pytest

from fairest_protocol.messages.tournaments import TournamentFormat
from fairest_protocol.value import replace
from fairest_server.tournament.pairing import pair_circle, pair_knockout, pair_round, pair_swiss, plan_rounds
from fairest_server.tournament.state import Pair, Round

SIZES = [2, 3, 4, 5, 6, 7, 8, 13, 16, 31, 64, 101, 128]


def names_of(count: int) -> list[str]:
    return [f"p{number:03}" for number in range(count)]


def ended(number: int, pairs: tuple[Pair, ...], chance: random.Random) -> Round:
    """Return a round with random winners."""
    scored = [
        replace(pair, points=(2, 0) if pair.second is None or chance.random() < 0.5 else (0, 2)) for pair in pairs
    ]
    return Round(number, b"", tuple(scored), is_over=True)


def points_of(rounds: list[Round]) -> Counter[str]:
    points: Counter[str] = Counter()
    for pair in (pair for played in rounds for pair in played.pairs):
        points.update({name: pair.points[seat] for seat, name in enumerate(pair.names) if pair.points})
    return points


def swiss(count: int, rounds: int, seed: int) -> list[Round]:
    """Play a whole Swiss tournament with random winners."""
    chance, played = random.Random(seed), list[Round]()
    for number in range(1, rounds + 1):
        points = points_of(played)
        ranked = sorted(names_of(count), key=lambda name: (-points[name], name))
        played.append(ended(number, pair_swiss(ranked, played), chance))
    return played


def test_a_swiss_round_pairs_every_player_once() -> None:
    wrong = [
        (count, played.number)
        for count in SIZES
        for played in swiss(count, plan_rounds(TournamentFormat.SWISS, count, 15), 1)
        if sorted(name for pair in played.pairs for name in pair.names) != names_of(count)
    ]
    assert wrong == []


def met_twice(rounds: list[Round]) -> list[list[str]]:
    """Return the pairs of players who met more than once."""
    met = Counter(frozenset(pair.names) for played in rounds for pair in played.pairs if pair.second is not None)
    return [sorted(pair) for pair, times in met.items() if times > 1]


def test_nobody_meets_the_same_opponent_twice_in_a_swiss_tournament() -> None:
    rounds = {count: min(9, plan_rounds(TournamentFormat.SWISS, count, 0)) for count in SIZES}
    wrong = [(count, pairs) for count in SIZES if (pairs := met_twice(swiss(count, rounds[count], 2)))]
    assert wrong == []


def test_nobody_has_a_second_bye_in_a_swiss_tournament_before_all_had_one() -> None:
    byes = [pair.first for played in swiss(7, 7, 3) for pair in played.pairs if pair.second is None]
    assert sorted(byes) == names_of(7)


def test_swiss_pairs_are_among_equal_points_where_that_is_possible() -> None:
    played = swiss(64, 2, 4)
    before = points_of(played[:1])
    assert all(before[pair.first] == before[pair.second or ""] for pair in played[1].pairs)


def round_robin(count: int) -> list[list[str]]:
    """Return the pairs of all rounds, each as both names or that of a player with a bye."""
    rounds = range(1, plan_rounds(TournamentFormat.ROUND_ROBIN, count, 0) + 1)
    return [
        [" ".join(sorted(pair.names)) for pair in pair_circle(names_of(count), names_of(count), number)]
        for number in rounds
    ]


def test_in_a_round_robin_each_meets_each_once() -> None:
    wrong = [
        count
        for count in range(2, 17)
        if sorted(pair for pairs in round_robin(count) for pair in pairs if " " in pair)
        != [" ".join(pair) for pair in combinations(names_of(count), 2)]
    ]
    assert wrong == []


def test_in_a_round_robin_each_player_is_in_each_round_once() -> None:
    wrong = [
        (count, number)
        for count in range(2, 17)
        for number, pairs in enumerate(round_robin(count), 1)
        if sorted(" ".join(pairs).split()) != names_of(count)
    ]
    assert wrong == []


def test_the_opponents_of_a_player_who_has_left_a_round_robin_have_byes() -> None:
    names = names_of(4)
    pairs = [pair_circle(names, names[1:], number) for number in (1, 2, 3)]
    assert sorted(pair.first for each in pairs for pair in each if pair.second is None) == names[1:]


def players_of_a_knockout(count: int) -> list[int]:
    """Return the number of players in each round of a knock-out, and behind it the number of pairs of the last one."""
    chance, names, played = random.Random(count), names_of(count), list[Round]()
    for number in range(1, plan_rounds(TournamentFormat.KNOCKOUT, count, 0) + 1):
        played.append(ended(number, pair_round(TournamentFormat.KNOCKOUT, names, names, names, played), chance))
    return [*(sum(len(pair.names) for pair in each.pairs) for each in played), len(played[-1].pairs)]


def test_a_knockout_has_one_winner_after_its_rounds() -> None:
    players = {count: players_of_a_knockout(count) for count in SIZES}
    halved = {count: [count, *(2**number for number in range(len(players[count]) - 2, -1, -1))] for count in SIZES}
    assert players == halved


def test_the_first_of_the_order_have_the_byes_of_a_knockout() -> None:
    pairs = pair_knockout(names_of(5), ())
    assert [pair.first for pair in pairs if pair.second is None] == names_of(3)


def test_two_players_who_were_both_absent_leave_a_bye_to_the_next_round() -> None:
    first = Round(
        1, b"", (Pair("a", "b", (2, 0)), Pair("c", "d", (0, 0)), Pair("e", "f", (0, 2)), Pair("g", "h", (2, 0)))
    )
    assert pair_knockout(["a", "f", "g"], [first]) == (Pair("a", None), Pair("f", "g"))


@pytest.mark.parametrize(
    ("kind", "players", "wished", "rounds"),
    [
        (TournamentFormat.SWISS, 64, 0, 6),
        (TournamentFormat.SWISS, 64, 9, 9),
        (TournamentFormat.SWISS, 4, 9, 3),
        (TournamentFormat.SWISS, 5, 9, 5),
        (TournamentFormat.SWISS, 2, 5, 1),
        (TournamentFormat.ROUND_ROBIN, 5, 0, 5),
        (TournamentFormat.ROUND_ROBIN, 6, 1, 5),
        (TournamentFormat.KNOCKOUT, 2, 0, 1),
        (TournamentFormat.KNOCKOUT, 65, 0, 7),
    ],
)
def test_the_rounds_follow_from_the_format(kind: TournamentFormat, players: int, wished: int, rounds: int) -> None:
    assert plan_rounds(kind, players, wished) == rounds
