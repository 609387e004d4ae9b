"""Two verifiers, written apart, accept and refuse the same records: thousands that were forged, and signed again."""

import ast
import random
import sys
from functools import cache
from pathlib import Path

import pytest

from fairest_cli.records.record_check import WrongRecord, verify_record
from tests.support import derivation, second_verifier
from tests.support.forging import Line, forge, sound_records, write

FORGED = 500


@cache
def sound() -> list[list[Line]]:
    """Return records of every kind of match, made once for all tests."""
    return sound_records()


def first_verdict(text: str) -> str:
    """Return the fault that `fairest verify` finds, empty if it finds none."""
    try:
        _, checks = verify_record(text)
        list(checks)
    except WrongRecord as reason:
        return str(reason)
    return ""


def second_verdict(text: str) -> str:
    """Return the fault that the verifier in tests/support finds, empty if it finds none."""
    try:
        second_verifier.verify(text.encode())
    except second_verifier.Refused as reason:
        return str(reason)
    return ""


def test_both_accept_every_kind_of_match_that_a_server_runs() -> None:
    texts = [write(record) for record in sound()]
    verdicts = [(first_verdict(text), second_verdict(text)) for text in texts]
    assert verdicts == [("", "")] * 23


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_both_agree_on_every_forged_record(seed: int) -> None:
    chance, accepted = random.Random(seed), 0
    for number in range(FORGED):
        text = forge(chance.choice(sound()), chance.choice(sound()), chance)
        first, second = first_verdict(text), second_verdict(text)
        assert bool(first) == bool(second), f"forgery {number}: {first or 'right'} / {second or 'right'}\n{text[:3000]}"
        accepted += not first
    assert FORGED / 20 < accepted < FORGED / 2


def test_the_second_verifier_shares_no_code_with_ours() -> None:
    for module in (second_verifier, derivation):
        tree = ast.parse(Path(module.__file__ or "").read_text())
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        parts = {name.partition(".")[0] for name in imported}
        assert parts <= {*sys.stdlib_module_names, "cryptography", "tests"}
