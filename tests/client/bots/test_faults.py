"""The line about an exception that nothing expected."""

import pytest

from fairest_cli.bots.faults import describe_fault


def test_a_fault_is_described_with_its_reason_and_its_place() -> None:
    with pytest.raises(ValueError, match="no number") as raised:
        raise ValueError("no number")
    assert describe_fault(raised.value) == "ValueError('no number') at test_faults.py:10"


def test_a_fault_that_was_never_raised_has_no_place() -> None:
    assert describe_fault(ValueError("no number")) == "ValueError('no number')"


def test_a_fault_stays_in_one_line() -> None:
    assert "\n" not in describe_fault(ValueError("one\ntwo"))
