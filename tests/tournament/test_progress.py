"""How a tournament goes on: phase by phase, by time, without players who are absent, to its end."""

import json

import pytest

from fairest_protocol.calculation.tournament import tournament_seed
from fairest_protocol.messages.tournaments import TournamentFormat, TournamentPhase
from fairest_server.daily.attempt import Gap
from fairest_server.tournament.progress import advance, phase_ends_ms, players_of, seed_of
from fairest_server.tournament.requests import wanted_rivals
from fairest_server.tournament.state import parse_tournament
from tests.tournament.cup import Cup, entropy_of, names, score


def raced(letters: str = "ab") -> Cup:
    players = names(letters)
    cup = Cup(players)
    cup.start()
    cup.ready(players)
    cup.reveal(players)
    assert cup.at.phase is TournamentPhase.RACING
    return cup


def test_a_tournament_without_rivals_begins_at_once() -> None:
    cup = Cup(names("abcd"))
    cup.start()
    assert (cup.at.phase, cup.at.rounds_planned, players_of(cup.at)) == (
        TournamentPhase.GATHERING,
        3,
        set(names("abcd")),
    )


def test_a_tournament_is_cancelled_if_nobody_starts_it_for_a_day() -> None:
    cup = Cup(names("ab"))
    cup.wait()
    assert cup.at.phase is TournamentPhase.CANCELLED


def test_a_tournament_that_wants_rivals_waits_for_them_for_a_time() -> None:
    cup = Cup(names("ab"), rival_level="club", most_players=4)
    cup.start()
    assert (cup.at.phase, wanted_rivals(cup.at)) == (TournamentPhase.FILLING, 2)
    cup.wait()
    assert (cup.at.phase, wanted_rivals(cup.at)) == (TournamentPhase.GATHERING, 0)


def test_one_player_to_whom_no_rival_comes_may_start_again() -> None:
    cup = Cup(["aa"], rival_level="club")
    cup.start()
    cup.wait()
    assert cup.at.phase is TournamentPhase.OPEN


def test_the_order_of_the_players_follows_from_the_first_secret_and_not_from_their_entrance() -> None:
    first, second = Cup(names("abcdefgh")), Cup(names("hgfedcba"))
    for cup in (first, second):
        cup.start()
    assert (
        [each.name for each in first.at.entrants]
        == [each.name for each in second.at.entrants]
        != list(names("abcdefgh"))
    )


def test_races_start_some_seconds_after_all_have_shown_their_entropy() -> None:
    cup = raced()
    assert cup.at.newest.started_ms == cup.now_ms + 4_000


def test_the_seed_of_a_round_follows_from_its_secret_and_all_entropies() -> None:
    cup = raced()
    shown = [(name, entropy_of(name)) for name in names("ab")]
    assert seed_of(cup.at, cup.at.newest) == tournament_seed(cup.at.newest.secret, shown, cup.at.round_id(1))


def test_the_better_score_wins_the_pair() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.race({"aa": 20, "bb": 31})
    assert cup.points() == {frozenset(names("ab")): {"aa": 0, "bb": 2}}
    assert cup.at.phase is TournamentPhase.OVER


def test_of_two_equal_boards_the_faster_one_wins() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.race({"aa": 20, "bb": 20}, times={"aa": 5_000, "bb": 5_001})
    assert cup.points() == {frozenset(names("ab")): {"aa": 2, "bb": 0}}


def test_a_tie_has_a_point_for_both() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.race({"aa": 20, "bb": 20})
    assert cup.points() == {frozenset(names("ab")): {"aa": 1, "bb": 1}}


def test_a_tie_in_a_knockout_is_won_by_the_first_one_of_the_pair() -> None:
    cup = Cup(names("ab"), format=TournamentFormat.KNOCKOUT)
    cup.start()
    first = cup.at.newest.pairs[0].first
    cup.race({"aa": 20, "bb": 20})
    assert cup.points()[frozenset(names("ab"))][first] == 2


def test_a_player_who_is_not_ready_in_time_loses_and_has_left() -> None:
    cup = Cup(names("abcd"))
    cup.start()
    absent = cup.at.newest.pairs[0].first
    cup.race({name: 10 for name in names("abcd") if name != absent})
    pair = cup.at.rounds[0].pairs[0]
    assert (pair.points, absent in cup.at.active) == ((0, 2), False)
    assert absent not in players_of(cup.at)


def test_a_player_who_does_not_show_the_entropy_has_left_and_the_deal_is_made_without_it() -> None:
    cup = Cup(names("abc"))
    cup.start()
    cup.ready(names("abc"))
    cup.reveal(names("ab"))
    assert cup.at.phase is TournamentPhase.REVEALING
    cup.wait()
    assert (cup.at.phase, cup.at.newest.racers, cup.at.active.count("cc")) == (TournamentPhase.RACING, ("aa", "bb"), 0)


@pytest.mark.parametrize(("letters", "seconds"), [("ab", 22), ("abcdefgh", 28)])
def test_a_large_round_has_longer_to_show_its_entropies(letters: str, seconds: int) -> None:
    cup = Cup(names(letters))
    cup.start()
    cup.ready(names(letters))
    assert cup.at.phase is TournamentPhase.REVEALING
    assert phase_ends_ms(cup.at, []) == cup.at.since_ms + seconds * 1000


def test_a_round_of_one_player_is_not_dealt_and_called_off_in_the_chain_of_rounds() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.race({"aa": 10})
    assert cup.at.phase is TournamentPhase.OVER
    assert cup.points() == {frozenset(names("ab")): {"aa": 0, "bb": 0}}
    ended = json.loads(cup.entries[-1])
    assert (ended["how"], ended["why"], ended["seed"]) == ("voided", "not_ready", None)


def test_a_player_who_leaves_in_a_race_loses_it_and_nobody_waits() -> None:
    cup = raced()
    cup.leave("aa")
    cup.scores = {"bb": score(0)}
    cup.go_on()
    assert cup.points() == {frozenset(names("ab")): {"aa": 0, "bb": 2}}


def test_each_round_has_an_opening_and_an_end_in_the_chain_of_rounds() -> None:
    cup = Cup(names("abc"))
    cup.start()
    while cup.at.phase is not TournamentPhase.OVER:
        cup.race(dict.fromkeys(names("abc"), 10))
    entries = [json.loads(text) for text in cup.entries]
    assert [each["type"] for each in entries] == ["opened", "ended"] * 3
    assert {each["rules"] for each in entries if each["type"] == "opened"} == {"classic-tournament 4 0"}
    ends = [each for each in entries if each["type"] == "ended"]
    assert [each["seed"] for each in ends] == [seed_of(cup.at, played).hex() for played in cup.at.rounds]
    assert [each["commitment"] for each in ends] == [cup.at.commitment(played).hex() for played in cup.at.rounds]


@pytest.mark.parametrize("kind", list(TournamentFormat))
@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_every_tournament_comes_to_its_end(kind: TournamentFormat, count: int) -> None:
    cup = Cup(names("abcdefgh")[:count], format=kind)
    cup.start()
    while cup.at.phase is not TournamentPhase.OVER:
        cup.race({name: ord(name[0]) - 90 for name in sorted(players_of(cup.at))})
    assert len(cup.at.rounds) == cup.at.rounds_planned
    assert all(played.is_over for played in cup.at.rounds)


def test_a_time_without_servers_makes_a_phase_longer() -> None:
    cup = Cup(names("ab"))
    cup.start()
    gap = Gap(cup.now_ms + 1_000, cup.now_ms + 61_000)
    assert phase_ends_ms(cup.at, [gap]) == cup.now_ms + 180_000
    late = advance(cup.at, cup.now_ms + 150_000, [gap], {}, lambda: bytes(32))
    assert late.tournament.phase is TournamentPhase.GATHERING


def test_a_tournament_is_the_same_after_redis_has_kept_it() -> None:
    cup = raced("abc")
    cup.race({"aa": 3, "bb": 52, "cc": 9})
    assert parse_tournament(cup.at.text()) == cup.at
