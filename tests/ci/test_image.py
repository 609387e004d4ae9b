"""`.ci/image.py` reads a Dockerfile and a .dockerignore as a container engine does, as far as ours use them."""

import pytest

from image import Instruction, is_in_context, parse_dockerfile


def test_lines_are_joined_and_comments_left_out() -> None:
    (stage,) = parse_dockerfile("# a comment\nFROM base\nRUN one \\\n    && two\n")
    assert stage == [Instruction("FROM", "base"), Instruction("RUN", "one && two")]


def test_each_from_begins_a_stage() -> None:
    assert len(parse_dockerfile("FROM a AS one\nFROM b\n")) == 2


def test_values_are_words_or_a_list_without_options() -> None:
    assert Instruction("COPY", "--from=build /a /b").values == ["/a", "/b"]
    assert Instruction("ENTRYPOINT", '["a", "b c"]').values == ["a", "b c"]


def test_an_option_is_found_by_its_name() -> None:
    assert Instruction("COPY", "--from=build /a /b").option("from") == "build"


@pytest.mark.parametrize(
    ("path", "sent"),
    [("kept", True), ("kept/file", True), ("other", False), ("other/kept", False), ("kept/cache/file", False)],
)
def test_the_last_line_that_fits_decides(path: str, sent: bool) -> None:
    assert is_in_context(path, "# a comment\n*\n!kept\n**/cache\n") is sent
