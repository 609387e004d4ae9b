"""The rounds of receipts, for the audit: what a player was shown of each, from files that may be damaged."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.records.receipt_rounds import SeenRound, compare_end, read_receipts
from fairest_protocol.calculation.seal import make_seed, make_step_seed

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


def test_a_receipt_without_a_snapshot_has_the_times_of_our_own_clock_and_no_rules(tmp_path: Path) -> None:
    receipt(tmp_path, view(opened()))
    assert (only(tmp_path).seen_ms, only(tmp_path).rules) == (11_000, "")


def test_the_end_of_a_round_in_a_snapshot_is_kept_with_its_endings(tmp_path: Path) -> None:
    outcome = {"winner": 0, "scores": [{"ending": "won"}, {"ending": "round_over"}]}
    receipt(tmp_path, snapshot(round=ROUND, commitment=COMMITMENT, secret="66" * 32, outcome=outcome))
    seen = only(tmp_path)
    assert (seen.how, seen.secret, seen.endings) == ("finished", "66" * 32, ["won", "round_over"])


@pytest.mark.parametrize("missing", ["round", "commitment"])
def test_a_snapshot_without_a_round_and_its_commitment_shows_none(tmp_path: Path, missing: str) -> None:
    receipt(tmp_path, snapshot(**{"round": ROUND, "commitment": COMMITMENT, missing: None}))
    assert read_receipts(tmp_path, KEY) == []


OF_A_ROUND: list[dict[str, Any]] = [
    ready(0),
    {"type": "revealed", "seat": 0, "entropy": "44" * 32},
    {"type": "dealt", "step": 1},
    {"type": "round_voided", "secret": "66" * 32},
    {"type": "round_finished", "secret": "66" * 32, "outcome": {"scores": []}},
]


@pytest.mark.parametrize("entry", OF_A_ROUND, ids=lambda entry: entry["type"])
def test_an_entry_of_a_round_that_was_not_shown_does_not_hide_what_comes_after_it(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    receipt(tmp_path, snapshot(), view(entry, opened()))
    assert only(tmp_path) == SeenRound("one.jsonl", COMMITMENT, ROUND, "classic 4 0", 2_000)


def test_the_deal_of_a_room_that_is_not_certified_has_no_step_and_hides_nothing(tmp_path: Path) -> None:
    receipt(tmp_path, snapshot(), view(opened(), {"type": "dealt"}, ready(0), ready(1)))
    assert (only(tmp_path).is_bound, only(tmp_path).step) == (True, None)


def test_a_line_before_the_first_line_of_a_receipt_is_passed_over(tmp_path: Path) -> None:
    path = receipt(tmp_path, snapshot(), view(opened()))
    path.write_text(json.dumps({"at_ms": 1, "heard": view(opened())}) + "\n" + path.read_text())
    assert only(tmp_path).rules == "classic 4 0"


def test_the_newest_receipt_of_a_round_is_the_one_that_is_named(tmp_path: Path) -> None:
    for at, name in enumerate(["b.jsonl", "c.jsonl", "a.jsonl"]):
        os.utime(receipt(tmp_path, snapshot(), view(opened()), name=name), (at, at))
    assert only(tmp_path).file == "a.jsonl"


def test_the_newest_two_thousand_receipts_are_read(tmp_path: Path) -> None:
    os.utime(receipt(tmp_path, view(opened())), (1, 1))
    (tmp_path / "empty").touch()
    for number in range(2_000):
        (tmp_path / f"{number}.jsonl").hardlink_to(tmp_path / "empty")
    with_2_000_newer = read_receipts(tmp_path, KEY)
    (tmp_path / "7.jsonl").unlink()
    assert (with_2_000_newer, only(tmp_path).file) == ([], "one.jsonl")


@pytest.mark.parametrize(("size", "found"), [(2**25, 1), (2**25 + 1, 0)])
def test_a_receipt_of_up_to_32_mebibytes_is_read(tmp_path: Path, size: int, found: int) -> None:
    os.truncate(receipt(tmp_path, view(opened())), size)
    assert len(read_receipts(tmp_path, KEY)) == found


SEEN = {"commitment": COMMITMENT, "round_id": ROUND, "rules": "classic 4 0", "seen_ms": 2_000, "file": "one.jsonl"}
DECK = {"secret": "66" * 32, "entropies": ["44" * 32, "55" * 32]}
SEED = make_seed(bytes.fromhex("66" * 32), [bytes.fromhex("44" * 32), bytes.fromhex("55" * 32)], bytes.fromhex(ROUND))


def seen_with(**changes: Any) -> SeenRound:
    return SeenRound(**{**SEEN, **changes})


@pytest.mark.parametrize(
    ("changes", "seed"),
    [
        ({}, SEED.hex()),
        ({"step": 0}, make_step_seed(SEED, 0).hex()),
        ({"secret": None}, None),
        ({"entropies": [None, "55" * 32]}, None),
        ({"entropies": ["44" * 32, None]}, None),
        ({"entropies": ["44" * 32, "5"]}, None),
        ({"secret": "torn"}, None),
        ({"round_id": "torn"}, None),
    ],
)
def test_the_seed_of_a_round_is_known_with_its_secret_and_both_entropies(
    changes: dict[str, Any], seed: str | None
) -> None:
    assert seen_with(**{**DECK, **changes}).seed == seed


BOUND = {"ready": {0, 1}}
PROVED = {"how": "proved", "endings": ["won", "round_over"], "revealed": [True, True], "seed": SEED.hex()}
BROKEN_OFF = {"how": "broken_off", "endings": ["not_revealed"] * 2, "revealed": [False, False], "seed": None}
VOIDED = {"how": "voided", "endings": None, "revealed": [False, False], "seed": None}


ENDS: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({}, PROVED, []),
    ({}, BROKEN_OFF, []),
    ({}, VOIDED, []),
    ({**DECK, **BOUND}, PROVED, []),
    (DECK, {**PROVED, "seed": None}, []),
    (DECK, {**PROVED, "seed": "00" * 32}, ["has another deck there"]),
    ({**DECK, "secret": None}, {**PROVED, "seed": "00" * 32}, []),
    ({"entropies": ["44" * 32, None]}, BROKEN_OFF, ["lacks there the bytes that were shown for seat 1"]),
    ({"entropies": [None, "55" * 32]}, BROKEN_OFF, ["lacks there the bytes that were shown for seat 2"]),
    (BOUND, VOIDED, ["is called off there, although both players were bound to it"]),
    ({"ready": {0}}, VOIDED, []),
    ({"how": "voided"}, VOIDED, []),
    ({"how": "voided"}, BROKEN_OFF, ["was called off, and is there as broken off"]),
    ({"how": "voided"}, PROVED, ["was called off, and is there as proved"]),
    ({"endings": ["won", "round_over"]}, PROVED, []),
    (
        {"endings": ["round_over", "won"]},
        PROVED,
        ["ended as round_over and won, and there as won and round_over"],
    ),
    ({"endings": ["won", "stuck"]}, VOIDED, ["ended as won and stuck, and there as nothing"]),
]
"""The part of a round that was shown, its end in the chain, and the problems of that end."""


def test_the_end_of_a_round_in_the_chain_is_the_one_that_was_shown() -> None:
    wrong = [
        (end["how"], seen, found, problems)
        for seen, end, problems in ENDS
        if (found := list(compare_end(seen_with(**seen), end))) != problems
    ]
    assert wrong == []
