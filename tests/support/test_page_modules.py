"""The process of Node that answers for the page, when it fails."""

import pytest

from tests.support.page_modules import ask_page


def test_a_question_that_cannot_be_answered_is_told_in_the_words_of_node() -> None:
    with pytest.raises(AssertionError, match=r"ANSWERS\[ask\] is not a function"):
        ask_page([{"ask": "nothing"}])


def test_after_a_failure_the_next_question_is_answered() -> None:
    with pytest.raises(AssertionError):
        ask_page([{"ask": "nothing"}])
    assert ask_page([{"ask": "sha256", "message": ""}])[0].startswith("e3b0c442")
