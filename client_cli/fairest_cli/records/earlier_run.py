"""The run of the client before this one, which may have been killed, as the receipt of a seat tells it. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fairest_cli.records.receipt_replay import BadReceipt
from fairest_protocol.value import Value, replace


class EarlierRun(Value):
    """The end of the run before this one: when it last wrote, by this machine's clock, and its last round.

    A killed client wrote last when it was last shown or sent something, so `last_ms` is the earliest possible time of
    its end. `round_id` is the hexadecimal id of the last round, None before the first one; `is_race_over` is whether
    the seat's race in that round was shown to be over.
    """

    last_ms: int
    round_id: str | None = None
    is_race_over: bool = False


def read_earlier_run(lines: Iterable[str], seat: int) -> EarlierRun | None:
    """Return the end of the run that wrote these lines of a receipt, or None if they hold no time.

    Raises `BadReceipt` for lines that no client writes.
    """
    run: EarlierRun | None = None
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            if "at_ms" in line:
                run = _after(run or EarlierRun(0), line, seat)
        except (ValueError, TypeError, LookupError, AttributeError) as reason:
            raise BadReceipt(f"line {number} is not a line of a receipt") from reason
    return run


def _after(run: EarlierRun, line: Mapping[str, Any], seat: int) -> EarlierRun:
    heard = line.get("heard") or line.get("known") or {}
    run = replace(run, last_ms=int(line["at_ms"]))
    if "scene" in heard:
        scene = heard["scene"]
        is_over = scene["outcome"] is not None or scene["seats"][seat]["has_stopped"]
        return replace(run, round_id=scene["round"], is_race_over=is_over)
    for entry in heard.get("entries", ()):
        match entry:
            case {"type": "round_opened", "round": str(round_id)}:
                run = replace(run, round_id=round_id, is_race_over=False)
            case {"type": "stopped", "seat": stopped} if stopped == seat:
                run = replace(run, is_race_over=True)
            case {"type": "round_finished"}:
                run = replace(run, is_race_over=True)
    return run
