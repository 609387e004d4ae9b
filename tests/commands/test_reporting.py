"""Tables on a terminal and elsewhere, and the errors of Redis within a sentence."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from fairest_server.commands.reporting import fit_table, format_table, print_table, without_full_stop

ROWS = [
    ("room", "phase", "process", "players"),
    ("belligerent-controversial-mastodon", "racing", "1a2b3c4d, 5e6f7a8b", "ann, a-name-of-20-letters"),
    ("courageous-fervent-collie", "waiting", "-", "cat, -"),
]


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_without_blanks() -> None:
    assert format_table([("a", "b"), ("ccc", "d")]) == ["a    b", "ccc  d"]


def test_a_table_that_fits_has_a_line_for_each_row() -> None:
    width = max(map(len, format_table(ROWS)))
    assert fit_table(ROWS, width, head=2) == format_table(ROWS)


def test_a_table_that_does_not_fit_has_two_lines_for_each_row() -> None:
    assert fit_table(ROWS, 80, head=2) == [
        "room                                phase",
        "  process             players",
        "belligerent-controversial-mastodon  racing",
        "  1a2b3c4d, 5e6f7a8b  ann, a-name-of-20-letters",
        "courageous-fervent-collie           waiting",
        "  -                   cat, -",
    ]


def test_a_file_gets_one_line_for_each_row_whatever_its_length(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(ROWS, head=2)
    assert capsys.readouterr().out.splitlines() == format_table(ROWS)


def test_the_full_stop_of_an_error_does_not_end_the_sentence_around_it() -> None:
    assert without_full_stop(RedisConnectionError("Connect call failed.")) == "Connect call failed"
