"""The record of a match with credit: every verifier computes the ledger again, and refuses a forged one."""

import json
from collections.abc import Callable
from functools import cache

import pytest

from fairest_cli.records.record_check import WrongRecord, verify_record
from tests.docs.test_examples import verdicts
from tests.support import second_verifier
from tests.support.forging import Line, lines_of, sign_rounds, sound_records, write
from tests.support.page_modules import ask_page
from tests.support.races_apart import certified_and_credited, credited_tables
from tests.support.records import signed_record


@cache
def sound() -> list[list[Line]]:
    """Return records of matches with credit, the last of a certified deal, made once for all tests."""
    return [lines_of(signed_record(table)) for table in (*credited_tables(), certified_and_credited())]


def find(lines: list[Line], kind: str, **fields: object) -> Line:
    return next(
        line for line in lines if line["type"] == kind and all(line[name] == value for name, value in fields.items())
    )


def _another_winner(lines: list[Line]) -> None:
    result = find(lines, "result")
    result["winner"] = 0 if result["winner"] == 1 else 1


def _another_arrival(lines: list[Line]) -> None:
    rows = find(lines, "result")["ledger"]
    row = next(row for row in rows if row["arrival_ms"] is not None)
    row["arrival_ms"] -= 1
    row["corrected_ms"] -= 1


def _more_credit(lines: list[Line]) -> None:
    row = find(lines, "result")["ledger"][0]
    row["credit_ms"] += 1


def _a_round_trip_below_zero(lines: list[Line]) -> None:
    find(lines, "result")["ledger"][0]["rtt_us"] = -1


def _no_ledger(lines: list[Line]) -> None:
    del find(lines, "result")["ledger"]


def _one_row(lines: list[Line]) -> None:
    find(lines, "result")["ledger"].pop()


def _terms_without_credit(lines: list[Line]) -> None:
    lines[0]["terms"] = lines[0]["terms"].replace(" credit=1", "")
    lines[0]["format"] = 4 if "certified" in lines[0]["terms"] else 3


def _another_format(lines: list[Line]) -> None:
    lines[0]["format"] = 3


def _another_procedure(lines: list[Line]) -> None:
    lines[0]["terms"] = lines[0]["terms"].replace("credit=1", "credit=2")


FORGERIES = (
    _another_winner,
    _another_arrival,
    _more_credit,
    _a_round_trip_below_zero,
    _no_ledger,
    _one_row,
    _terms_without_credit,
    _another_format,
    _another_procedure,
)


def stopped_too_soon() -> list[Line]:
    """Return the record of a server that stopped the seat behind as soon as the other one had placed every card."""
    lines: list[Line] = json.loads(json.dumps(sound()[4]))
    stop = find(lines, "stop", ending="round_over")
    stop["at_ms"] = max(line["at_ms"] for line in lines if line["type"] == "move")
    return lines


def stopped_without_a_winner() -> list[Line]:
    """Return the record of a server that ended a round as if a seat had won."""
    lines: list[Line] = json.loads(json.dumps(sound()[4]))
    wins = max(place for place, line in enumerate(lines) if line["type"] == "move")
    del lines[wins]
    return lines


def credited_elsewhere() -> list[Line]:
    """Return the record of a match without credit that has a ledger."""
    lines: list[Line] = json.loads(json.dumps(sound_records()[0]))
    find(lines, "result")["ledger"] = sound()[0][-2]["ledger"]
    return lines


def forged(forge: Callable[[list[Line]], None]) -> list[str]:
    """Return each sound record with this forgery, signed again."""
    texts = []
    for record in sound():
        lines: list[Line] = json.loads(json.dumps(record))
        forge(lines)
        sign_rounds(lines)
        texts.append(write(lines))
    return texts


def our_fault(text: str) -> str:
    try:
        list(verify_record(text)[1])
    except WrongRecord as reason:
        return str(reason)
    return ""


def second_fault(text: str) -> str:
    try:
        second_verifier.verify(text.encode())
    except second_verifier.Refused as reason:
        return str(reason)
    return ""


def test_every_verifier_accepts_what_a_server_writes(tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = [write(lines) for lines in sound()]
    page = [verdict["fault"] for verdict in ask_page({"ask": "verify", "text": text, "key": None} for text in texts)]
    faults = [[our_fault(text), second_fault(text)] for text in texts]
    example = verdicts(tmp_path_factory.mktemp("records"), texts)
    assert (faults, page, example) == ([["", ""]] * len(texts), [None] * len(texts), [""] * len(texts))


@pytest.mark.long
@pytest.mark.parametrize("forge", FORGERIES)
def test_every_verifier_refuses_a_forged_ledger(
    forge: Callable[[list[Line]], None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = forged(forge)
    page = [verdict["fault"] for verdict in ask_page({"ask": "verify", "text": text, "key": None} for text in texts)]
    example = verdicts(tmp_path_factory.mktemp("records"), texts)
    assert all([*map(our_fault, texts), *map(second_fault, texts), *page, *example])


@pytest.mark.long
@pytest.mark.parametrize("make", [stopped_too_soon, stopped_without_a_winner, credited_elsewhere])
def test_every_verifier_refuses_a_round_that_was_ended_wrongly(
    make: Callable[[], list[Line]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = write(make())
    [page] = ask_page([{"ask": "verify", "text": text, "key": None}])
    example = verdicts(tmp_path_factory.mktemp("records"), [text])
    assert all([our_fault(text), second_fault(text), page["fault"], *example])
