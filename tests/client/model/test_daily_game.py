"""The checks of a client in a daily deal: every lie of a server is an alarm."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.daily_game import (
    CLOCK_MS,
    DailyGame,
    after_view,
    begin_daily,
    check_day,
    check_opening,
    refusal_of,
)
from fairest_protocol.calculation.daily import LIMIT_MS, day_start_ms
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.daily import AttemptResult, DailySeal, DailyView
from fairest_protocol.messages.entries import Dealt, Moved, Turned
from fairest_server.daily.attempt import Attempt, begin, replay, show_all, show_move
from tests.support.daily import BEACON, SECRET, careless_moves, sealed_deal

DAY = "2026-11-24"
RULES = VARIANTS["classic"].rules
SEALED = sealed_deal(RULES, DAY)
SEAL = DailySeal(
    round=SEALED.round_id, commitment=commit_secret(SEALED.round_id, SECRET), beacon_number=7, beacon=BEACON
)


def view_of(moves: list[str], *, is_over: bool = False) -> DailyView:
    timed = tuple(TimedMove(number, MOVES[text]) for number, text in enumerate(moves, 1))
    board = replay(RULES, SEALED, timed).racers[0].board
    result = AttemptResult(
        won=board.is_won, placed=board.placed, goal=52, direct=board.direct, time_ms=9, rank=1, ended=1
    )
    return DailyView(
        day=DAY,
        rules=RULES.name,
        until_ms=LIMIT_MS,
        now_ms=0,
        moves=len(moves),
        entries=show_all(RULES, SEALED, Attempt("ab" * 16, "p", "ann", 0, timed), LIMIT_MS),
        seal=SEAL,
        result=result if is_over else None,
    )


def answer_to(moves: list[str], move: str) -> DailyView:
    before = replay(RULES, SEALED, tuple(TimedMove(1, MOVES[text]) for text in moves))
    after = before.play(0, MOVES[move])
    return DailyView(
        day=DAY,
        rules=RULES.name,
        until_ms=LIMIT_MS,
        now_ms=0,
        moves=len(moves) + 1,
        entries=show_move(before, after, SEALED),
        seal=None,
        result=None,
    )


def begun(moves: list[str] | None = None) -> DailyGame:
    return begin_daily(RULES, view_of(moves or []), 5_000)


def test_an_attempt_is_followed_to_its_board() -> None:
    moves = careless_moves(begin(RULES, SEALED), 20)
    game = begun()
    for number, move in enumerate(moves):
        game = after_view(game, answer_to(moves[:number], move))
    assert game.board == begun(moves).board


def test_the_time_that_is_left_counts_by_our_own_clock() -> None:
    assert begun().seconds_left(5_000) == LIMIT_MS / 1000
    assert begun().seconds_left(65_000) == LIMIT_MS / 1000 - 60


def test_a_move_that_the_rules_forbid_is_not_sent() -> None:
    assert refusal_of(begun(), MOVES["ab"])
    assert refusal_of(begun(), MOVES["resign"])
    assert not refusal_of(begun(), MOVES["sa"])
    assert refusal_of(begin_daily(RULES, view_of(["stop"], is_over=True), 0), MOVES["sa"])


def _entry(view: DailyView, place: int, **changes: object) -> DailyView:
    entries = list(view.entries)
    entries[place] = entries[place].model_copy(update=changes)
    return view.model_copy(update={"entries": tuple(entries)})


def _other_envelopes(view: DailyView) -> DailyView:
    dealt = view.entries[0]
    assert isinstance(dealt, Dealt)
    _, *rest = dealt.envelopes[0]
    return _entry(view, 0, envelopes=((bytes(32), *rest),))


LIES: dict[str, Callable[[], object]] = {
    "another variant": lambda: begin_daily(VARIANTS["easy"].rules, view_of([]), 0),
    "another round": lambda: begin_daily(
        RULES, view_of([]).model_copy(update={"seal": SEAL.model_copy(update={"round": bytes(16)})}), 0
    ),
    "no seal": lambda: begin_daily(RULES, view_of([]).model_copy(update={"seal": None}), 0),
    "no cards": lambda: begin_daily(RULES, view_of([]).model_copy(update={"entries": ()}), 0),
    "other starters": lambda: begin_daily(RULES, _entry(view_of([]), 0, starters=("AD", "2C", "3C", "4C")), 0),
    "more piles": lambda: begin_daily(RULES, _entry(view_of([]), 0, piles=5), 0),
    "a card from no envelope": lambda: begin_daily(RULES, _entry(view_of([]), 2, salt=bytes(32)), 0),
    "another card": lambda: begin_daily(RULES, _entry(view_of([]), 2, card="AD"), 0),
    "envelopes that do not hold the card": lambda: begin_daily(RULES, _other_envelopes(view_of([])), 0),
    "the seat of somebody else": lambda: begin_daily(RULES, _entry(view_of([]), 2, seat=1), 0),
    "a move that we did not number": lambda: after_view(begun(), _entry(answer_to([], "sa"), 0, number=2)),
    "a move of another card": lambda: after_view(begun(), _entry(answer_to([], "sa"), 0, card="AD")),
    "a move against the rules": lambda: after_view(begun(), _entry(answer_to([], "sa"), 0, move=MOVES["b1"])),
    "a count of moves": lambda: after_view(begun(), answer_to([], "sa").model_copy(update={"moves": 5})),
    "the same card again": lambda: after_view(begun(), _entry(answer_to([], "sa"), 1, turn=Turn(0, 0))),
    "a card ahead": lambda: after_view(
        begun(), answer_to([], "sa").model_copy(update={"entries": (*answer_to([], "sa").entries, _ahead())})
    ),
    "another deal in an answer": lambda: after_view(
        begun(), answer_to([], "sa").model_copy(update={"entries": view_of([]).entries})
    ),
    "another day in an answer": lambda: after_view(
        begun(), answer_to([], "sa").model_copy(update={"day": "2026-11-25"})
    ),
    "another result": lambda: begin_daily(RULES, _with_result(placed=52), 0),
    "a rank that cannot be": lambda: begin_daily(RULES, _with_result(rank=2), 0),
    "a time that cannot be": lambda: begin_daily(RULES, _with_result(time_ms=LIMIT_MS + 1), 0),
    "lost moves": lambda: begin_daily(RULES, view_of([]), 0, begun(["sa"])),
    "another seal than before": lambda: begin_daily(
        RULES, view_of([]).model_copy(update={"seal": SEAL.model_copy(update={"beacon": bytes(32)})}), 0, begun()
    ),
    "another secret": lambda: check_opening(SEAL, RULES, bytes(32), SEALED.envelopes),
    "another deck": lambda: check_opening(SEAL, RULES, SECRET, [[bytes(32)] * 48]),
}


SENTENCES_OF = {
    "another variant": "The server shows another daily deal than the one that was asked for.",
    "another round": "The round of the daily deal is not that of its day and its variant.",
    "no seal": "The server shows another daily deal than the one that was asked for.",
    "no cards": "The server does not begin the daily deal with its cards.",
    "other starters": "Starters, steps or markers are not those of the rules.",
    "more piles": "The piles and redeals of the daily deal are not those of its variant.",
    "a card from no envelope": "The card at position 1 does not belong to its envelope.",
    "another card": "The card at position 1 does not belong to its envelope.",
    "envelopes that do not hold the card": "The card at position 1 does not belong to its envelope.",
    "the seat of somebody else": "The server shows the seat of another player in the daily deal.",
    "a move that we did not number": "The server shows our move 2 behind move 0.",
    "a move of another card": "The server shows a move of ours that cannot be made: sa.",
    "a move against the rules": "The server shows a move of ours that cannot be made: b1.",
    "a count of moves": "The server counts 5 moves of ours, and has shown 1.",
    "the same card again": "The card at position 1 was turned out of its order.",
    "a card ahead": "The card at position 6 was turned, and not the one before it.",
    "another deal in an answer": "The server deals the daily deal a second time.",
    "another day in an answer": "The server answers a move with another daily deal.",
    "another result": "The result of the daily deal is not that of our board.",
    "a rank that cannot be": "The result of the daily deal has a time or a rank that cannot be.",
    "a time that cannot be": "The result of the daily deal has a time or a rank that cannot be.",
    "lost moves": "The server has lost our moves behind number 0.",
    "another seal than before": "The server shows another daily deal than before.",
    "another secret": "The secret of the daily deal does not belong to its commitment.",
    "another deck": "The envelope at position 1 of the daily deal holds another deal's card.",
}
"""The alarm of each lie."""


def _ahead() -> Turned:
    after = begin(RULES, SEALED).play(0, MOVES["sa"]).play(0, MOVES["sb"])
    turned = show_move(begin(RULES, SEALED).play(0, MOVES["sa"]), after, SEALED)[1]
    assert isinstance(turned, Turned)
    return turned.model_copy(update={"turn": Turn(0, 5)})


def _with_result(**changes: object) -> DailyView:
    view = view_of(["stop"], is_over=True)
    assert view.result is not None
    return view.model_copy(update={"result": view.result.model_copy(update=changes)})


def alarm_of(lie: Callable[[], object]) -> str:
    """Return the sentence of the alarm that a lie raises, empty if it raises none."""
    try:
        lie()
    except Cheated as alarm:
        return str(alarm)
    return ""


def test_a_lie_is_named() -> None:
    assert {name: alarm_of(lie) for name, lie in LIES.items()} == SENTENCES_OF


@pytest.mark.parametrize("changes", [{"won": True}, {"placed": 5}, {"goal": 51}, {"direct": 1}])
def test_each_part_of_a_result_is_that_of_our_board(changes: dict[str, object]) -> None:
    with pytest.raises(Cheated, match=r"^The result of the daily deal is not that of our board\.$"):
        begin_daily(RULES, _with_result(**changes), 0)


@pytest.mark.parametrize("changes", [{"time_ms": LIMIT_MS}, {"rank": 3, "ended": 3}])
def test_a_result_may_be_the_last_one_and_take_all_the_time(changes: dict[str, object]) -> None:
    game = begin_daily(RULES, _with_result(**changes), 0)
    assert game.result == _with_result(**changes).result


def test_an_attempt_that_is_shown_again_may_have_as_many_moves_or_more() -> None:
    assert [begin_daily(RULES, view_of(moves), 0, begun(["sa"])).own.moves for moves in (["sa"], ["sa", "sb"])] == [
        1,
        2,
    ]


def test_the_answer_to_a_move_says_until_when_the_attempt_goes_on() -> None:
    assert after_view(begun(), answer_to([], "sa").model_copy(update={"until_ms": 77})).until_ms == 77


def test_a_day_on_which_we_have_not_raced_has_no_envelopes_to_compare() -> None:
    check_opening(SEAL, RULES, SECRET, ())


@pytest.mark.parametrize(
    ("moves", "move", "refusal"),
    [
        ([], "sa", ""),
        ([], "stop", ""),
        ([], "resign", "Nobody races here against whom you could resign; stop ends your attempt."),
        (["stop"], "sa", "Your attempt is over; each player has one a day."),
    ],
)
def test_a_move_that_cannot_be_made_is_refused_in_words(moves: list[str], move: str, refusal: str) -> None:
    game = begin_daily(RULES, view_of(moves, is_over=bool(moves)), 0)
    assert refusal_of(game, MOVES[move]) == refusal


def test_the_distance_of_the_clocks_is_that_of_the_answer() -> None:
    view = view_of([]).model_copy(update={"now_ms": 2_000})
    assert begin_daily(RULES, view, 5_000).ahead_ms == 3_000


def test_the_deck_of_an_honest_day_is_the_one_in_the_envelopes() -> None:
    check_opening(SEAL, RULES, SECRET, SEALED.envelopes)


def test_an_entry_of_a_later_server_is_passed_over() -> None:
    view = answer_to([], "sa")
    moved = view.entries[0]
    assert isinstance(moved, Moved)
    assert after_view(begun(), view).own.moves == 1


MIDNIGHT_MS = day_start_ms("2026-11-24")


@pytest.mark.parametrize(
    ("now_ms", "days"),
    [
        (MIDNIGHT_MS + CLOCK_MS, ["2026-11-24"]),
        (MIDNIGHT_MS + CLOCK_MS - 1, ["2026-11-23", "2026-11-24"]),
        (MIDNIGHT_MS - CLOCK_MS, ["2026-11-23", "2026-11-24"]),
        (MIDNIGHT_MS - CLOCK_MS - 1, ["2026-11-23"]),
    ],
)
def test_today_is_the_day_by_our_clock_and_at_midnight_either_one(now_ms: int, days: list[str]) -> None:
    for day in ("2026-11-22", "2026-11-23", "2026-11-24", "2026-11-25", "2026-13-45"):
        with nullcontext() if day in days else pytest.raises(Cheated, match=f"shows the daily deal of {day} for"):
            check_day(day, None, now_ms)


def test_a_day_that_was_asked_for_is_the_only_one() -> None:
    check_day("2026-11-20", "2026-11-20", MIDNIGHT_MS)
    with pytest.raises(Cheated, match="of 2026-11-24 for that of 2026-11-20"):
        check_day("2026-11-24", "2026-11-20", MIDNIGHT_MS)


def test_a_drand_round_that_is_not_the_first_of_the_day_is_an_alarm() -> None:
    view = view_of([])
    assert view.seal is not None
    signature = bytes(48)
    seal = view.seal.model_copy(update={"beacon_number": 7, "beacon": drand_value(signature), "drand": signature})
    with pytest.raises(Cheated, match="is drand round 7, and the first one of its day is"):
        begin_daily(RULES, view.model_copy(update={"seal": seal}), 0)
