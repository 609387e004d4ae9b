"""How a race stands: who leads, the last cards, complete foundations, and the sentences once a race is over."""

from collections.abc import Sequence

import pytest

from fairest_cli.tui.board.standing import (
    Standing,
    completed_foundations,
    describe_needs,
    describe_other,
    describe_own_end,
    describe_race_change,
    has_new_leader,
)
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.value import replace
from tests.support.random_boards import random_board

START = Standing((4, 4), 52)


def follow(*counts: tuple[int, int]) -> list[list[str]]:
    said, standing = [], START
    for each in counts:
        before, standing = standing, standing.after(each)
        said.append(list(describe_race_change(before, standing, "bob")))
    return said


def test_the_first_lead_is_no_change_of_lead() -> None:
    assert follow((5, 4)) == [[]]


def test_a_player_who_passes_the_other_takes_the_lead() -> None:
    assert follow((5, 4), (5, 7), (8, 7)) == [[], ["bob takes the lead by 2."], ["You take the lead by 1."]]


def test_a_tie_changes_no_lead() -> None:
    assert follow((5, 4), (5, 5), (6, 5)) == [[], [], []]


def test_the_last_five_cards_are_counted_down() -> None:
    assert follow((46, 4), (47, 4), (48, 4), (51, 4), (52, 4)) == [
        [],
        ["5 cards to go."],
        ["4 cards to go."],
        ["1 card to go."],
        [],
    ]


def test_the_last_cards_of_the_other_player_are_counted_under_its_name() -> None:
    assert follow((46, 45), (46, 46), (46, 47))[2] == ["bob takes the lead by 1.", "bob: 5 cards to go."]


def test_a_count_that_stays_is_counted_down_once() -> None:
    assert follow((47, 4), (47, 5)) == [["5 cards to go."], []]


def test_has_new_leader_needs_an_earlier_one() -> None:
    assert not has_new_leader(START, START.after((5, 4)))
    assert has_new_leader(START.after((5, 4)), START.after((5, 4)).after((5, 6)))


def test_a_foundation_is_completed_by_its_last_card() -> None:
    board = random_board(3)
    full = board.layout[1]
    before = replace(board, foundations=_with(board, 1, full.length - 1))
    assert completed_foundations(before, replace(board, foundations=_with(board, 1, full.length))) == [1]
    assert completed_foundations(before, before) == []


def _with(board: Board, number: int, length: int) -> tuple[tuple[Card, ...], ...]:
    foundations = list(board.foundations)
    foundations[number] = foundations[number][:1] * length
    return tuple(foundations)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [((31, 22), "bob needs 10 more to win"), ((8, 8), "bob needs 1 more to win"), ((8, 11), "bob is 3 ahead")],
)
def test_the_needs_of_the_other_player_follow_from_both_counts(counts: tuple[int, int], sentence: str) -> None:
    assert describe_needs(counts, "bob")[0] == sentence


def wordings_of_ends() -> list[tuple[int, Sequence[str]]]:
    """Return the wordings of the end of a race on each of twenty boards, with the seed of the board."""
    return [(seed, describe_own_end(random_board(seed), (31, 22), "house-bot", 146.0)) for seed in range(20)]


def test_the_wordings_of_an_end_get_shorter_down_to_48_columns() -> None:
    longer = [
        (seed, wordings)
        for seed, wordings in wordings_of_ends()
        if list(wordings) != sorted(wordings, key=len, reverse=True) or len(wordings[-1]) >= 49
    ]
    assert longer == []


def test_all_wordings_of_an_end_keep_count_need_and_time() -> None:
    lacking = [
        (seed, words)
        for seed, wordings in wordings_of_ends()
        for words in wordings
        if not ("10 more" in words and "2:26" in words)
    ]
    assert lacking == []


def test_at_80_columns_the_wording_of_an_end_has_its_reason() -> None:
    board = next(board for board in map(random_board, range(200)) if board.is_stuck and not board.is_won)
    wordings = describe_own_end(board, (31, 22), "bot-learner", 146.0)
    assert next(words for words in wordings if len(words) < 80).startswith("No card fits any more.")


def test_a_player_that_has_stopped_says_how_many_cards_beat_it() -> None:
    assert describe_other("house", 18, 52, 10, has_stopped=True, is_away=False)[0] == (
        "house has stopped at 18: 9 more to win"
    )
    assert "you are ahead" in describe_other("house", 8, 52, 10, has_stopped=True, is_away=False)[0]


def test_a_player_that_is_back_is_not_called_away() -> None:
    assert describe_other("bob", 8, 52, 10, has_stopped=False, is_away=False)[0] == "bob 8 of 52 shown"
    assert describe_other("bob", 8, 52, 10, has_stopped=False, is_away=True) == ("bob is away",)
