"""Sentences about single entries of a room."""

from fairest_cli.text.narration import describe_closing


def test_a_room_that_the_operator_closed_is_described_with_the_reason() -> None:
    assert describe_closing("bad\x1b[2J names") == "The room was closed by the operator: bad?[2J names"


def test_a_room_that_closed_by_itself_is_described_without_a_reason() -> None:
    assert describe_closing(None) == "The room is closed."
