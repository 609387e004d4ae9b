"""What players may ask of a tournament, and what is refused."""

import pytest

from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_server.tournament.requests import get_ready, join, leave, reveal, start
from tests.tournament.cup import Cup, entropy_of, names


def test_a_player_who_enters_twice_is_there_once() -> None:
    cup = Cup(names("ab"))
    assert join(cup.at, "bb", "bb") is cup.at


def test_another_player_of_the_same_name_is_refused() -> None:
    assert join(Cup(names("ab")).at, "other", "bb") is Refusal.NAME_TAKEN


def test_no_more_players_enter_than_the_tournament_has_places() -> None:
    assert join(Cup(names("ab"), most_players=2).at, "cc", "cc") is Refusal.TOURNAMENT_FULL


def test_nobody_enters_a_tournament_that_has_begun() -> None:
    cup = Cup(names("ab"))
    cup.start()
    assert join(cup.at, "cc", "cc") is Refusal.WRONG_PHASE


@pytest.mark.parametrize(("name", "enters"), [("bot-club-1", True), ("ann", False)])
def test_only_rivals_enter_a_tournament_that_is_being_filled(name: str, enters: bool) -> None:
    cup = Cup(names("ab"), rival_level="club")
    cup.start()
    assert isinstance(join(cup.at, "cc", name), Refusal) is not enters


def test_only_the_creator_starts_a_tournament() -> None:
    assert start(Cup(names("ab")).at, "bb", 0) is Refusal.NOT_CREATOR


def test_a_tournament_of_one_player_without_rivals_does_not_start() -> None:
    assert start(Cup(["aa"]).at, "aa", 0) is Refusal.WRONG_PHASE


def test_a_creator_who_leaves_hands_the_tournament_on() -> None:
    cup = Cup(names("abc"))
    cup.leave("aa")
    assert (cup.at.creator, cup.at.active) == ("bb", ("bb", "cc"))


def test_a_tournament_that_everybody_has_left_is_cancelled() -> None:
    cup = Cup(["aa"])
    cup.leave("aa")
    assert cup.at.phase is TournamentPhase.CANCELLED


def test_a_player_who_is_none_cannot_leave() -> None:
    assert leave(Cup(names("ab")).at, "cc") is Refusal.NOT_ENTERED


def test_a_hash_once_sent_stays() -> None:
    cup = Cup(names("abc"))
    cup.start()
    cup.ready(["aa"])
    assert get_ready(cup.at, "aa", 1, bytes(32)) is Refusal.ALREADY_READY
    assert get_ready(cup.at, "aa", 1, cup.at.newest.promises[0].entropy_hash) is cup.at


def test_nobody_gets_ready_once_entropies_are_shown() -> None:
    cup = Cup(names("abc"))
    cup.start()
    cup.ready(names("ab"))
    cup.wait()
    assert get_ready(cup.at, "cc", 1, bytes(32)) is Refusal.WRONG_PHASE


@pytest.mark.parametrize("number", [2, 9])
def test_nobody_gets_ready_for_another_round(number: int) -> None:
    cup = Cup(names("ab"))
    cup.start()
    assert get_ready(cup.at, "aa", number, bytes(32)) is Refusal.WRONG_ROUND


def test_a_player_who_has_left_does_not_get_ready() -> None:
    cup = Cup(names("abc"))
    cup.start()
    cup.leave("cc")
    assert get_ready(cup.at, "cc", 1, bytes(32)) is Refusal.NOT_ENTERED


def test_other_bytes_than_those_of_the_hash_are_refused() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.ready(names("ab"))
    assert reveal(cup.at, "aa", 1, bytes(32)) is Refusal.WRONG_ENTROPY


def test_no_entropy_is_shown_before_all_hashes_are_there() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.ready(["aa"])
    assert reveal(cup.at, "aa", 1, entropy_of("aa")) is Refusal.WRONG_PHASE


def test_entropy_that_was_shown_may_be_shown_again() -> None:
    cup = Cup(names("ab"))
    cup.start()
    cup.ready(names("ab"))
    cup.reveal(names("ab"))
    assert reveal(cup.at, "aa", 1, entropy_of("aa")) is cup.at
