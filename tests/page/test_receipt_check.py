"""The page says of a receipt, and of a record beside it, what `fairest verify --receipt` says."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from fairest_cli.records.receipt_replay import BadReceipt, judge_receipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.options import RoomOptions
from tests.client.records.test_record_against_receipt import play_rounds, receipt_of
from tests.support.page_modules import ask_page
from tests.support.races import Table, choose_any
from tests.support.records import signed_record

CHANGED = 60
CARDS = [rank + suit for rank in "A23456789TJQK" for suit in "CDHS"]


def a_race(seed: int, rules: str) -> Table:
    """Return a race that ends by its clock or by its moves."""
    table = Table(seed, RoomOptions(rules=rules))
    table.start()
    table.race(choose_any, most=30)
    while not table.state.match_is_over:
        table.let_time_pass()
    return table


def a_match(seed: int) -> Table:
    table = Table(seed, RoomOptions(best_of=5))
    table.seat_both()
    play_rounds(table, 3)
    return table


TABLES = [a_race(3, "classic"), a_race(4, "redeal"), a_match(5), a_match(6)]
RECORDS = [signed_record(table) for table in TABLES]


def text_of(record: Record) -> str:
    return "".join(f"{line}\n" for line in record.lines())


def question(record: Record | None, lines: list[str]) -> dict[str, Any]:
    return {"ask": "prove", "text": None if record is None else text_of(record), "lines": lines}


def ours(record: Record | None, lines: list[str]) -> list[str] | None:
    """Return the sentences of `fairest`, None if it refuses the receipt or the record."""
    try:
        return list(judge_receipt(lines) if record is None else compare_receipt(record, lines))
    except (WrongRecord, BadReceipt):
        return None


def compare(cases: list[tuple[Record | None, list[str]]]) -> int:
    """Assert that page and `fairest` say the same of each case; return how many were refused."""
    refused = 0
    for case, answer in zip(cases, ask_page(question(*case) for case in cases), strict=True):
        sentences = ours(*case)
        assert (answer["sentences"] if answer["fault"] is None else None) == sentences, answer["fault"]
        refused += sentences is None
    return refused


def honest_receipts() -> list[tuple[Record, list[str]]]:
    """Return the receipts of both seats beside the records of their matches."""
    pairs = zip(TABLES, RECORDS, strict=True)
    return [(record, receipt_of(table.steps, seat)) for table, record in pairs for seat in (0, 1)]


def broken_receipts() -> list[tuple[Record, list[str]]]:
    """Return receipts of clients that were away for a part of the match, and were started again."""
    pairs = zip(TABLES, RECORDS, strict=True)
    return [
        (record, receipt_of(table.steps, 0, range(len(table.steps) * part // 6, len(table.steps) * (part + 1) // 6)))
        for table, record in pairs
        for part in (2, 3, 4)
    ]


def test_the_page_confirms_of_an_honest_receipt_what_fairest_confirms() -> None:
    assert compare([*honest_receipts()]) == 0


@pytest.mark.long
def test_the_page_confirms_of_a_receipt_with_a_gap_what_fairest_confirms() -> None:
    assert compare([*broken_receipts()]) < len(broken_receipts()), "some confirm the record in spite of the gap"


@pytest.mark.long
def test_the_page_says_without_a_record_how_the_rounds_of_a_receipt_ended() -> None:
    cut = [(None, lines[: len(lines) * part // 5]) for _, lines in honest_receipts() for part in range(2, 6)]
    compare([*cut])


def test_the_page_refuses_a_record_of_another_match() -> None:
    receipts = [lines for _, lines in honest_receipts()][:6]
    assert compare([(RECORDS[-1], lines) for lines in receipts]) == len(receipts)


def test_lines_that_are_no_receipt_are_refused() -> None:
    lines = honest_receipts()[0][1]
    wrong = [["hello"], ["{}"], ["null"], ['{"type":"receipt"'], [*lines, "[]"], [*lines, '{"at_ms":"x","said":{}}']]
    assert compare([(RECORDS[0], each) for each in wrong]) == len(wrong)


def _another_card(entry: dict[str, Any], chance: random.Random) -> None:
    if "card" in entry:
        entry["card"] = chance.choice(CARDS)


def _another_move(entry: dict[str, Any], chance: random.Random) -> None:
    if "move" in entry:
        entry["move"] = chance.choice(["sa", "sb", "s1", "a1", "stop"])


def _another_hash(entry: dict[str, Any], chance: random.Random) -> None:
    names = [name for name in ("entropy", "entropy_hash", "commitment", "secret", "round") if entry.get(name)]
    if names:
        name = chance.choice(names)
        entry[name] = chance.randbytes(len(entry[name]) // 2).hex()


CHANGES: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (_another_card, _another_move, _another_hash)


def changed(lines: list[str], chance: random.Random) -> list[str]:
    """Return a receipt in which something was changed, left out or put elsewhere."""
    place = chance.randrange(1, len(lines))
    kind = chance.randrange(5)
    if kind == 0:
        return [*lines[:place], *lines[place + 1 :]]
    if kind == 1:
        return [*lines[:place], lines[place], *lines[place:]]
    fields = json.loads(lines[place])
    message = fields.get("heard") or fields.get("said") or {}
    for entry in [message, *message.get("entries", [])]:
        chance.choice(CHANGES)(entry, chance)
    return [*lines[:place], json.dumps(fields), *lines[place + 1 :]]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_the_page_refuses_a_changed_receipt_where_fairest_does(seed: int) -> None:
    chance = random.Random(f"receipt {seed}")
    honest = honest_receipts()
    cases: list[tuple[Record | None, list[str]]] = []
    for _ in range(CHANGED):
        record, lines = chance.choice(honest)
        cases.append((record, changed(lines, chance)))
    assert compare(cases) > CHANGED / 4
