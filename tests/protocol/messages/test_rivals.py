"""The names of programs, and the wish for a rival."""

import pytest

from fairest_protocol.messages.rivals import RivalWish, is_bot_name


@pytest.mark.parametrize(
    ("name", "is_bot"),
    [(None, False), ("", False), ("ann", False), ("bot-ann", True), ("BOT-ann", True), ("ro-bot-1", False)],
)
def test_the_name_of_a_program_begins_with_bot(name: str | None, is_bot: bool) -> None:
    assert is_bot_name(name) == is_bot


def test_a_wish_for_a_rival_is_for_any_level() -> None:
    assert RivalWish(30).level is None
