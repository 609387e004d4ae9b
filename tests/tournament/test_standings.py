"""The order of the players: points, cards, direct score, and the points of the opponents."""

from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_server.tournament.standings import rank_players
from tests.tournament.cup import Cup, names


def played(placed: dict[str, int], rounds: int) -> Cup:
    cup = Cup(list(placed), rounds=rounds)
    cup.start()
    while cup.at.phase is not TournamentPhase.OVER:
        cup.race(placed)
    return cup


def test_points_come_before_cards() -> None:
    rows = rank_players(played({"aa": 40, "bb": 30, "cc": 20, "dd": 10}, 3).at)
    assert [(row.name, row.points) for row in rows] == [("aa", 6), ("bb", 4), ("cc", 2), ("dd", 0)]


def test_cards_are_those_of_all_rounds() -> None:
    rows = rank_players(played({"aa": 40, "bb": 30, "cc": 20, "dd": 10}, 3).at)
    assert [row.placed for row in rows] == [120, 90, 60, 30]


def test_a_player_with_a_bye_has_the_cards_of_that_round_too() -> None:
    rows = rank_players(played({"aa": 40, "bb": 30, "cc": 20}, 3).at)
    assert [(row.points, row.placed) for row in rows] == [(6, 120), (4, 90), (2, 60)]


def test_the_points_of_the_opponents_are_added_up() -> None:
    rows = rank_players(played({"aa": 40, "bb": 30, "cc": 20, "dd": 10}, 3).at)
    assert [row.buchholz for row in rows] == [6, 8, 10, 12]


def test_equal_players_share_a_rank() -> None:
    rows = rank_players(played({"aa": 20, "bb": 20}, 1).at)
    assert [row.rank for row in rows] == [1, 1]


def test_players_of_a_tournament_that_has_not_begun_are_equal() -> None:
    assert [row.rank for row in rank_players(Cup(names("abc")).at)] == [1, 1, 1]
