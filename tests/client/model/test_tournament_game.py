"""A server that deals another deck, or other bytes, in a tournament is found out by the client."""

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.model.tournament_game import TournamentGame, after_race, begin_race, refusal_of
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.tournaments import RaceScore, Tournament, TournamentRace
from fairest_protocol.value import replace
from fairest_server.daily.attempt import begin, show_move, show_start
from fairest_server.tournament.progress import seed_of
from fairest_server.tournament.view import show_tournament
from tests.tournament.cup import CODE, Cup, entropy_of, names

PLAYERS = names("abc")


def shown(cup: Cup) -> Tournament:
    return show_tournament(cup.at, None, cup.now_ms)


def gathering() -> tuple[Cup, KnownTournament]:
    """Return a tournament whose players get ready, and the model of the player aa, whose hash is taken."""
    cup = Cup(PLAYERS)
    cup.start()
    known = KnownTournament("aa", shown(cup)).after(shown(cup))
    assert known.is_ready_wanted
    return cup, known.with_entropy(1, entropy_of("aa"))


def racing() -> tuple[Cup, KnownTournament]:
    cup, known = gathering()
    cup.ready(PLAYERS)
    known = known.after(shown(cup))
    cup.reveal(PLAYERS)
    return cup, known.after(shown(cup))


def sealed(cup: Cup) -> SealedDeal:
    return seal_deal(cup.at.rules, seed_of(cup.at, cup.at.newest), cup.at.round_id(1))


def race(cup: Cup, deal: SealedDeal | None = None) -> TournamentRace:
    entries = show_start(cup.at.rules, deal or sealed(cup), cup.at.newest.started_ms, 0)
    return TournamentRace(code=CODE, round=1, until_ms=0, now_ms=0, moves=0, entries=entries, result=None)


def begun(cup: Cup, known: KnownTournament) -> TournamentGame:
    return begin_race(shown(cup), known.witnesses[1], race(cup), 0, None)


def test_entropy_is_due_when_all_hashes_are_shown_and_not_before() -> None:
    cup, known = gathering()
    assert known.due_entropy is None
    cup.ready(PLAYERS)
    assert known.after(shown(cup)).due_entropy == entropy_of("aa")


def test_a_list_of_hashes_without_ours_is_an_alarm() -> None:
    cup, known = gathering()
    cup.ready(["bb", "cc"])
    cup.wait()
    with pytest.raises(Cheated, match="does not show the hash that we sent"):
        known.after(shown(cup))


def test_a_hash_that_is_added_behind_the_others_is_an_alarm() -> None:
    cup, known = gathering()
    cup.ready(["aa", "bb"])
    cup.wait()
    known = known.after(shown(cup))
    late, late_known = gathering()
    late.ready(PLAYERS)
    with pytest.raises(Cheated, match="other hashes"):
        known.after(shown(late).model_copy(update={"version": 99}))
    assert late_known.after(shown(late)).due_entropy is not None


def test_bytes_that_do_not_belong_to_their_hash_are_an_alarm() -> None:
    cup, known = racing()
    forged = shown(cup)
    [played] = forged.played
    ready = tuple(each.model_copy(update={"entropy": bytes(32)}) for each in played.ready)
    forged = forged.model_copy(update={"played": (played.model_copy(update={"ready": ready}),), "version": 99})
    with pytest.raises(Cheated, match="do not belong to their hash"):
        known.after(forged)


def test_another_commitment_is_an_alarm() -> None:
    cup, known = gathering()
    [played] = shown(cup).played
    forged = shown(cup).model_copy(update={"played": (played.model_copy(update={"commitment": bytes(32)}),)})
    with pytest.raises(Cheated, match="another commitment"):
        known.after(forged)


def test_a_card_of_another_deck_is_an_alarm() -> None:
    cup, known = racing()
    game = begun(cup, known)
    other = seal_deal(cup.at.rules, bytes(32), cup.at.round_id(1))
    start = begin(cup.at.rules, other)
    entries = show_move(start, start.play(0, MOVES["sa"]), other)
    answer = TournamentRace(code=CODE, round=1, until_ms=0, now_ms=0, moves=1, entries=entries, result=None)
    with pytest.raises(Cheated):
        after_race(game, answer)


def test_a_deck_that_is_not_that_of_secret_and_bytes_is_found_out_when_the_round_is_over() -> None:
    cup, known = racing()
    other = seal_deal(cup.at.rules, bytes(32), cup.at.round_id(1))
    game = begin_race(shown(cup), known.witnesses[1], race(cup, other), 0, None)
    known = known.with_race(game)
    cup.race(dict.fromkeys(PLAYERS, 3))
    with pytest.raises(Cheated, match="holds another deal's card"):
        known.after(shown(cup))


def test_the_deck_of_a_round_that_is_over_is_proved() -> None:
    cup, known = racing()
    known = known.with_race(begun(cup, known))
    cup.race(dict.fromkeys(PLAYERS, 3))
    assert known.after(shown(cup)).witnesses[1].secret == cup.at.rounds[0].secret


def test_a_race_that_is_shown_again_has_the_same_envelopes() -> None:
    cup, known = racing()
    witness = known.with_race(begun(cup, known)).witnesses[1]
    other = seal_deal(cup.at.rules, bytes(32), cup.at.round_id(1))
    with pytest.raises(Cheated, match="another race of ours"):
        begin_race(shown(cup), witness, race(cup, other), 0, None)


def test_a_race_that_is_shown_again_has_the_moves_that_were_shown_before() -> None:
    cup, known = racing()
    witness = replace(known.with_race(begun(cup, known)).witnesses[1], moves=(MOVES["sa"],))
    with pytest.raises(Cheated, match="another race of ours"):
        begin_race(shown(cup), witness, race(cup), 0, None)


def test_a_race_that_is_shown_again_has_the_result_that_was_shown_before() -> None:
    cup, known = racing()
    score = RaceScore(won=False, placed=4, direct=0, time_ms=1)
    witness = replace(known.with_race(begun(cup, known)).witnesses[1], result=score)
    with pytest.raises(Cheated, match="another race of ours"):
        begin_race(shown(cup), witness, race(cup), 0, None)


def test_a_race_knows_its_moves() -> None:
    cup, known = racing()
    game, start = begun(cup, known), begin(cup.at.rules, sealed(cup))
    entries = show_move(start, start.play(0, MOVES["sa"]), sealed(cup))
    answer = TournamentRace(code=CODE, round=1, until_ms=0, now_ms=0, moves=1, entries=entries, result=None)
    assert after_race(game, answer).moves == (MOVES["sa"],)


def test_a_result_that_is_not_that_of_our_board_is_an_alarm() -> None:
    cup, known = racing()
    score = RaceScore(won=True, placed=52, direct=40, time_ms=1)
    with pytest.raises(Cheated, match="not that of our board"):
        begin_race(shown(cup), known.witnesses[1], race(cup).model_copy(update={"result": score}), 0, None)


def test_an_older_version_changes_nothing() -> None:
    cup, known = racing()
    older = shown(cup).model_copy(update={"version": 0, "played": ()})
    assert known.after(older) is known


@pytest.mark.parametrize(("move", "refused"), [("sa", False), ("resign", True), ("ab", True), ("stop", False)])
def test_a_move_is_refused_by_the_rules(move: str, refused: bool) -> None:
    assert bool(refusal_of(begun(*racing()), MOVES[move])) is refused
