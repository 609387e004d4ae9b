"""The page judges the cards and moves of a daily deal as `fairest` does, in the same words."""

import random
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.daily_game import after_view, begin_daily
from fairest_protocol.calculation.daily import LIMIT_MS
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.messages.daily import DailySeal, DailyView
from fairest_protocol.messages.entries import Entry, Moved, Turned
from fairest_server.daily.attempt import Attempt, begin, replay, show_all, show_move
from tests.support.daily import BEACON, SECRET, careless_moves, sealed_deal
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
