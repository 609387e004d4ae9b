"""What everybody is shown of a tournament: nothing of a round that others could use before it is over."""

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_server.tournament.view import list_tournament, show_tournament
from tests.tournament.cup import Cup, entropy_of, names


def racing() -> Cup:
    cup = Cup(names("abcd"))
    cup.start()
    cup.ready(names("abcd"))
    cup.reveal(names("abcd"))
    return cup


def test_the_secret_of_a_round_is_shown_when_it_is_over() -> None:
    cup = racing()
    secret = cup.at.newest.secret.hex().encode()
    assert secret not in encode(show_tournament(cup.at, None, 0))
    cup.race(dict.fromkeys(names("abcd"), 10))
    assert secret in encode(show_tournament(cup.at, None, 0))


def test_no_seed_and_no_player_id_is_shown() -> None:
    cup = Cup(names("abcd"))
    shown = show_tournament(cup.at, None, 0).model_dump_json()
    assert "player_id" not in shown and "seed" not in shown


def test_entropies_are_shown_as_they_come_behind_all_hashes() -> None:
    cup = Cup(names("abc"))
    cup.start()
    cup.ready(names("abc"))
    cup.reveal(["aa"])
    ready = {each.name: each.entropy for each in show_tournament(cup.at, None, 0).played[-1].ready}
    assert ready == {"aa": entropy_of("aa"), "bb": None, "cc": None}


def test_scores_are_shown_when_the_round_is_over() -> None:
    cup = racing()
    assert all(pair.scores == (None, None) for pair in show_tournament(cup.at, None, 0).played[0].pairs)
    cup.race(dict.fromkeys(names("abcd"), 10))
    assert all(None not in pair.scores for pair in show_tournament(cup.at, None, 0).played[0].pairs)


def test_the_list_says_how_far_a_tournament_is() -> None:
    row = list_tournament(racing().at)
    assert (row.phase, row.players, row.round, row.wanted) == (TournamentPhase.RACING, 4, 1, 0)
