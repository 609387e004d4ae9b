"""The tutorial: each step asks for one key, that key is right, and no other move is made."""

import pytest

from fairest_cli.tui.board.card_input import press_key
from fairest_cli.tui.board.card_style import CardStyle
from fairest_cli.tui.board.tutorial import STEPS, Step, Tutorial, describe_step, start_tutorial
from fairest_cli.tui.settings import Keys

STYLE = CardStyle()
ANSWERS = {Step.PLACE: "2", Step.LAY: "b", Step.PLACE_AGAIN: "4", Step.TOP_UP: "B", Step.READ: "1"}


def walk() -> list[Tutorial]:
    """Return the tutorial at each of its steps."""
    tutorial = start_tutorial()
    steps = [tutorial]
    while tutorial.step is not Step.DONE:
        key = ANSWERS.get(tutorial.step)
        if key is None:
            tutorial = tutorial.next()
        else:
            result = press_key(Keys.LETTERS, key, None, tutorial.board)
            assert result is not None and result.move is not None
            assert tutorial.accepts(result.move)
            tutorial = tutorial.after(result.move)
        steps.append(tutorial)
    return steps


def test_the_answers_lead_through_all_steps() -> None:
    assert [tutorial.step for tutorial in walk()] == list(STEPS)


@pytest.mark.parametrize("keys", list(Keys))
def test_the_sentences_of_every_step_fit_the_smallest_terminal(keys: Keys) -> None:
    for tutorial in walk():
        assert all(len(sentence) <= 48 for sentence in describe_step(tutorial, keys, STYLE)), tutorial.step


def test_a_step_names_the_card_and_the_foundation() -> None:
    assert describe_step(start_tutorial(), Keys.LETTERS, STYLE) == (
        "Foundation 2 wants a 4 (►4): you turned one.",
        "Press 2.",
    )


def test_the_top_of_the_pile_is_asked_for_by_the_letter_under_which_it_lies() -> None:
    assert describe_step(walk()[3], Keys.LETTERS, STYLE)[1] == "Press Shift and b."
    assert describe_step(walk()[3], Keys.TYPED, STYLE)[1] == "Press b, then 4."


def test_each_step_accepts_only_moves_of_its_kind() -> None:
    for tutorial in walk():
        kinds = {(move.takes_turned, move.places) for move in tutorial.board.legal_moves() if tutorial.accepts(move)}
        assert len(kinds) <= 1


def test_no_hint_is_shown_for_a_card_that_the_step_does_not_ask_for() -> None:
    assert [tutorial.step for tutorial in walk() if not tutorial.shows_hints] == [Step.TOP_UP, Step.READ]


def test_the_last_step_is_followed_by_none() -> None:
    assert walk()[-1].next() == walk()[-1]
