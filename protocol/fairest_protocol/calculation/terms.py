"""The terms of a room: all of its options as one text, which the server signs with the commitment of each round.

The text is ASCII: ``key=value`` for each option, in one order, with one space between them. docs/protocol.md has the
values that each option may take.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from fairest_protocol.calculation.certified import PROCEDURE, check_certifiable
from fairest_protocol.calculation.distance import PROCEDURE as CREDIT_PROCEDURE
from fairest_protocol.calculation.rules import BadRules, Rules, choose_rules
from fairest_protocol.value import Value

BEST_OF: Final = (1, 3, 5, 7, 9)
SPECTATORS: Final = ("horizon", "open", "closed")
CLOCKS: Final = {
    "limit_seconds": range(10, 7201),
    "chase_seconds": range(5, 7201),
    "grace_seconds": range(1, 3601),
    "ready_seconds": range(5, 3601),
    "reveal_seconds": range(1, 61),
    "idle_seconds": range(5, 3601),
    "countdown_seconds": range(11),
}
"""The clocks of a room, and the number of seconds that each may have."""

_WORDS: Final = {True: "true", False: "false"}
_KEYS: Final = ("rules", "piles", "redeals", "best_of", *CLOCKS, "spectators", "direct_breaks_ties", "listed")
_CERTIFIED: Final = "certified"
_CREDIT: Final = "credit"
_PROCEDURES: Final = {_CERTIFIED: PROCEDURE, _CREDIT: CREDIT_PROCEDURE}
"""The keys that stand last, in this order, in the terms of certified rooms and of rooms with credit, and in no others;
each with the number of the only procedure that there is.
"""


class BadTerms(ValueError):
    """A text that is not the terms of any room. The text of the error says why."""


class Terms(Value):
    """The terms of a room whose variant this program knows. `text` is their only text; times are in seconds.

    `is_certified`: its deals are certified. `has_credit`: the time that distance costs is credited. Each by the only
    procedure that there is.
    """

    text: str
    rules: Rules
    best_of: int
    spectators: str
    direct_breaks_ties: bool
    is_listed: bool
    is_certified: bool = False
    has_credit: bool = False

    def seconds(self, clock: str) -> int:
        """Return the length of one of `CLOCKS` in these terms."""
        values = dict(pair.split("=") for pair in self.text.split(" "))
        return _number(values, clock)


def format_terms(options: Mapping[str, object]) -> str:
    """Return the text of the terms with these options, given in their order, with the variant's own parameters."""
    return " ".join(f"{key}={_WORDS[value] if isinstance(value, bool) else value}" for key, value in options.items())


@lru_cache(maxsize=128)
def parse_terms(text: str) -> Terms:
    """Parse the text of a room's terms. Raises `BadTerms` unless a room can have them, written in just this way.

    Most rooms have the same few terms, and each record needs them.
    """
    pairs = [pair.partition("=") for pair in text.split(" ")]
    keys = tuple(key for key, _, _ in pairs)
    chosen = tuple(key for key in _PROCEDURES if key in keys)
    is_certified, has_credit = _CERTIFIED in chosen, _CREDIT in chosen
    if keys != (*_KEYS, *chosen):
        raise BadTerms(f"the terms are not the options {', '.join(_KEYS)}, each once and in this order")
    values = {key: value for key, _, value in pairs}
    clocks = [(key, _number(values, key), allowed) for key, allowed in CLOCKS.items()]
    for key, seconds, allowed in (*clocks, ("best_of", _number(values, "best_of"), BEST_OF)):
        if seconds not in allowed:
            raise BadTerms(f"{key} cannot be {seconds}")
    if values["spectators"] not in SPECTATORS:
        raise BadTerms(f"spectators cannot be {values['spectators'][:40]!r}")
    direct_breaks_ties, is_listed = _truth(values, "direct_breaks_ties"), _truth(values, "listed")
    for key in chosen:
        if _number(values, key) != _PROCEDURES[key]:
            raise BadTerms(f"there is no procedure {values[key]} for {key}")
    try:
        rules = choose_rules(values["rules"], _number(values, "piles"), _number(values, "redeals"))
        if is_certified:
            check_certifiable(rules)
    except BadRules as reason:
        raise BadTerms(str(reason)) from reason
    if rules.name != values["rules"]:
        raise BadTerms(f"the variant is written {rules.name}, not {values['rules'][:40]!r}")
    best_of, spectators = _number(values, "best_of"), values["spectators"]
    return Terms(text, rules, best_of, spectators, direct_breaks_ties, is_listed, is_certified, has_credit)


def _number(values: Mapping[str, str], key: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,4}", values[key], re.ASCII):
        raise BadTerms(f"{key} is not a number: {values[key][:40]!r}")
    return int(values[key])


def _truth(values: Mapping[str, str], key: str) -> bool:
    for truth, word in _WORDS.items():
        if values[key] == word:
            return truth
    raise BadTerms(f"{key} is neither true nor false: {values[key][:40]!r}")
