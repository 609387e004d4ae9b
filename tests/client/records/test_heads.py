"""The heads of chains of rounds that clients were shown: kept, bounded, and held against each new one."""

from pathlib import Path

import pytest

from fairest_cli.records.heads import head_problem, keep_head, load_heads
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
    for shown in (head(7, 1), head(6), head(7, 2), head(7, 1, NOW_MS + 5)):
        keep_head(tmp_path, KEY.public, shown)
    assert [(each.number, each.chain[0]) for each in load_heads(tmp_path, KEY.public)] == [(6, 0), (7, 1), (7, 2)]


def test_the_file_is_bounded_and_keeps_the_first_and_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_cli.records.heads.MAX_HEADS", 20)
    for number in range(1, 101):
        keep_head(tmp_path, KEY.public, head(number))
    kept = [each.number for each in load_heads(tmp_path, KEY.public)]
    assert len(kept) <= 20
    assert (kept[0], kept[-5:]) == (1, [96, 97, 98, 99, 100])


def test_a_damaged_file_is_an_error_and_the_next_head_begins_it_anew(tmp_path: Path) -> None:
    (tmp_path / f"{KEY.public.hex()}.json").write_text("{")
    with pytest.raises(ValueError, match="JSON"):
        load_heads(tmp_path, KEY.public)
    keep_head(tmp_path, KEY.public, head(7))
    assert [each.number for each in load_heads(tmp_path, KEY.public)] == [7]


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    keep_head(tmp_path / "heads", KEY.public, head(7))
    assert [path.stat().st_mode & 0o777 for path in tmp_path.rglob("*.json")] == [0o600]
