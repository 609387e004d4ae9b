"""The timeline of a line that wins a deal, which a player who knew the order of the stock could have played."""

import asyncio
from typing import Final

from fairest_cli.text.move_text import describe_advice
from fairest_cli.tui.board.timeline import Moment, Timeline
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.solver import solve

MOVE_MS: Final = 800
"""The time between two moves of the line when it plays."""


async def winning_line_timeline(record: Record) -> Timeline | None:
    """Return a line that wins the first deal of a match, or None if the solver found none. It runs in a thread."""
    return await asyncio.to_thread(_make_timeline, record)


def _make_timeline(record: Record) -> Timeline | None:
    number = next((number for number, played in enumerate(record.rounds) if played.is_dealt), None)
    if number is None:
        return None
    deal = make_deal(record.rules, record.rounds[number].seed)
    line = solve(record.rules, deal).line
    if not line:
        return None
    race = start_race(record.rules, deal, seats=1)
    labels, races = ["the cards are dealt"], [race]
    for at, move in enumerate(line, 1):
        labels.append(f"{at}. {describe_advice(races[-1].racers[0].board, move)}")
        races.append(races[-1].play(0, move))
    moments = []
    for at, (label, after) in enumerate(zip(labels, races, strict=True)):
        board = after.racers[0].board
        moments.append(Moment(at * MOVE_MS, label, (board, None), (board.placed, 0), number + 1))
    return Timeline(tuple(moments))
