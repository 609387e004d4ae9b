"""The clocks of a race, measured by the monotonic clock of the clients: nothing ends early."""

from collections.abc import Iterator, Sequence

from benchmarks.histories.reading import Reading, Shown


def check_clocks(readings: Sequence[Reading], tolerance_s: float) -> Iterator[str]:
    """No race ends before its limit, no chase before its time, and nobody is away before the grace period is over."""
    first: dict[tuple[str, str, int | None], float] = {}
    finished: dict[str, Shown] = {}
    for shown in sorted((shown for reading in readings for shown in reading.shown), key=lambda shown: shown.at_s):
        entry = shown.entry
        first.setdefault((shown.round, entry["type"], entry.get("seat")), shown.at_s)
        if entry["type"] == "round_finished":
            finished.setdefault(shown.round, shown)
    rules = next((reading.rules for reading in readings if reading.rules), {})
    players = {reading.seat: reading for reading in readings if reading.seat is not None}
    for round_id, shown in finished.items():
        started_at_s = first.get((round_id, "started", None))
        for seat, score in enumerate(shown.entry["outcome"]["scores"]):
            ended_at_s = min(first.get((round_id, "stopped", seat), shown.at_s), shown.at_s)
            earliest = None
            if score["ending"] == "out_of_time" and started_at_s is not None:
                earliest = started_at_s + rules["limit_seconds"]
                chased_at_s = first.get((round_id, "stopped", 1 - seat))
                if chased_at_s is not None and chased_at_s < ended_at_s:
                    earliest = min(earliest, chased_at_s + rules["chase_seconds"])
                elif shown.entry["outcome"]["scores"][1 - seat]["ending"] != "out_of_time":
                    # The other seat stopped first, and nobody was shown when: all were cut off, and got snapshots.
                    earliest = None
            elif score["ending"] == "away" and seat in players:
                here = [at_s for at_s in players[seat].inside_until_s if at_s < ended_at_s - 0.05]
                earliest = max(here, default=ended_at_s) + rules["grace_seconds"]
            if earliest is not None and ended_at_s < earliest - tolerance_s:
                early_s = earliest - ended_at_s
                yield f"clocks: seat {seat} of round {round_id[:8]} is {score['ending']} {early_s:.1f} s early"
