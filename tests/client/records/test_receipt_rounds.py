"""The rounds of receipts, for the audit: what a player was shown of each, from files that may be damaged."""

import json
from pathlib import Path
from typing import Any

from fairest_cli.records.receipt_rounds import SeenRound, read_receipts

KEY = bytes(32)
ROUND, COMMITMENT = "11" * 16, "22" * 32
OPTIONS = {"rules": "classic", "piles": 4, "redeals": 0}
FREE = {"entropy_hash": None, "entropy": None}


def snapshot(**changes: Any) -> dict[str, Any]:
    scene = {"options": OPTIONS, "round": None, "commitment": None, "seats": [FREE, FREE], "outcome": None}
    return {"type": "snapshot", "room": "quiet-amber-otter", "now_ms": 1_000, "scene": scene | changes}


def view(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"type": "view", "entries": entries}


def opened() -> dict[str, Any]:
    return {"type": "round_opened", "round": ROUND, "commitment": COMMITMENT}


def ready(seat: int) -> dict[str, Any]:
    return {"type": "player_ready", "seat": seat}


def receipt(folder: Path, *messages: dict[str, Any], key: bytes = KEY, name: str = "one.jsonl") -> Path:
    """Write a receipt whose messages came a second apart, from 11 s on our own clock."""
    lines: list[dict[str, Any]] = [{"type": "receipt", "server": "ws://example.org", "key": key.hex()}]
    lines += [{"at_ms": 11_000 + 1_000 * number, "heard": message} for number, message in enumerate(messages)]
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def only(folder: Path) -> SeenRound:
    (seen,) = read_receipts(folder, KEY)
    return seen


def test_a_round_is_known_by_its_commitment_with_its_rules_and_the_servers_time(tmp_path: Path) -> None:
    receipt(tmp_path, snapshot(), view(opened()))
    seen = only(tmp_path)
    assert (seen.commitment, seen.round_id, seen.rules, seen.seen_ms) == (COMMITMENT, ROUND, "classic 4 0", 2_000)


def test_a_round_in_a_snapshot_is_known_too(tmp_path: Path) -> None:
    seats = [{"entropy_hash": "33" * 32, "entropy": "44" * 32}, {"entropy_hash": "55" * 32, "entropy": None}]
    receipt(tmp_path, snapshot(round=ROUND, commitment=COMMITMENT, seats=seats))
    seen = only(tmp_path)
    assert (seen.is_bound, seen.entropies, seen.how) == (True, ["44" * 32, None], "")


def test_a_round_is_bound_when_both_were_shown_as_ready(tmp_path: Path) -> None:
    receipt(tmp_path, snapshot(), view(opened(), ready(0)))
    assert not only(tmp_path).is_bound
    receipt(tmp_path, snapshot(), view(opened(), ready(0)), view(ready(1)))
    assert only(tmp_path).is_bound


def test_the_end_of_a_round_is_kept_with_its_endings(tmp_path: Path) -> None:
    outcome = {"winner": 0, "scores": [{"ending": "won"}, {"ending": "round_over"}]}
    finished = {"type": "round_finished", "secret": "66" * 32, "outcome": outcome}
    receipt(tmp_path, snapshot(), view(opened(), finished))
    seen = only(tmp_path)
    assert (seen.how, seen.secret, seen.endings) == ("finished", "66" * 32, ["won", "round_over"])


def test_a_round_that_was_called_off_is_kept_as_that(tmp_path: Path) -> None:
    receipt(tmp_path, snapshot(), view(opened()), view({"type": "round_voided", "round": ROUND, "secret": "66" * 32}))
    assert only(tmp_path).how == "voided"


def test_both_players_of_this_machine_have_the_same_round(tmp_path: Path) -> None:
    receipt(tmp_path, snapshot(), view(opened(), ready(0)), name="one.jsonl")
    receipt(tmp_path, snapshot(), view(opened(), ready(1)), name="two.jsonl")
    assert only(tmp_path).is_bound


def test_sessions_with_another_server_do_not_count(tmp_path: Path) -> None:
    receipt(tmp_path, snapshot(), view(opened()), key=bytes([1]) * 32)
    assert read_receipts(tmp_path, KEY) == []


def test_a_missing_folder_has_no_rounds(tmp_path: Path) -> None:
    assert read_receipts(tmp_path / "none", KEY) == []


def test_lines_that_are_damaged_are_passed_over(tmp_path: Path) -> None:
    path = receipt(tmp_path, snapshot(), view(opened()))
    lines = path.read_bytes().splitlines(keepends=True)
    junk = [
        b"\xff\n",
        b"[]\n",
        b'{"heard":{"type":"view"},"at_ms":1}\n',
        b'{"heard":7,"at_ms":1}\n',
        b"[" * 9999 + b"\n",
    ]
    path.write_bytes(b"".join([*lines[:2], *junk, *lines[2:], lines[2][:30]]))
    assert only(tmp_path).commitment == COMMITMENT


def test_the_step_of_a_certified_round_is_kept_from_its_deal_or_from_a_snapshot(tmp_path: Path) -> None:
    options = {**OPTIONS, "certified": 1}
    receipt(tmp_path, snapshot(options=options), view(opened(), {"type": "dealt", "step": 2}))
    assert (only(tmp_path).step, only(tmp_path).rules) == (2, "classic-certified 4 0")
    receipt(tmp_path, snapshot(options=options, round=ROUND, commitment=COMMITMENT, step=3))
    assert only(tmp_path).step == 3
