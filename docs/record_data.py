"""Make docs/record.json: the lines of a record, the variants and the limits of rooms as data, for other languages."""

import json
from typing import Any

from fairest_protocol.calculation.record import MAX_BYTES, MAX_LINE_BYTES, MAX_LINES, MAX_TIME_MS
from fairest_protocol.calculation.record_lines import LINE_PATTERNS
from fairest_protocol.calculation.rules import MAX_PILES, VARIANTS, RolledFoundations, Variant
from fairest_protocol.calculation.terms import BEST_OF, CLOCKS, SPECTATORS


def make_record_data() -> str:
    """Return the text of docs/record.json."""
    words = ["true", "false"]
    redeals = max(variant.redeals[-1] for variant in VARIANTS.values())
    data = {
        "about": "generated from the code; docs/protocol.md says what it means, under 'The record of a match'",
        "sizes": {"bytes": MAX_BYTES, "lines": MAX_LINES, "line_bytes": MAX_LINE_BYTES, "time_ms": MAX_TIME_MS},
        "lines": LINE_PATTERNS,
        "terms": {
            "rules": list(VARIANTS),
            "piles": _span(range(1, MAX_PILES + 1)),
            "redeals": _span(range(redeals + 1)),
            "best_of": list(map(str, BEST_OF)),
            **{key: _span(allowed) for key, allowed in CLOCKS.items()},
            "spectators": list(SPECTATORS),
            "direct_breaks_ties": words,
            "listed": words,
        },
        "variants": {name: _variant(variant) for name, variant in VARIANTS.items()},
    }
    return json.dumps(data, indent=1) + "\n"


def _variant(variant: Variant) -> dict[str, Any]:
    rules, made = variant.rules, variant.rules.foundations
    if isinstance(made, RolledFoundations):
        foundations: dict[str, Any] = {"rolled": {"count": made.count, "sides": made.sides, "length": made.length}}
    else:
        foundations = {"foundations": [[each.start, each.step, each.length] for each in made]}
    return foundations | {
        "decks": rules.decks,
        "markers": list(rules.markers),
        "redeal": rules.redeal,
        "goal": rules.goal,
        "terms": {"piles": _span(variant.piles), "redeals": _span(variant.redeals)},
    }


def _span(allowed: range) -> dict[str, int]:
    return {"from": allowed[0], "to": allowed[-1]}
