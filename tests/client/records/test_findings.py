"""The findings of an audit: bounded, and of nothing at first."""

from collections import Counter

import pytest

from fairest_cli.records.findings import Findings


def test_an_audit_that_has_read_nothing_has_found_nothing() -> None:
    assert Findings() == Findings(
        entries=0,
        first=1,
        opened=0,
        ends=Counter(),
        reasons=Counter(),
        decks={},
        certified=0,
        dailies=0,
        dailies_called_off=0,
        losses=[],
        own_rounds=0,
        own_heads=0,
        alarms=[],
        notes=[],
    )


def test_a_hundred_alarms_and_a_hundred_notes_are_kept() -> None:
    findings = Findings()
    for number in range(101):
        findings.alarm(f"alarm {number}")
        findings.note(f"note {number}")
    assert (len(findings.alarms), len(findings.notes)) == (100, 100)
    assert (findings.alarms[-1], findings.notes[-1]) == ("alarm 99", "note 99")


@pytest.mark.parametrize(
    ("ends", "decided", "share"),
    [
        ({}, 0, 1.0),
        ({"voided": 9, "open": 9}, 0, 1.0),
        ({"proved": 3, "broken_off": 1}, 4, 0.75),
        ({"proved": 3, "never_ended": 2, "broken_off": 1, "voided": 9, "open": 9}, 6, 0.5),
    ],
)
def test_the_proved_share_is_that_of_the_rounds_that_were_decided(
    ends: dict[str, int], decided: int, share: float
) -> None:
    findings = Findings(ends=Counter(ends))
    assert (findings.decided, findings.proved_share) == (decided, share)
