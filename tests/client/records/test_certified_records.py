"""The record of a certified match: `fairest verify` repeats the steps, and a verifier without the solver says so."""

from collections.abc import Callable
from typing import Any

import pytest

from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_protocol.calculation.certified import find_step
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.record_parser import read_record
from tests.support import second_verifier
from tests.support.forging import Line, certified_record, settle, sign_rounds, sound_records, write

SOUND = certified_record()


def rounds_of(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line["type"] == "round"]


def verdict(lines: list[Line]) -> str:
    """Return the fault that `fairest verify` finds, empty if it finds none."""
    try:
        _, checks = verify_record(write(lines))
        list(checks)
    except WrongRecord as reason:
        return str(reason)
    return ""


def second_verdict(lines: list[Line]) -> str:
    try:
        second_verifier.verify(write(lines).encode())
    except second_verifier.Refused as reason:
        return str(reason)
    return ""


def test_both_verifiers_accept_the_record_of_a_certified_match() -> None:
    assert (verdict(SOUND), second_verdict(SOUND)) == ("", "")


def test_it_says_which_step_of_each_round_was_the_first() -> None:
    record, checks = verify_record(write(SOUND))
    said = [check.rpartition(" ")[2] for check in checks if "proved winnable" in check]
    assert said == [f"{find_step(record.rules, each.round_seed).step + 1}." for each in record.rounds]


def _without_step(lines: list[Line]) -> None:
    del rounds_of(lines)[0]["step"]


def _other_step(lines: list[Line]) -> None:
    rounds_of(lines)[0]["step"] = 7


def _step_too_high(lines: list[Line]) -> None:
    rounds_of(lines)[0]["step"] = 16


def _old_format(lines: list[Line]) -> None:
    lines[0]["format"] = 3


def _too_few_piles(lines: list[Line]) -> None:
    lines[0]["terms"] = lines[0]["terms"].replace("piles=4", "piles=3")
    sign_rounds(lines)


def _other_procedure(lines: list[Line]) -> None:
    lines[0]["terms"] = lines[0]["terms"].replace("certified=1", "certified=2")
    sign_rounds(lines)


@pytest.mark.parametrize(
    "forge", [_without_step, _other_step, _step_too_high, _old_format, _too_few_piles, _other_procedure]
)
def test_both_verifiers_refuse_a_forged_one(forge: Callable[[list[Line]], None]) -> None:
    lines = [dict(line) for line in SOUND]
    forge(lines)
    assert verdict(lines)
    assert second_verdict(lines)


def test_both_verifiers_refuse_a_step_in_a_room_that_is_not_certified() -> None:
    lines = [dict(line) for line in sound_records()[0]]
    rounds_of(lines)[0]["step"] = 0
    assert verdict(lines)
    assert second_verdict(lines)


def test_both_verifiers_refuse_the_new_format_for_a_room_that_is_not_certified() -> None:
    lines = [dict(line) for line in sound_records()[0]]
    lines[0]["format"] = 4
    assert verdict(lines)
    assert second_verdict(lines)


def _dealt_later() -> list[Line]:
    """A record of a server that dealt step 2 of its round, where step 1 is proved, and that is right otherwise."""
    lines = [dict(line) for line in SOUND]
    first = lines.index(rounds_of(lines)[0])
    result = next(line for line in lines[first:] if line["type"] == "result")
    kept: list[Any] = [lines[0], lines[first] | {"step": 1}]
    kept += [{"type": "move", "at_ms": 1, "seat": seat, "move": "stop"} for seat in (0, 1)]
    kept += [dict(result), lines[-1]]
    kept[0]["terms"] = kept[0]["terms"].replace("best_of=3", "best_of=1")
    sign_rounds(kept)
    settle(kept)
    return kept


def test_only_a_verifier_with_the_solver_notices_that_a_later_step_was_dealt() -> None:
    lines = _dealt_later()
    assert verdict(lines) == "Round 1: The server dealt step 2 of the certified round, where step 1 is to be dealt."
    assert second_verdict(lines) == ""


def test_a_replay_needs_no_solver() -> None:
    assert read_record(write(_dealt_later()).splitlines()).rounds[0].step == 1


def test_a_replay_refuses_a_round_without_its_step() -> None:
    lines = [dict(line) for line in SOUND]
    _without_step(lines)
    with pytest.raises(BadRecord, match="a round has a step if it was dealt in a certified room"):
        read_record(write(lines).splitlines())
