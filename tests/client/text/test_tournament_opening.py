"""The races of a round that is over, fetched over sockets and held against what the tournament shows."""

from collections.abc import Mapping
from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.tournament_opening import open_races
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.tournaments import RaceScore, Tournament, TournamentPair, TournamentRound
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from fairest_server.tournament.view import show_tournament
from tests.protocol.calculation.test_tournament_record import make_record
from tests.support.lying_chain import serving_pages
from tests.tournament.cup import Cup, names

KEY = SigningKey(bytes(32))
ANN, BOB = KEY.sign_race(make_record()), KEY.sign_race(make_record(5, name="bob"))
CODE = ANN.code


def score_of(record: TournamentRecord) -> RaceScore:
    score = record.score
    return RaceScore(won=score.won, placed=score.placed, direct=score.direct, time_ms=score.time_ms)


def a_round(number: int = 2, **changes: Any) -> TournamentRound:
    """Return the round of both records, which is over."""
    fields: dict[str, Any] = {
        "number": number,
        "round": ANN.round_id,
        "commitment": ANN.commitment,
        "pairs": (
            TournamentPair(names=("bob", "ann"), points=(0, 2), scores=(score_of(BOB), score_of(ANN))),
            TournamentPair(names=("eve", None), points=(2, 0), scores=(None, None)),
        ),
        "ready": (),
        "started_ms": None,
        "secret": ANN.secret,
    }
    return TournamentRound(**{**fields, **changes})


def a_tournament(*played: TournamentRound) -> Tournament:
    shown = show_tournament(Cup(names("ab")).at, None, 0)
    changes = {"code": CODE, "tournament": ANN.tournament.hex(), "limit_seconds": ANN.limit_seconds, "played": played}
    return shown.model_copy(update=changes)


def answers(shown: Tournament, ann: TournamentRecord = ANN) -> Mapping[str, bytes]:
    return {
        f"/tournaments/{CODE}": encode(shown),
        f"/tournament-races/{CODE}?round=2&name=ann": ann.text().encode(),
        f"/tournament-races/{CODE}?round=2&name=bob": BOB.text().encode(),
    }


def names_of(
    *own: str, number: int | None = None, player: str | None = None, shown: Tournament | None = None
) -> tuple[str, str]:
    """Return whose races are opened."""
    with serving_pages(answers(shown or a_tournament(a_round()))) as url:
        return open_races(url, CODE, number, player, own).names


def test_our_own_race_is_opened_beside_that_of_the_opponent() -> None:
    assert names_of("you", "Bob") == ("bob", "ann")


def test_without_a_player_of_this_machine_the_race_with_the_best_score_is_opened() -> None:
    assert names_of("you") == ("ann", "bob")


def test_the_race_of_the_player_that_is_named_is_opened() -> None:
    assert names_of("ann", player="BOB") == ("bob", "ann")


def test_a_race_whose_opponent_did_not_race_is_opened_alone() -> None:
    pair = TournamentPair(names=("ann", "bob"), points=(2, 0), scores=(score_of(ANN), None))
    assert names_of("ann", shown=a_tournament(a_round(pairs=(pair,)))) == ("ann", "nobody")


def test_the_last_round_that_is_over_is_opened() -> None:
    under_way = a_round(3, secret=None)
    assert names_of(shown=a_tournament(a_round(1), a_round(), under_way)) == ("ann", "bob")


def test_a_player_who_did_not_race_is_named_with_those_who_did() -> None:
    with pytest.raises(PageUnreadable, match=r"eve did not race in round 2; ann, bob did\."):
        names_of(player="eve")


def test_a_round_that_is_not_over_cannot_be_opened() -> None:
    with pytest.raises(
        PageUnreadable, match=r"Round 3 of this tournament is not over; the last one that is, is round 2\."
    ):
        names_of(number=3, shown=a_tournament(a_round(), a_round(3, secret=None)))


def test_a_tournament_without_a_round_that_is_over_has_no_race_to_open() -> None:
    with pytest.raises(PageUnreadable, match="No round of this tournament is over yet"):
        names_of(shown=a_tournament(a_round(secret=None)))


def test_a_round_in_which_nobody_raced_has_no_race_to_open() -> None:
    pair = TournamentPair(names=("ann", "bob"), points=(0, 0), scores=(None, None))
    with pytest.raises(PageUnreadable, match=r"Nobody raced in round 2\."):
        names_of(shown=a_tournament(a_round(pairs=(pair,))))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (KEY.sign_race(make_record(10)), "is of another race than the tournament shows"),
        (KEY.sign_race(replace(ANN, tournament=bytes(16))), "does not prove itself"),
        (KEY.sign_race(make_record(tournament=bytes(16))), "is of another race than the tournament shows"),
        (KEY.sign_race(replace(ANN, code="loud-green-heron")), "is of another race than the tournament shows"),
        (KEY.sign_race(replace(ANN, limit_seconds=601)), "is of another deal than the tournament shows"),
        (replace(ANN, signature=bytes(64)), "is not signed with the key that it names"),
    ],
    ids=("another race", "no proof", "another tournament", "another code", "another limit", "no signature"),
)
def test_a_record_that_is_not_that_of_the_race_is_an_alarm(record: TournamentRecord, reason: str) -> None:
    with (
        serving_pages(answers(a_tournament(a_round()), record)) as url,
        pytest.raises(Cheated, match=f"The record of ann {reason}"),
    ):
        open_races(url, CODE, None, "ann", ())


def test_a_secret_that_is_not_that_of_the_record_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="is of another deal"):
        names_of(player="ann", shown=a_tournament(a_round(secret=bytes(32))))
