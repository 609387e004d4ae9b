"""The record of a certified match: `fairest verify` repeats the steps, and a verifier without the solver says so."""

import pytest

from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_protocol.calculation.certified import find_step
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.record_parser import read_record
from tests.support import second_verifier
from tests.support.certified_records import (
    certified_record,
    dealt_later,
    forged_records,
    names_of_forgeries,
    without_step,
)
from tests.support.forging import write


def verdict(text: str) -> str:
    """Return the fault that `fairest verify` finds, empty if it finds none."""
    try:
        _, checks = verify_record(text)
        list(checks)
    except WrongRecord as reason:
        return str(reason)
    return ""


def second_verdict(text: str) -> str:
    """Return the fault that the verifier without our solver finds, empty if it finds none."""
    try:
        second_verifier.verify(text.encode())
    except second_verifier.Refused as reason:
        return str(reason)
    return ""


def test_both_verifiers_accept_the_record_of_a_certified_match() -> None:
    text = write(certified_record())
    assert (verdict(text), second_verdict(text)) == ("", "")


def test_it_says_which_step_of_each_round_was_the_first() -> None:
    record, checks = verify_record(write(certified_record()))
    said = [check.partition("at step ")[2].split()[0] for check in checks if "proved winnable" in check]
    assert [number.strip(".") for number in said] == [
        str(find_step(record.rules, each.round_seed).step + 1) for each in record.rounds
    ]


@pytest.mark.parametrize("forgery", names_of_forgeries())
def test_both_verifiers_refuse_a_forged_one(forgery: str) -> None:
    text = forged_records()[forgery]
    assert verdict(text)
    assert second_verdict(text)


def test_only_a_verifier_with_the_solver_notices_that_a_later_step_was_dealt() -> None:
    text = write(dealt_later())
    assert verdict(text) == "Round 1: The server dealt step 2 of the certified round, where step 1 is to be dealt."
    assert second_verdict(text) == ""


def test_a_replay_needs_no_solver() -> None:
    assert read_record(write(dealt_later()).splitlines()).rounds[0].step == 1


def test_a_replay_refuses_a_round_without_its_step() -> None:
    lines = certified_record()
    without_step(lines)
    with pytest.raises(BadRecord, match="a round has a step if it was dealt in a certified room"):
        read_record(write(lines).splitlines())
