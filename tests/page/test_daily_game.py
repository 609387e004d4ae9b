"""The page judges the cards and moves of a daily deal as `fairest` does, in the same words."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_cli.model import drand_beacon
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.daily_game import CLOCK_MS, after_view, begin_daily, check_day
from fairest_cli.model.drand_beacon import check_beacon
from fairest_protocol.calculation.daily import LIMIT_MS, day_start_ms
from fairest_protocol.calculation.drand import QUICKNET, drand_value
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.daily import DailySeal, DailyView
from fairest_protocol.messages.entries import Entry, Moved, Turned
from fairest_server.daily.attempt import Attempt, begin, replay, show_all, show_move
from tests.support.daily import BEACON, SECRET, careless_moves, sealed_deal
from tests.support.long_tests import parametrize_with_long
from tests.support.page_modules import ask_page

DAY = "2026-11-24"
SENTENCES = (
    "the seat of another player",
    "out of its order",
    "and not the one before it",
    "does not belong to its envelope",
    "our move",
    "cannot be made",
    "a second time",
    "counts",
)
"""Parts of the alarms that the random lies have to bring about."""
RULES = VARIANTS["redeal"].rules
SEALED = sealed_deal(RULES, DAY)
MOVES_MADE = careless_moves(begin(RULES, SEALED), 200)
"""The moves of an attempt, through its redeal."""


def replayed(moves: list[str]) -> tuple[TimedMove, ...]:
    return tuple(TimedMove(number, MOVES[text]) for number, text in enumerate(moves, 1))


def view(moves: int, entries: tuple[Entry, ...]) -> DailyView:
    round_id = SEALED.round_id
    seal = DailySeal(round=round_id, commitment=commit_secret(round_id, SECRET), beacon_number=7, beacon=BEACON)
    return DailyView(
        day=DAY,
        rules=RULES.name,
        until_ms=LIMIT_MS,
        now_ms=0,
        moves=moves,
        entries=entries,
        seal=seal,
        result=None,
    )


def honest_views(count: int, answers: int) -> list[DailyView]:
    """Return the view of an attempt after `count` moves, and the answers to that many moves behind them."""
    moves = MOVES_MADE[:count]
    attempt = Attempt("ab" * 16, "p", "ann", 0, replayed(moves))
    views = [view(count, show_all(RULES, SEALED, attempt, LIMIT_MS))]
    race = replay(RULES, SEALED, replayed(moves))
    for number, text in enumerate(MOVES_MADE[count : count + answers], count + 1):
        after = race.play(0, MOVES[text])
        views.append(view(number, show_move(race, after, SEALED)))
        race = after
    return views


def lie(chance: random.Random, views: list[DailyView]) -> list[DailyView]:
    """Change one entry, leave it out, or show another one besides."""
    place = chance.randrange(len(views))
    entries = list(views[place].entries)
    number = chance.randrange(0 if place else 2, len(entries))
    entry = entries[number]
    match chance.randrange(4):
        case 0:
            del entries[number]
        case 1:
            entries.insert(number, chance.choice(views[chance.randrange(len(views))].entries))
        case _:
            entries[number] = entry.model_copy(update=changes(chance, entry))
    return [*views[:place], views[place].model_copy(update={"entries": tuple(entries)}), *views[place + 1 :]]


def changes(chance: random.Random, entry: Entry) -> dict[str, Any]:
    match entry:
        case Turned(turn=turn):
            shown = [Turn(turn.pass_number ^ 1, turn.position), Turn(turn.pass_number, turn.position + 1), Turn(1, 0)]
            return chance.choice([{"seat": 1}, {"card": "AD"}, {"salt": bytes(32)}, *({"turn": one} for one in shown)])
        case Moved(number=number):
            return chance.choice([{"seat": 1}, {"number": number + 1}, {"move": MOVES["b1"]}, {"card": "AD"}])
    return {}


def judge(views: list[DailyView]) -> int | str:
    try:
        game = begin_daily(RULES, views[0], 0)
        for answer in views[1:]:
            game = after_view(game, answer)
    except Cheated as alarm:
        return str(alarm)
    return game.own.moves


def question(views: list[DailyView]) -> dict[str, Any]:
    return {"ask": "daily_views", "rules": RULES.name, "views": to_jsonable_python(views)}


def test_the_attempt_goes_through_its_redeal() -> None:
    assert "redeal" in MOVES_MADE


def test_a_card_of_a_redeal_before_the_redeal_is_an_alarm() -> None:
    (begun,) = honest_views(0, 0)
    first = SEALED.deal.orders[1][0]
    ahead = Turned(seat=0, turn=Turn(1, 0), card=first, salt=SEALED.salt(1, 0))
    views = [begun.model_copy(update={"entries": (*begun.entries[:2], ahead)})]
    assert [judge(views)] == ask_page([question(views)])


@pytest.mark.long
def test_random_lies_in_an_attempt_are_judged_as_by_fairest() -> None:
    chance = random.Random(7)
    cases = [honest_views(chance.randrange(len(MOVES_MADE)), chance.randrange(4)) for _ in range(600)]
    cases = [lie(chance, views) if chance.random() < 0.9 else views for views in cases]
    expected = [judge(views) for views in cases]
    assert ask_page(map(question, cases)) == expected
    assert [part for part in SENTENCES if not any(part in str(judged) for judged in expected)] == []
    assert any(isinstance(judged, int) for judged in expected)


def fault_of(check: Callable[[], None]) -> str | None:
    """Return what `fairest` says of a lie, None if it finds nothing."""
    try:
        check()
    except Cheated as reason:
        return str(reason)
    return None


def test_the_day_of_a_deal_is_checked_as_by_fairest() -> None:
    midnight_ms = day_start_ms(DAY)
    cases = [
        (day, asked, midnight_ms + shift_ms)
        for day in ("2026-11-23", DAY, "2026-11-25", "2026-02-30")
        for asked in (None, DAY)
        for shift_ms in (-CLOCK_MS - 1, -CLOCK_MS, 0, CLOCK_MS - 1, CLOCK_MS)
    ]
    expected = [fault_of(lambda case=case: check_day(*case)) for case in cases]  # type: ignore[misc]
    asked = [{"ask": "daily_day", "day": day, "asked": wanted, "now": now_ms} for day, wanted, now_ms in cases]
    assert ask_page(asked) == expected
    assert None in expected


def test_a_beacon_by_drand_is_checked_as_by_fairest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_beacon, "CAN_CHECK", False)  # the page does not check signatures of drand
    first, signature = QUICKNET.first_round(day_start_ms(DAY)), bytes(range(48))
    seal = view(0, ()).seal
    assert seal is not None
    right = seal.model_copy(update={"beacon_number": first, "beacon": drand_value(signature), "drand": signature})
    lies: list[dict[str, Any]] = [
        {},
        {"beacon_number": first - 1},
        {"beacon_number": first + 1},
        {"beacon": bytes(32)},
        {"drand": bytes(48)},
    ]
    cases = [(DAY, seal), ("2020-01-01", right), *((DAY, right.model_copy(update=lie)) for lie in lies)]
    expected = [fault_of(lambda case=case: check_beacon(*case)) for case in cases]  # type: ignore[misc]
    asked = [{"ask": "daily_beacon", "day": day, "seal": to_jsonable_python(each)} for day, each in cases]
    assert ask_page(asked) == expected
    assert [fault is None for fault in expected] == [True, False, True, False, False, False, False]


@parametrize_with_long("drand", ["", "00" * 47, 7, {}, ["00" * 48], "xy" * 48], quick=2)
def test_the_page_finds_a_signature_wrong_that_is_none(drand: object) -> None:
    seal = {"round": "", "commitment": "", "beacon_number": 1, "beacon": "", "drand": drand}
    [fault] = ask_page([{"ask": "daily_beacon", "day": DAY, "seal": seal}])
    assert fault == "The beacon of the daily deal is not the value of the drand round that it names."


def test_a_seal_of_an_older_server_has_no_drand_round() -> None:
    seal = {"round": "", "commitment": "", "beacon_number": 1, "beacon": ""}
    assert ask_page([{"ask": "daily_beacon", "day": DAY, "seal": seal}]) == [None]
