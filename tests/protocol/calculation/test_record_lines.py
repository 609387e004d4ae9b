"""The patterns of the lines of a record: each line has one spelling, and other texts are named."""

import re
from typing import Any

import pytest

from fairest_protocol.calculation.record_lines import CERTIFIED_FORMAT, CREDIT_FORMAT, FORMAT, type_of_line

ID, HASH, SIGNATURE = "0f" * 16, "0f" * 32, "0f" * 64
SCORE = '{"placed":9,"goal":52,"direct":0,"cards_turned":48,"ending":"stuck"}'
TIMING = '{"arrival_ms":null,"rtt_us":0,"credit_ms":0,"corrected_ms":null}'


def match_line(number: object = 3, terms: str = "rules=classic", at_ms: object = 0) -> str:
    return (
        f'{{"type":"match","format":{number},"match":"{ID}","room":"a-b","names":["ann","bob"],"terms":"{terms}",'
        f'"finished_at_ms":{at_ms},"key":"{HASH}"}}'
    )


def round_line(envelopes: str = "[]", step: str = "", hashes: str = "null,null") -> str:
    return (
        f'{{"type":"round","id":"{ID}","commitment":"{HASH}","signature":"{SIGNATURE}","secret":"{HASH}",'
        f'"entropy_hashes":[{hashes}],"entropies":[null,"{HASH}"],"envelopes":{envelopes}{step}}}'
    )


def move_line(move: str = "sa", at_ms: object = 0, seat: object = 0) -> str:
    return f'{{"type":"move","at_ms":{at_ms},"seat":{seat},"move":"{move}"}}'


def stop_line(ending: str = "away", seats: str = "0", at_ms: object = "null") -> str:
    return f'{{"type":"stop","at_ms":{at_ms},"seats":[{seats}],"ending":"{ending}"}}'


def result_line(winner: object = "null", score: str = SCORE, ledger: str = "") -> str:
    return f'{{"type":"result","winner":{winner},"scores":[{score},{SCORE}]{ledger}}}'


def timed(**changes: Any) -> str:
    """Return the ledger of a result with another first row."""
    row = TIMING
    for field, value in changes.items():
        row = re.sub(rf'"{field}":\w+', f'"{field}":{value}', row)
    return result_line(ledger=f',"ledger":[{row},{TIMING}]')


def outcome(line: str) -> str:
    """Return the type of a line, or the sentence with which it is refused."""
    try:
        return type_of_line(line)
    except ValueError as refused:
        return str(refused)


WRITTEN = [
    match_line(),
    match_line(at_ms=999_999_999_999_999),
    match_line(4, "rules=classic certified=1"),
    match_line(5, "rules=classic credit=1"),
    match_line(5, "rules=classic certified=1 credit=1"),
    round_line(),
    round_line(f'[["{HASH}"]]'),
    round_line(f'[["{HASH}","{HASH}"],[],["{HASH}"]]'),
    *(round_line(step=f',"step":{step}') for step in (0, 9, 10, 15)),
    round_line(hashes=f'"{HASH}",null'),
    *(move_line(move) for move in ("sa", "sh", "s1", "s8", "a1", "h8", "redeal", "stop", "resign")),
    move_line(at_ms=10, seat=1),
    *(stop_line(ending) for ending in ("out_of_time", "away", "resigned", "round_over")),
    *(stop_line(seats=seats) for seats in ("0", "1", "0,1")),
    stop_line(at_ms=7),
    *(result_line(winner) for winner in (0, 1, "null")),
    result_line(score=SCORE.replace("9", "999")),
    timed(),
    timed(arrival_ms=7, rtt_us=999_999_999, credit_ms=10, corrected_ms=0),
    f'{{"type":"seal","signature":"{SIGNATURE}"}}',
]
"""Lines that a server writes."""


def test_each_line_that_a_server_writes_has_the_type_that_it_names() -> None:
    found = [(line, outcome(line)) for line in WRITTEN]
    assert {line: kind for line, kind in found if not line.startswith(f'{{"type":"{kind}",')} == {}


UNWRITTEN = [
    match_line(3, "rules=classic certified=1"),
    match_line(3, "rules=classic credit=1"),
    match_line(4),
    match_line(4, "rules=classic certified=1 credit=1"),
    match_line(5),
    match_line(at_ms="00"),
    match_line(at_ms=10**15),
    match_line(terms=""),
    match_line(terms="rules=Classic"),
    round_line("[[null]]"),
    round_line(f'[["{HASH[:-1]}"]]'),
    *(round_line(step=f',"step":{step}') for step in (16, 20, "00", "null")),
    *(move_line(move) for move in ("si", "s9", "s0", "ab", "i1", "a9", "Redeal", "")),
    move_line(at_ms="01"),
    move_line(seat=2),
    move_line() + "\n",
    *(stop_line(ending) for ending in ("won", "stuck", "stopped", "not_revealed", "")),
    *(stop_line(seats=seats) for seats in ("", "2", "1,0", "0,0", "0, 1")),
    *(result_line(winner) for winner in (2, "true")),
    result_line(score=SCORE.replace("9", "1000")),
    result_line(score=SCORE.replace("9", "09")),
    result_line(score=SCORE.replace("stuck", "lost")),
    timed(rtt_us=10**9),
    timed(credit_ms="null"),
    f'{{"type":"seal","signature":"{HASH}"}}',
]
"""Lines that no server writes, each of a type that it names."""


def is_refused_with_its_type(line: str) -> bool:
    kind = line.split('"')[3]
    return outcome(line).startswith(f"no server writes a line of type '{kind}' like this: ")


def test_each_line_that_no_server_writes_is_refused_with_its_type() -> None:
    assert {line: outcome(line) for line in UNWRITTEN if not is_refused_with_its_type(line)} == {}


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", '{"type": "move"', '{"type":"bow"}', '{"type":"Move"}', " " + move_line()]
)
def test_a_text_of_no_type_is_refused_with_its_beginning(line: str) -> None:
    shown = re.escape(repr(line[:40]))
    with pytest.raises(ValueError, match=f"^it begins with none of the types of lines: {shown}$"):
        type_of_line(line)


@pytest.mark.parametrize("number", [0, 1, 2, 6, 33, "null"])
def test_a_match_of_another_format_names_the_one_that_is_read(number: object) -> None:
    sentence = r"^a record starts with a match line of format 3; fairest 0\.1\.0 reads format 2$"
    with pytest.raises(ValueError, match=sentence):
        type_of_line(match_line(number))


def test_what_is_shown_of_a_line_is_cut_after_eighty_letters() -> None:
    line = move_line("x" * 100)
    with pytest.raises(ValueError, match=re.escape(repr(line[:80])) + "$"):
        type_of_line(line)


def test_the_formats_are_those_that_are_published() -> None:
    assert (FORMAT, CERTIFIED_FORMAT, CREDIT_FORMAT) == (3, 4, 5)
