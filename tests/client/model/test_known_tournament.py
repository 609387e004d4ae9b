"""A tournament as one player knows it: whether it has entered, its pair, and what it has to send next.

We are the player bb; the newest round is the third one.
"""

from collections.abc import Mapping
from itertools import product

import pytest

from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.model.solo_game import empty_scene
from fairest_cli.model.tournament_game import RoundWitness, TournamentGame
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.tournaments import (
    RaceScore,
    ReadyEntrant,
    Standing,
    Tournament,
    TournamentPair,
    TournamentPhase,
    TournamentRound,
)
from fairest_protocol.value import replace
from fairest_server.tournament.view import show_tournament
from tests.tournament.cup import Cup, entropy_of, names

RULES = VARIANTS["classic"].rules
EMPTY = show_tournament(Cup(names("a")).at, None, 0)
OURS = {number: bytes([number]) * 32 for number in (1, 2, 3)}
"""Our entropies of the rounds."""


def pair(first: str, second: str | None) -> TournamentPair:
    return TournamentPair(names=(first, second), points=None, scores=(None, None))


PAIRS = (pair("aa", "cc"), pair("dd", "bb"))
WITHOUT_US = (pair("aa", "cc"), pair("dd", None))


def played(number: int, pairs: tuple[TournamentPair, ...], ready: Mapping[str, bytes | None]) -> TournamentRound:
    return TournamentRound(
        number=number,
        round=bytes([number]) * 16,
        commitment=bytes(32),
        pairs=pairs,
        ready=tuple(ReadyEntrant(name=name, entropy_hash=bytes(32), entropy=shown) for name, shown in ready.items()),
        started_ms=None,
        secret=None,
    )


def standing(name: str, *, has_left: bool) -> Standing:
    return Standing(rank=1, name=name, points=0, placed=0, direct=0, buchholz=0, has_left=has_left)


def shown(
    phase: TournamentPhase = TournamentPhase.GATHERING,
    pairs: tuple[TournamentPair, ...] = PAIRS,
    ready: Mapping[str, bytes | None] | None = None,
    left: tuple[str, ...] = (),
) -> Tournament:
    rounds = (played(1, WITHOUT_US, {}), played(2, (pair("aa", "bb"),), {}), played(3, pairs, ready or {}))
    standings = tuple(standing(name, has_left=name in left) for name in names("abcd"))
    return EMPTY.model_copy(update={"phase": phase, "played": rounds, "standings": standings})


def known(tournament: Tournament) -> KnownTournament:
    return KnownTournament("bb", tournament, entropies=OURS)


@pytest.mark.parametrize(("name", "has_entered"), [("bb", True), ("dd", True), ("zz", False)])
def test_the_players_of_a_tournament_stand_in_its_table(name: str, has_entered: bool) -> None:
    assert KnownTournament(name, shown()).has_entered is has_entered


@pytest.mark.parametrize(("left", "has_left"), [((), False), (("aa",), False), (("bb",), True), (("aa", "bb"), True)])
def test_a_player_has_left_if_its_own_row_says_so(left: tuple[str, ...], has_left: bool) -> None:
    assert known(shown(left=left)).has_left is has_left


@pytest.mark.parametrize(
    ("tournament", "ours"),
    [
        (shown(), PAIRS[1]),
        (shown(pairs=WITHOUT_US), None),
        (shown(left=("aa",)), PAIRS[1]),
        (shown(left=("bb",)), None),
        (EMPTY, None),
    ],
)
def test_our_pair_is_that_of_the_newest_round(tournament: Tournament, ours: TournamentPair | None) -> None:
    assert known(tournament).pair == ours


def test_the_newest_round_is_the_last_one() -> None:
    assert known(shown()).newest.number == 3


def test_a_player_gets_ready_once_while_its_pair_gathers() -> None:
    wanted = [
        (phase, is_paired, ready)
        for phase, is_paired, ready in product(TournamentPhase, (True, False), ("", "a", "b", "ab"))
        if known(shown(phase, PAIRS if is_paired else WITHOUT_US, dict.fromkeys(names(ready)))).is_ready_wanted
    ]
    assert wanted == [(TournamentPhase.GATHERING, True, ""), (TournamentPhase.GATHERING, True, "a")]


def test_a_player_shows_its_entropy_once_while_all_do() -> None:
    shown_by: list[dict[str, bytes | None]] = [
        {},
        {"aa": None},
        {"bb": None},
        {"aa": None, "bb": None},
        {"aa": None, "bb": OURS[3]},
    ]
    due = [
        (phase, is_paired, ready, entropy)
        for phase, is_paired, ready in product(TournamentPhase, (True, False), shown_by)
        if (entropy := known(shown(phase, PAIRS if is_paired else WITHOUT_US, ready)).due_entropy) is not None
    ]
    assert due == [(TournamentPhase.REVEALING, True, ready, OURS[3]) for ready in shown_by[2:4]]


def test_an_entropy_counts_for_its_round_and_leaves_the_others() -> None:
    assert known(shown()).with_entropy(4, entropy_of("bb")).entropies == {**OURS, 4: entropy_of("bb")}


def test_a_race_of_ours_is_kept_with_its_round() -> None:
    first, second = (RoundWitness(bytes([number]) * 16, bytes(32), seen_ms=7) for number in (1, 2))
    result = RaceScore(won=False, placed=5, direct=1, time_ms=9)
    scene = empty_scene(RULES).model_copy(update={"envelopes": ((bytes(32),),)})
    game = TournamentGame(RULES, second.round_id, scene, 0, 0, "a-b-c", 2, result, (MOVES["sa"],))
    raced = replace(second, envelopes=((bytes(32),),), moves=(MOVES["sa"],), result=result)
    assert replace(known(shown()), witnesses={1: first, 2: second}).with_race(game).witnesses == {1: first, 2: raced}


def test_the_same_version_may_be_shown_again_with_a_later_time() -> None:
    later = EMPTY.model_copy(update={"now_ms": 9})
    assert known(EMPTY).after(later).shown is later
