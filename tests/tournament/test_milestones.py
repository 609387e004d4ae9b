"""The steps of a tournament that an operator is told of."""

from collections.abc import Sequence

from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_server.tournament.milestones import Milestone, find_milestones
from tests.tournament.cup import Cup, names, score

PLAYERS = names("ab")


def racing(players: Sequence[str]) -> Cup:
    """Return a tournament of two rounds at most whose first races are under way."""
    cup = Cup(players, rounds=2)
    cup.start()
    cup.ready(players)
    cup.reveal(players)
    return cup


def end_races(cup: Cup) -> None:
    cup.scores = {name: score(4) for name in cup.at.newest.racers}
    cup.go_on()


def test_a_tournament_that_was_not_there_before_is_created() -> None:
    assert find_milestones(None, Cup(PLAYERS).at) == (Milestone.CREATED,)


def test_a_tournament_is_started_by_the_start() -> None:
    cup = Cup(PLAYERS)
    before = cup.at
    cup.start()
    assert find_milestones(before, cup.at) == (Milestone.STARTED,)


def test_a_tournament_that_waits_for_rivals_is_started_once() -> None:
    cup = Cup(PLAYERS, rival_level="club", most_players=4)
    before = cup.at
    cup.start()
    filling = cup.at
    cup.wait()
    assert filling.phase is TournamentPhase.FILLING
    assert (find_milestones(before, filling), find_milestones(filling, cup.at)) == ((Milestone.STARTED,), ())


def test_a_player_who_enters_or_gets_ready_is_no_step() -> None:
    cup = Cup(PLAYERS)
    entered = find_milestones(Cup(PLAYERS[:1]).at, cup.at)
    cup.start()
    before = cup.at
    cup.ready(PLAYERS[:1])
    assert (entered, find_milestones(before, cup.at)) == ((), ())


def test_a_round_begins_when_its_deck_is_dealt() -> None:
    cup = Cup(PLAYERS)
    cup.start()
    cup.ready(PLAYERS)
    before = cup.at
    cup.reveal(PLAYERS)
    assert find_milestones(before, cup.at) == (Milestone.ROUND_BEGUN,)


def test_a_round_that_is_over_has_not_begun_again_with_the_next_one_open() -> None:
    cup = racing(names("abc"))
    before = cup.at
    end_races(cup)
    assert (len(cup.at.rounds), find_milestones(before, cup.at)) == (2, ())


def test_a_tournament_is_over_with_its_last_round() -> None:
    cup = racing(PLAYERS)
    before = cup.at
    end_races(cup)
    assert find_milestones(before, cup.at) == (Milestone.OVER,)


def test_a_tournament_that_nobody_starts_is_cancelled_and_was_not_started() -> None:
    cup = Cup(PLAYERS)
    before = cup.at
    cup.wait()
    assert find_milestones(before, cup.at) == (Milestone.CANCELLED,)
