"""A server that deals another deck, or other bytes, in a tournament is found out by the client."""

from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.model.tournament_game import (
    RoundWitness,
    TournamentGame,
    after_race,
    begin_race,
    check_deck,
    refusal_of,
)
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_entrant, commit_secret
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.calculation.tournament import tournament_seed
from fairest_protocol.messages.tournaments import RaceScore, Tournament, TournamentPhase, TournamentRace
from fairest_protocol.value import replace
from fairest_server.daily.attempt import Attempt, begin, replay, show_all, show_move, show_start
from fairest_server.tournament.progress import seed_of
from fairest_server.tournament.view import show_tournament
from tests.tournament.cup import CODE, Cup, entropy_of, names, score

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


def raced(cup: Cup, *texts: str, **changes: Any) -> TournamentRace:
    """Return our race with these moves as the server shows it to a client that comes back, with these changes."""
    moves = tuple(TimedMove(number, MOVES[text]) for number, text in enumerate(texts, 1))
    attempt = Attempt("ab" * 16, "p", "aa", 0, moves)
    fields: dict[str, Any] = {
        "code": CODE,
        "round": 1,
        "until_ms": 9_000,
        "now_ms": 2_000,
        "moves": len(moves),
        "entries": show_all(cup.at.rules, sealed(cup), attempt, 9_000),
        "result": None,
    }
    return TournamentRace(**fields | changes)


def result_of(cup: Cup, *texts: str, **changes: Any) -> RaceScore:
    """Return the result of a race with these moves, with these changes."""
    moves = tuple(TimedMove(number, MOVES[text]) for number, text in enumerate(texts, 1))
    board = replay(cup.at.rules, sealed(cup), moves).racers[0].board
    fields: dict[str, Any] = {"won": board.is_won, "placed": board.placed, "direct": board.direct, "time_ms": 1}
    return RaceScore(**fields | changes)


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
    with pytest.raises(Cheated, match="a move of ours that cannot be made"):
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


@pytest.mark.parametrize(
    ("move", "refusal"),
    [
        ("sa", ""),
        ("stop", ""),
        ("resign", "Stop ends your race; the cards that you have placed count."),
        ("ab", "Cards never move from one waste pile to another."),
    ],
)
def test_a_move_is_refused_by_the_rules(move: str, refusal: str) -> None:
    assert refusal_of(begun(*racing()), MOVES[move]) == refusal


def test_no_move_follows_the_end_of_a_race() -> None:
    over = replace(begun(*racing()), result=RaceScore(won=False, placed=4, direct=0, time_ms=1))
    assert refusal_of(over, MOVES["sa"]) == "Your race is over."


def test_an_honest_tournament_raises_no_alarm_at_any_step() -> None:
    cup = Cup(PLAYERS)
    known = KnownTournament("aa", shown(cup)).after(shown(cup))
    cup.start()
    while cup.at.phase is not TournamentPhase.OVER:
        known = known.after(shown(cup)).with_entropy(cup.at.newest.number, entropy_of("aa"))
        for name in PLAYERS:
            cup.ready([name])
            known = known.after(shown(cup))
        for name in PLAYERS:
            cup.reveal([name])
            known = known.after(shown(cup))
        cup.scores = {name: score(3) for name in PLAYERS}
        cup.go_on()
        cup.scores = {}
        known = known.after(shown(cup))
    seeds = [known.witnesses[played.number].seed for played in cup.at.rounds]
    assert (len(seeds) > 1, seeds) == (True, [seed_of(cup.at, played) for played in cup.at.rounds])


ROUND, SECRET = bytes(range(16)), bytes(range(32))
ENTROPIES = (("aa", bytes(32)), ("bb", bytes([1]) * 32))
WITNESS = RoundWitness(ROUND, commit_secret(ROUND, SECRET), entropies=ENTROPIES, secret=SECRET)


def test_the_seed_of_a_round_is_made_of_its_secret_and_all_entropies() -> None:
    assert WITNESS.seed == tournament_seed(SECRET, ENTROPIES, ROUND)


@pytest.mark.parametrize("missing", [{"secret": None}, {"entropies": ()}])
def test_a_round_has_no_seed_before_secret_and_entropies_are_known(missing: dict[str, Any]) -> None:
    assert replace(WITNESS, **missing).seed is None


@pytest.mark.parametrize("missing", [{"entropies": ()}, {"envelopes": ()}])
def test_a_round_that_we_have_not_raced_or_not_seen_dealt_has_no_deck_to_compare(missing: dict[str, Any]) -> None:
    check_deck(VARIANTS["classic"].rules, replace(WITNESS, **{"envelopes": ((bytes(32),),), **missing}), 1)


def test_a_secret_that_is_not_that_of_the_commitment_is_an_alarm() -> None:
    with pytest.raises(Cheated, match=r"^The secret of round 7 does not belong to its commitment\.$"):
        check_deck(VARIANTS["classic"].rules, replace(WITNESS, secret=bytes(32)), 7)


def test_the_round_of_another_tournament_is_an_alarm() -> None:
    cup, known = gathering()
    other = shown(cup).model_copy(update={"tournament": "00" * 16})
    with pytest.raises(Cheated, match=r"^The server shows another commitment for round 1 than before\.$"):
        replace(known, witnesses={}).after(other)


def test_a_round_was_first_seen_at_the_time_of_the_server_s_clock() -> None:
    cup, known = gathering()
    first, cup.now_ms = cup.now_ms, cup.now_ms + 5_000
    assert known.after(shown(cup)).witnesses[1].seen_ms == first


def test_bytes_that_are_taken_back_in_the_race_are_an_alarm() -> None:
    cup, known = racing()
    [played] = shown(cup).played
    ready = (*played.ready[:-1], played.ready[-1].model_copy(update={"entropy": None}))
    forged = shown(cup).model_copy(update={"played": (played.model_copy(update={"ready": ready}),), "version": 99})
    with pytest.raises(Cheated, match=r"^The server shows other bytes for round 1 than before\.$"):
        known.after(forged)


def test_a_spectator_witnesses_the_hashes_of_all_players() -> None:
    cup, _ = racing()
    hashes = tuple((name, commit_entrant(cup.at.round_id(1), name, entropy_of(name))) for name in PLAYERS)
    witness = KnownTournament("zz", shown(cup)).after(shown(cup)).witnesses[1]
    assert (witness.hashes, witness.entropies) == (hashes, tuple((name, entropy_of(name)) for name in PLAYERS))


def test_a_race_that_is_shown_again_goes_on_where_it_was() -> None:
    cup, known = racing()
    before = begin_race(shown(cup), known.witnesses[1], raced(cup, "sa"), 0, None)
    witness = known.with_race(before).witnesses[1]
    again = begin_race(shown(cup), witness, raced(cup, "sa", "sb"), 0, before)
    assert (again.moves, again.own.moves) == ((MOVES["sa"], MOVES["sb"]), 2)


def test_the_same_race_may_be_shown_twice() -> None:
    cup, known = racing()
    over = raced(cup, "sa", "stop", result=result_of(cup, "sa", "stop"))
    before = begin_race(shown(cup), known.witnesses[1], over, 0, None)
    assert begin_race(shown(cup), known.with_race(before).witnesses[1], over, 0, before) == before


def test_a_race_that_is_shown_again_has_not_lost_a_move_of_ours() -> None:
    cup, known = racing()
    before = begin_race(shown(cup), known.witnesses[1], raced(cup, "sa"), 0, None)
    with pytest.raises(Cheated, match=r"^The server shows another race of ours in round 1 than before\.$"):
        begin_race(shown(cup), known.witnesses[1], raced(cup), 0, before)


@pytest.mark.parametrize("changes", [{"won": True}, {"placed": 5}, {"direct": 1}])
def test_each_part_of_a_result_is_that_of_our_board(changes: dict[str, Any]) -> None:
    cup, known = racing()
    lie = raced(cup, "sa", "stop", result=result_of(cup, "sa", "stop", **changes))
    with pytest.raises(Cheated, match=r"^The result of our race is not that of our board\.$"):
        begin_race(shown(cup), known.witnesses[1], lie, 0, None)


def test_the_server_counts_the_moves_that_it_shows() -> None:
    cup, known = racing()
    with pytest.raises(Cheated, match=r"^The server counts 2 moves of ours, and has shown 1\.$"):
        begin_race(shown(cup), known.witnesses[1], raced(cup, "sa", moves=2), 0, None)


def test_the_time_of_a_race_counts_by_our_clock() -> None:
    cup, known = racing()
    game = begin_race(shown(cup), known.witnesses[1], raced(cup), 32_000, None)
    assert game.seconds_left(32_000) == 7.0


def move_of(cup: Cup, **changes: Any) -> TournamentRace:
    """Return the answer to our first move, with these changes."""
    start = begin(cup.at.rules, sealed(cup))
    entries = show_move(start, start.play(0, MOVES["sa"]), sealed(cup))
    return raced(cup, moves=1, **{"entries": entries, **changes})


@pytest.mark.parametrize("changes", [{"code": "another-green-heron"}, {"round": 2}])
def test_a_move_is_answered_with_its_own_race(changes: dict[str, Any]) -> None:
    cup, known = racing()
    with pytest.raises(Cheated, match=r"^The server answers a move with another race\.$"):
        after_race(begun(cup, known), move_of(cup, **changes))


def test_the_answer_to_a_move_says_until_when_the_race_goes_on() -> None:
    cup, known = racing()
    assert after_race(begun(cup, known), move_of(cup, until_ms=11_000)).until_ms == 11_000


def test_the_answer_to_a_move_deals_no_second_time() -> None:
    cup, known = racing()
    with pytest.raises(Cheated, match=r"^The server deals the round's deal a second time\.$"):
        after_race(begun(cup, known), raced(cup, "sa"))


def test_a_race_of_another_variant_is_an_alarm() -> None:
    cup, known = racing()
    other = shown(cup).model_copy(update={"rules": "easy"})
    with pytest.raises(Cheated, match=r"^The piles and redeals of the round's deal are not those"):
        begin_race(other, known.witnesses[1], race(cup), 0, None)


def without_our_bytes(tournament: Tournament, *, has_left: bool) -> Tournament:
    """Return a tournament that is raced as a server shows it that leaves the entropy of aa out."""
    [played] = tournament.played
    ready = tuple(each.model_copy(update={"entropy": None}) if each.name == "aa" else each for each in played.ready)
    standings = tuple(
        row.model_copy(update={"has_left": has_left}) if row.name == "aa" else row for row in tournament.standings
    )
    changes = {"played": (played.model_copy(update={"ready": ready}),), "standings": standings, "version": 99}
    return tournament.model_copy(update=changes)


def revealing(*shown_by: str) -> tuple[Cup, KnownTournament]:
    """Return a tournament in which these players have shown their bytes, and the model of aa."""
    cup, known = gathering()
    cup.ready(PLAYERS)
    cup.reveal(shown_by)
    known = known.after(shown(cup))
    cup.reveal(PLAYERS)
    return cup, known


@pytest.mark.parametrize(
    ("shown_by", "has_left"), [((), False), (("aa",), False), (("aa",), True)], ids=("races", "taken", "taken and out")
)
def test_a_deal_without_our_bytes_is_an_alarm(shown_by: tuple[str, ...], has_left: bool) -> None:
    cup, known = revealing(*shown_by)
    with pytest.raises(Cheated, match=r"^The server left our bytes out of the deal of round 1\.$"):
        known.after(without_our_bytes(shown(cup), has_left=has_left))


def test_a_player_whose_bytes_did_not_arrive_is_out_without_an_alarm() -> None:
    cup, known = revealing("bb")
    assert known.after(without_our_bytes(shown(cup), has_left=True)).has_left
