"""The lines of a record as patterns, so that each line has one spelling, and every program reads it alike.

A line matches the pattern of its type as a whole, without its chain. The patterns are regular expressions that Python
and JavaScript understand in the same way; docs/record.json publishes them. They say how a line is written;
`match_rules` checks which matches can have happened, and `record_parser` which times.
"""

import re
from typing import Final

FORMAT: Final = 3
CERTIFIED_FORMAT: Final = 4
"""The format of a match in a certified room: the terms have one key more, and a round that was dealt has a step."""

CREDIT_FORMAT: Final = 5
"""The format of a match in a room with credit: its terms end with one key more, a stop may be `round_over`, and the
result of a round that a seat won has a ledger. It may be certified as well.
"""

_ID, _HASH, _SIGNATURE = (f'"[0-9a-f]{{{2 * count}}}"' for count in (16, 32, 64))
_TIME: Final = "(0|[1-9][0-9]{0,14})"
_COUNT: Final = "(0|[1-9][0-9]{0,2})"
_NAME: Final = '"[A-Za-z0-9_-]{2,20}"'
_SHOWN: Final = f"({_HASH}|null)"
_PASS: Final = rf"\[({_HASH}(,{_HASH})*)?\]"
_FORMATS: Final = (
    f"({FORMAT}(?!.* (certified|credit)=)|{CERTIFIED_FORMAT}(?=.* certified=)(?!.* credit=)"
    f"|{CREDIT_FORMAT}(?=.* credit=))"
)
_STEP: Final = "([0-9]|1[0-5])"
_ENDING: Final = '"(won|stuck|stopped|out_of_time|away|resigned|not_revealed|round_over)"'
_SCORE: Final = rf'\{{"placed":{_COUNT},"goal":{_COUNT},"direct":{_COUNT},"cards_turned":{_COUNT},"ending":{_ENDING}\}}'
_SPAN: Final = "(0|[1-9][0-9]{0,8})"
_TIMING: Final = (
    rf'\{{"arrival_ms":({_TIME}|null),"rtt_us":{_SPAN},"credit_ms":{_SPAN},"corrected_ms":({_TIME}|null)\}}'
)

LINE_PATTERNS: Final = {
    "match": rf'\{{"type":"match","format":{_FORMATS},"match":{_ID},"room":"[a-z]+(-[a-z]+){{1,5}}"'
    rf',"names":\[{_NAME},{_NAME}\],"terms":"[a-z0-9_= -]+","finished_at_ms":{_TIME},"key":{_HASH}\}}',
    "round": rf'\{{"type":"round","id":{_ID},"commitment":{_HASH},"signature":{_SIGNATURE},"secret":{_HASH}'
    rf',"entropy_hashes":\[{_SHOWN},{_SHOWN}\],"entropies":\[{_SHOWN},{_SHOWN}\]'
    rf',"envelopes":\[({_PASS}(,{_PASS})*)?\](,"step":{_STEP})?\}}',
    "move": rf'\{{"type":"move","at_ms":{_TIME},"seat":[01],"move":"(s[1-8a-h]|[a-h][1-8]|redeal|stop|resign)"\}}',
    "stop": rf'\{{"type":"stop","at_ms":({_TIME}|null),"seats":\[(0|1|0,1)\]'
    r',"ending":"(out_of_time|away|resigned|round_over)"\}',
    "result": rf'\{{"type":"result","winner":([01]|null),"scores":\[{_SCORE},{_SCORE}\]'
    rf'(,"ledger":\[{_TIMING},{_TIMING}\])?\}}',
    "seal": rf'\{{"type":"seal","signature":{_SIGNATURE}\}}',
}
"""The pattern of each type of line."""

_TYPE: Final = re.compile(r'\{"type":"([a-z]+)"')
_LINES: Final = {kind: re.compile(pattern) for kind, pattern in LINE_PATTERNS.items()}
_OTHER_FORMAT: Final = re.compile(r'\{"type":"match","format":(?![345],)')


def type_of_line(text: str) -> str:
    """Return the type of a line of a record, given without its chain. Raises ValueError for any other text."""
    kind = _TYPE.match(text)
    if kind is None or kind[1] not in _LINES:
        raise ValueError(f"it begins with none of the types of lines: {text[:40]!r}")
    if _OTHER_FORMAT.match(text):
        raise ValueError(f"a record starts with a match line of format {FORMAT}; fairest 0.1.0 reads format 2")
    if not _LINES[kind[1]].fullmatch(text):
        raise ValueError(f"no server writes a line of type {kind[1]!r} like this: {text[:80]!r}")
    return kind[1]
