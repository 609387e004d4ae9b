"""The page analyses a race with the figures of `fairest analyse`: the same sampled games, from the same seeds."""

import random
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_cli.analysis.judging import Effort, JudgedMove
from fairest_cli.analysis.round_analysis import Mistake, RoundAnalysis, analyse_round
from fairest_cli.bots.evaluation import evaluate
from fairest_cli.records.daily_match import as_match
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.solver import solve_race
from tests.page.test_solo_record import ATTEMPT, stopped_after
from tests.support.long_tests import parametrize_with_long
from tests.support.page_modules import ask_page
from tests.support.random_boards import play_on, random_race, random_rules
from tests.support.records import make_record, text_of

BOARDS = 40
BUDGET = 8
EFFORT = Effort(club_games=0)
BETTER = (ATTEMPT, stopped_after(30, 90_000))


@parametrize_with_long("seed", [0, 2**32 - 1, 2**32, 1, 623, 2**32 + 5, 2**45 + 1], quick=3)
def test_the_same_numbers_come_from_a_seed(seed: int) -> None:
    chance = random.Random(seed)
    shuffled = list(range(60))
    drawn = {
        "random": [chance.random() for _ in range(700)],
        "bits": [chance.getrandbits(32) for _ in range(700)],
        "shuffled": shuffled,
    }
    chance.shuffle(shuffled)
    assert ask_page([{"ask": "chance", "seed": seed}]) == [drawn]


@pytest.mark.long
def test_each_move_of_a_board_has_the_same_chance() -> None:
    questions, expected = [], []
    for seed in range(BOARDS):
        chance = random.Random(seed)
        race = random_race(chance)
        boards = [race.racers[0].board, *(each.racers[0].board for each in play_on(race, chance))]
        board, rules = chance.choice(boards[:-1]), race.rules
        given = {"rules": rules.name, "board": to_jsonable_python(board), "seed": 2**32 - 4 + seed, "budget": BUDGET}
        questions.append({"ask": "evaluate", **given})
        expected.append(
            [[str(move), share] for move, share in evaluate(board, rules, 2**32 - 4 + seed, BUDGET).items()]
        )
    assert ask_page(questions) == expected


def test_a_chance_is_rounded_as_on_a_terminal() -> None:
    shares = [count / 400 for count in range(401)]
    assert ask_page([{"ask": "percent", "shares": shares}]) == [[f"{round(100 * share)} %" for share in shares]]


def verdicts_in(seed: int) -> tuple[dict[str, Any], list[str]]:
    """Return a question about some moments of a random game, and the verdicts of the solver on them."""
    chance = random.Random(f"solve {seed}")
    rules, seed_of_deal = random_rules(chance), chance.randbytes(32)
    race = start_race(rules, make_deal(rules, seed_of_deal), seats=1)
    races = [race, *play_on(race, chance)]
    at = sorted(chance.sample(range(len(races)), min(4, len(races))))
    moves = [str(each.racers[0].last_move) for each in races[1:]]
    given = {"rules": rules.name, "piles": rules.piles, "redeals": rules.redeals, "seed": seed_of_deal.hex()}
    question = {"ask": "solve", **given, "moves": moves, "at": at}
    return question, [solve_race(races[step], 0).verdict.value for step in at]


@parametrize_with_long("games", [range(3), *(range(first, first + 20) for first in (3, 23, 43))], quick=0)
def test_the_solver_has_the_same_answer_at_any_moment_of_a_game(games: range) -> None:
    pairs = [verdicts_in(seed) for seed in games]
    assert ask_page([question for question, _ in pairs]) == [verdicts for _, verdicts in pairs]


def analyse_on_page(*records: DailyRecord) -> dict[str, Any]:
    """Return the analysis of the page of an attempt, or of two beside one another."""
    [[news]] = ask_page([{"ask": "analyse", "texts": [record.text() for record in records]}])
    return dict(news[-1])


def analyse_here(*records: DailyRecord) -> RoundAnalysis:
    seats = tuple(range(len(records)))
    return analyse_round(as_match(records[0], *records[1:] or (None,)), 0, seats, EFFORT, lambda *_: None)


def judged_fields(judged: JudgedMove) -> dict[str, Any]:
    return {
        "number": judged.number,
        "seat": judged.seat,
        "at_ms": judged.at_ms,
        "move": str(judged.move),
        "chance": judged.chance,
        "best": str(judged.best),
        "bestChance": judged.best_chance,
    }


def mistake_fields(mistake: Mistake) -> dict[str, Any]:
    return {
        **judged_fields(mistake.judged),
        "board": to_jsonable_python(mistake.judged.board),
        "better": [str(move) for move in mistake.better],
        "before": mistake.before.verdict.value,
        "after": mistake.after.verdict.value,
    }


def seat_fields(here: RoundAnalysis, seat: int) -> dict[str, Any]:
    moves = here.moves[seat]
    return {
        "moves": [judged_fields(judged) for judged in moves],
        "cost": sum(judged.cost for judged in moves) / len(moves),
        "mistakes": [mistake_fields(mistake) for mistake in here.mistakes[seat]],
    }


def compare(there: dict[str, Any], here: RoundAnalysis) -> None:
    """Compare an analysis of the page with one of the installed client."""
    assert there["verdict"] == here.solution.verdict.value
    for found in there["seats"]:
        for judged in (*found["moves"], *found["mistakes"]):
            del judged["step"]
        found["cost"] = pytest.approx(found["cost"])
    assert [seat_fields(here, seat) for seat in sorted(here.moves)] == there["seats"]


@pytest.mark.long
@pytest.mark.parametrize("records", [BETTER[:1], BETTER, BETTER[::-1]], ids=("alone", "beside", "the other beside"))
def test_an_attempt_has_the_analysis_of_the_installed_client(records: tuple[DailyRecord, ...]) -> None:
    compare(analyse_on_page(*records), analyse_here(*records))


@pytest.mark.long
def test_each_round_of_a_match_has_the_analysis_of_the_installed_client() -> None:
    record = make_record(3)
    [answers] = ask_page([{"ask": "analyse", "match": text_of(record)}])
    dealt = [number for number, played in enumerate(record.rounds) if played.is_dealt]
    for number, news in zip(dealt, answers, strict=True):
        compare(news[-1], analyse_round(record, number, (0, 1), EFFORT, lambda *_: None))


@pytest.mark.long
def test_the_share_that_is_done_grows_to_its_end() -> None:
    [[news]] = ask_page([{"ask": "analyse", "texts": [stopped_after(3, 9_000).text()]}])
    shares = news[:-1]
    assert shares == sorted(shares) and 0 < shares[0] < shares[-1] == 1


def test_a_race_without_a_move_has_nothing_to_judge() -> None:
    [seat] = analyse_on_page(stopped_after(0, 1_000))["seats"]
    assert seat == {"moves": [], "cost": 0, "mistakes": []}
