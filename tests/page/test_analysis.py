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
from fairest_protocol.calculation.exhaustion import Verdict
from tests.page.test_solo_record import ATTEMPT, stopped_after
from tests.support.page_modules import ask_page
from tests.support.random_boards import play_on, random_race

BOARDS = 40
BUDGET = 8
BETTER = (ATTEMPT, stopped_after(30, 90_000))


@pytest.mark.parametrize("seed", [0, 1, 623, 2**32 - 1, 2**32, 2**32 + 5, 2**45 + 1])
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


def analyse_on_page(*records: DailyRecord) -> dict[str, Any]:
    """Return what the page finds: `shares`, how much was done each time, and `analysis`."""
    [answer] = ask_page([{"ask": "analyse", "texts": [record.text() for record in records]}])
    assert isinstance(answer, dict)
    return answer


def analyse_here(*records: DailyRecord) -> RoundAnalysis:
    seats = tuple(range(len(records)))
    return analyse_round(as_match(records[0], *records[1:] or (None,)), 0, seats, Effort(club_games=0), lambda *_: None)


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
    }


def without(names: tuple[str, ...], fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


@pytest.mark.long
@pytest.mark.parametrize("records", [BETTER[:1], BETTER, BETTER[::-1]], ids=("alone", "beside", "the other beside"))
def test_moves_and_mistakes_are_those_of_the_installed_client(records: tuple[DailyRecord, ...]) -> None:
    here, there = analyse_here(*records), analyse_on_page(*records)["analysis"]
    for seat, found in enumerate(there["seats"]):
        moves = [without(("step",), judged) for judged in found["moves"]]
        assert moves == [judged_fields(judged) for judged in here.moves[seat]]
        mistakes = [without(("step", "could", "can"), mistake) for mistake in found["mistakes"]]
        assert mistakes == [mistake_fields(mistake) for mistake in here.mistakes[seat]]


@pytest.mark.long
def test_a_line_that_wins_is_found_where_the_installed_client_finds_one() -> None:
    here, there = analyse_here(*BETTER), analyse_on_page(*BETTER)["analysis"]
    assert there["isWinnable"] is (here.solution.verdict is Verdict.WINNABLE)
    for seat, found in enumerate(there["seats"]):
        verdicts = [(each.before.verdict, each.after.verdict) for each in here.mistakes[seat]]
        expected = [(before is Verdict.WINNABLE, after is Verdict.WINNABLE) for before, after in verdicts]
        assert [(mistake["could"], mistake["can"]) for mistake in found["mistakes"]] == expected


def test_the_share_that_is_done_grows_to_its_end() -> None:
    shares = analyse_on_page(stopped_after(3, 9_000))["shares"]
    assert shares == sorted(shares) and 0 < shares[0] < shares[-1] <= 1


def test_a_race_without_a_move_has_nothing_to_judge() -> None:
    [seat] = analyse_on_page(stopped_after(0, 1_000))["analysis"]["seats"]
    assert seat == {"moves": [], "lost": 0, "mistakes": []}
