"""The findings of an audit of a server's chain of rounds, in lines for people, or as JSON for programs."""

import json
from collections.abc import Iterator

from msgspec import to_builtins

from fairest_cli.records.findings import Findings
from fairest_cli.records.uniformity import Uniformity


def findings_as_json(key: bytes, findings: Findings) -> str:
    """Return the findings as one line of JSON."""
    found = {
        "key": key.hex(),
        "first": findings.first,
        "entries": findings.entries,
        "opened": findings.opened,
        "ends": findings.ends,
        "reasons": findings.reasons,
        "proved_share": findings.proved_share,
        "decks": {name: to_builtins(result) for name, result in findings.decks.items()},
        "losses": [loss.model_dump(mode="json") for loss in findings.losses],
        "own_rounds": findings.own_rounds,
        "own_heads": findings.own_heads,
        "alarms": findings.alarms,
        "notes": findings.notes,
    }
    return json.dumps(found, separators=(",", ":"))


def describe_findings(findings: Findings) -> Iterator[str]:
    """Yield the findings for people, without the alarms."""
    last = findings.first + findings.entries - 1
    if not findings.entries:
        yield "The chain has no entries yet."
        return
    yield f"Entries {findings.first} to {last}: each follows from the one before, and the server has signed the last."
    open_rounds = findings.ends["open"]
    yield f"Rounds opened: {findings.opened}, of which {open_rounds} are still open."
    for how, title in (
        ("proved", "Proved, with a deck that everybody can deal"),
        ("voided", "Called off before both players were bound"),
        ("broken_off", "Broken off: both were bound, and there was no deal"),
        ("never_ended", "Never ended"),
    ):
        reasons = ", ".join(
            f"{reason.partition(': ')[2].replace('_', ' ')} {count}"
            for reason, count in findings.reasons.most_common()
            if reason.startswith(f"{how}: ")
        )
        yield f"{title}: {findings.ends[how]}{f' ({reasons})' if reasons else ''}."
    if findings.decided:
        yield f"Of the rounds to which both players were bound, {findings.proved_share:.1%} are proved."
    for loss in findings.losses:
        lost = loss.lost_number - loss.number + 1
        yield f"Entry {loss.number} says that Redis had lost {lost} entries, up to {loss.lost_number}."
    for name, result in findings.decks.items():
        yield _describe_uniformity(name, result)
    own = f"{findings.own_rounds} rounds and {findings.own_heads} heads"
    yield f"Your own: {own} stand in the chain as you were shown them."
    yield from findings.notes


def _describe_uniformity(name: str, result: Uniformity) -> str:
    if not result.groups:
        return f"Decks of {name}: {result.decks}, too few to say anything; at least {result.needed} are needed."
    return (
        f"Decks of {name}: {result.decks}; ranks in {result.groups} groups of positions: chi-square "
        f"{result.chi_square:.1f} with {result.freedom} degrees of freedom, p = {result.p_value:.3g}."
    )
