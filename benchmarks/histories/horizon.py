"""The horizon, from docs/protocol.md, measured from outside: what a viewer was shown, and how far the players were."""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.histories.reading import Reading, Shown
from benchmarks.histories.records import AFTER_A_STOP, StoredRound, is_last_turn


def check_horizon(reading: Reading, readings: Sequence[Reading], stored: dict[str, StoredRound]) -> Iterator[str]:
    """Nobody sees a decision before all who still race are past its turn, nor a card before they have turned it.

    A player's own view says how far it is itself. For spectators, a player is at a turn at the earliest when it sent
    the move that leads there: all viewers are measured by one clock, so a view that is earlier than this was too early.
    """
    is_open = reading.seat is None and reading.rules.get("spectators") == "open"
    players = {each.seat: each for each in readings if each.seat is not None}
    sent_at_s = {seat: _sending_times(each) for seat, each in players.items()}
    # Moves that were lost led to turns that the stored ones do not lead to.
    last_loss_at_s = max((at_s for each in readings for at_s, _ in each.losses), default=0.0)
    for shown in reading.shown:
        entry = shown.entry
        if entry["type"] not in ("turned", "moved") or entry["seat"] == reading.seat or is_open:
            continue
        seat, laggard = entry["seat"], 1 - entry["seat"]
        if laggard in shown.ended:
            continue
        redeals = reading.rules["redeals"]
        made = shown.turns[seat] if entry["type"] == "moved" else (entry["turn"][0], entry["turn"][1])
        if made is None:
            continue
        must_be_past = entry["type"] == "moved" and not is_last_turn(made, redeals)
        seen = f"{reading.viewer} at {shown.at_s:.3f}: horizon: {entry['type']} of seat {seat} made at {made}"
        own = shown.turns[laggard]
        if laggard == reading.seat and own is not None and (own < made or (must_be_past and own == made)):
            yield f"{seen}, and this seat is at {own}"
        elif shown.at_s > last_loss_at_s and shown.round in stored and stored[shown.round].turns[laggard]:
            yield from _check_times(seen, shown, stored[shown.round], laggard, made, must_be_past, sent_at_s)


def _check_times(
    seen: str,
    shown: Shown,
    stored: StoredRound,
    laggard: int,
    made: tuple[int, int],
    must_be_past: bool,
    sent_at_s: Mapping[int, dict[tuple[str, int], float]],
) -> Iterator[str]:
    turns = stored.turns[laggard]
    number = next((n for n, turn in enumerate(turns) if turn > made or (turn == made and not must_be_past)), None)
    if number == 0 or laggard not in sent_at_s:
        return
    if number is None and stored.endings[laggard] in AFTER_A_STOP:
        number = len(turns) - 1
    at_s = None if number is None else sent_at_s[laggard].get((shown.round, number))
    if number is None:
        yield f"{seen}, and seat {laggard} never came as far"
    elif at_s is not None and at_s > shown.at_s:
        yield f"{seen}, and seat {laggard} sent its move {number}, which leads there, {at_s - shown.at_s:.3f} s later"


def _sending_times(reading: Reading) -> dict[tuple[str, int], float]:
    times: dict[tuple[str, int], float] = {}
    for play in reading.plays:
        times.setdefault((play.round, play.number), play.sent_at_s)
    return times
