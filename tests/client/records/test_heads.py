"""The heads of chains of rounds that clients were shown: kept, bounded, and held against each new one."""

import json
from itertools import product
from pathlib import Path

import pytest

from fairest_cli.records.heads import head_problem, heads_folder, keep_head, load_heads
from fairest_protocol.messages.rounds import RoundsHead
from fairest_server.live.signing import SigningKey
from tests.support.lying_chain import KEY

NOW_MS = 1_900_000_000_000


def head(number: int, letter: int = 0, at_ms: int = NOW_MS) -> RoundsHead:
    return KEY.sign_head(number, bytes([letter]) * 32, at_ms)


def problem(shown: RoundsHead, *known: RoundsHead, now_ms: int = NOW_MS) -> str:
    return head_problem(shown, KEY.public, now_ms, known)


def test_a_head_that_goes_on_is_no_problem() -> None:
    assert problem(head(7), head(5), head(6)) == ""


def test_the_same_head_again_is_no_problem() -> None:
    assert problem(head(7, at_ms=NOW_MS), head(7, at_ms=NOW_MS - 1000)) == ""


def test_another_hash_under_the_same_number_is_a_second_chain() -> None:
    assert "has shown two chains of rounds, both signed: their entries 7 differ" in problem(head(7, 1), head(7, 2))


def test_a_lower_number_at_a_later_time_is_a_chain_that_went_back() -> None:
    went_back = problem(head(5), head(7, at_ms=NOW_MS - 60_000))
    assert "went back, from entry 7 to 5. Unless its Redis has lost data" in went_back


def test_a_lower_number_of_an_earlier_moment_is_that_of_another_process() -> None:
    assert problem(head(5, at_ms=NOW_MS - 1000), head(7)) == ""


def test_a_head_that_its_key_has_not_signed_is_not_one() -> None:
    forged = SigningKey(bytes([9]) * 32).sign_head(7, bytes(32), NOW_MS)
    assert "is not signed with its key" in problem(forged)


def test_a_head_of_some_minutes_ago_hides_what_came_after() -> None:
    assert "is 300 seconds old" in problem(head(7, at_ms=NOW_MS - 300_000))


def test_a_head_of_the_future_would_hide_a_chain_that_goes_back() -> None:
    assert "was signed 3600 seconds in the future" in problem(head(7, at_ms=NOW_MS + 3_600_000))


def test_heads_are_kept_for_each_key(tmp_path: Path) -> None:
    keep_head(tmp_path, KEY.public, head(7))
    keep_head(tmp_path, KEY.public, head(5))
    assert [each.number for each in load_heads(tmp_path, KEY.public)] == [5, 7]
    assert load_heads(tmp_path, SigningKey(bytes([9]) * 32).public) == ()


def test_an_older_head_does_not_replace_a_newer_one_nor_a_fork_the_first(tmp_path: Path) -> None:
    for shown in (head(7, 1), head(6), head(7, 2), head(7, 1, NOW_MS - 5)):
        keep_head(tmp_path, KEY.public, shown)
    assert [(each.number, each.chain[0]) for each in load_heads(tmp_path, KEY.public)] == [(6, 0), (7, 1), (7, 2)]


def test_of_heads_at_which_the_chain_stood_still_the_first_and_the_last_are_kept(tmp_path: Path) -> None:
    for later_ms in (0, 10, 10, 30, 20):
        keep_head(tmp_path, KEY.public, head(7, at_ms=NOW_MS + later_ms))
    assert [each.at_ms - NOW_MS for each in load_heads(tmp_path, KEY.public)] == [0, 30]


def test_a_damaged_file_is_an_error_and_the_next_head_begins_it_anew(tmp_path: Path) -> None:
    (tmp_path / f"{KEY.public.hex()}.json").write_text("{")
    with pytest.raises(ValueError, match="JSON"):
        load_heads(tmp_path, KEY.public)
    keep_head(tmp_path, KEY.public, head(7))
    assert [each.number for each in load_heads(tmp_path, KEY.public)] == [7]


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    keep_head(tmp_path / "heads", KEY.public, head(7))
    assert [path.stat().st_mode & 0o777 for path in tmp_path.rglob("*.json")] == [0o600]


def test_heads_are_kept_with_the_data_of_the_user(home: Path) -> None:
    assert heads_folder() == home / "data" / "fairest" / "heads"


EARLIER, LATER = -5_001, 5_001
"""Longer than the clocks of two nodes may differ."""


def contradiction(number: int, is_same: bool, later_ms: int) -> str:
    """Return what contradicts in two heads, of which the second has number 7."""
    shown, known = head(number, 1, NOW_MS + later_ms), head(7, 1 if is_same else 2)
    found = problem(shown, known, now_ms=NOW_MS + 10_000)
    return next((words for words in ("two chains", "went back") if words in found), found)


def test_two_heads_contradict_each_other_at_the_same_number_or_where_the_later_has_a_lower_one() -> None:
    times = [EARLIER, -5_000, 0, 5_000, LATER]
    found = {case: contradiction(*case) for case in product((6, 7, 8), (True, False), times)}
    assert {case: words for case, words in found.items() if words} == {
        **{(7, False, later_ms): "two chains" for later_ms in times},
        **{(6, is_same, LATER): "went back" for is_same in (True, False)},
    }


def test_a_head_is_held_against_each_that_is_known() -> None:
    assert "two chains" in problem(head(7, 1), head(3), head(7, 2), head(9))


@pytest.mark.parametrize(
    ("at_ms", "seconds"), [(5_000, None), (5_001, 5), (61_000, 61), (60_999, 60), (3_600_000, 3600)]
)
def test_a_head_may_be_five_seconds_ahead(at_ms: int, seconds: int | None) -> None:
    sentence = f"Beware: the head of this server's chain of rounds was signed {seconds} seconds in the future."
    assert problem(head(7, at_ms=NOW_MS + at_ms)) == ("" if seconds is None else sentence)


@pytest.mark.parametrize(("age_ms", "seconds"), [(120_000, None), (120_001, 120), (121_000, 121), (3_600_000, 3600)])
def test_a_head_may_be_two_minutes_old(age_ms: int, seconds: int | None) -> None:
    sentence = f"Beware: the head of this server's chain of rounds is {seconds} seconds old."
    assert problem(head(7, at_ms=NOW_MS - age_ms)) == ("" if seconds is None else sentence)


@pytest.mark.parametrize(("count", "kept"), [(499, 500), (500, 376)])
def test_of_more_than_500_heads_every_second_of_the_older_half_is_dropped(
    tmp_path: Path, count: int, kept: int
) -> None:
    fields = head(1).model_dump(mode="json")
    path = tmp_path / f"{KEY.public.hex()}.json"
    path.write_text(json.dumps([{**fields, "number": number} for number in range(1, count + 1)]))
    keep_head(tmp_path, KEY.public, head(1_000))
    numbers = [each.number for each in load_heads(tmp_path, KEY.public)]
    assert (len(numbers), numbers[:2], numbers[-2:]) == (kept, [1, 2 if kept == 500 else 3], [count, 1_000])


def test_heads_of_one_number_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    for letter, at_ms in ((1, NOW_MS + 9), (2, NOW_MS)):
        keep_head(tmp_path, KEY.public, head(7, letter, at_ms))
    assert [each.chain[0] for each in load_heads(tmp_path, KEY.public)] == [2, 1]
