"""The counts of a load, and the report on them: for people, and as JSON."""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from fairest_server.load.clients import MOVES, SHORTEST_PAUSE_SHARE

LIMITS: Final = {
    "HTTP 403": "pages of other sites; the server took this program for one: a proxy adds an Origin header",
    "HTTP 429": "connections of one address: raise it with --connections-per-address; or a proxy has its own limit",
    "HTTP 503": "connections of a process: raise it with --max-connections, and ulimit -n; or a proxy has no server",
    "too_many_players": "new players of one address: raise it with --players-per-address; it refills within an hour",
    "too_many_rooms": "rooms of one address or player: raise it with --rooms-per-address, or --rooms-per-player",
    "too_many_rounds": "rounds of one address: raise it with --rounds-per-address; it refills within an hour",
    "too_fast": "messages without a rest: raise --messages-per-second and --flood-seconds, or give a longer --pace",
    "try_again": "the speed of Redis: requests waited longer than it takes to store them (at most 256 wait in a room)",
    "in_doubt": "the speed of Redis, or the way to it: it did not answer in time, and its logs could not be read",
}
"""The limits of a server that a load can reach, by the answer that says so, with the setting that raises each."""
BUSY_SHARE: Final = 0.8
"""Above this share of a core, the delays of the load itself are in the answer times."""
RATE_LIMIT: Final = 20.0
"""The default of --messages-per-second."""


@dataclass
class Tally:
    """The counts of a load while it runs, shared by all its clients."""

    connections: int = 0
    """Connections that were welcomed, with those of clients that came back."""
    is_open: int = 0
    players: int = 0
    rooms: int = 0
    racing: int = 0
    """Rooms in which a race is on."""
    races_started: int = 0
    races_finished: int = 0
    races_cut_short: int = 0
    """Races that the end of the load ended."""
    sent: int = 0
    seconds: "array[float]" = field(default_factory=lambda: array("d"))
    """The time that each answered move took."""
    spectator_frames: int = 0
    turned_away: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    disconnects: Counter[int] = field(default_factory=Counter)
    reconnects: int = 0
    errors: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Report:
    """The result of a load."""

    tally: Tally
    url: str
    rooms_asked: int
    spectators_asked: int
    pace_seconds: float
    seconds: float
    cpu_seconds: float

    @property
    def reached_limits(self) -> list[str]:
        """The answers of the server that say that a limit was reached."""
        tally = self.tally
        seen = {*tally.turned_away, *tally.refusals, *tally.errors}
        return [answer for answer in LIMITS if answer in seen]

    @property
    def is_clean(self) -> bool:
        """Return whether everything that was asked for took place: all rooms raced, and nothing went wrong."""
        tally = self.tally
        wrong = tally.turned_away or tally.refusals or tally.disconnects or tally.errors
        return not wrong and tally.rooms == self.rooms_asked and tally.sent == len(tally.seconds)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object. Times of answers are in milliseconds."""
        tally, moves = self.tally, len(self.tally.seconds)
        return {
            "server": self.url,
            "seconds": round(self.seconds, 3),
            "rooms": {"asked": self.rooms_asked, "raced": tally.rooms},
            "races": {
                "started": tally.races_started,
                "finished": tally.races_finished,
                "cut_short": tally.races_cut_short,
            },
            "moves": {
                "answered": moves,
                "unanswered": tally.sent - moves,
                "per_second": round(moves / self.seconds, 1) if self.seconds else 0.0,
            },
            "answer_ms": answer_times(tally.seconds),
            "connections": tally.connections,
            "players": tally.players,
            "spectators": {"each_room": self.spectators_asked, "frames": tally.spectator_frames},
            "turned_away": dict(tally.turned_away),
            "refusals": dict(tally.refusals),
            "disconnects": {str(code): count for code, count in tally.disconnects.items()},
            "reconnects": tally.reconnects,
            "errors": dict(tally.errors),
            "limits": {answer: LIMITS[answer] for answer in self.reached_limits},
            "load_cpu_share": round(self.cpu_seconds / self.seconds, 3) if self.seconds else 0.0,
        }

    def lines(self) -> list[str]:
        """Return the report for people."""
        tally, found = self.tally, self.as_json()
        moves, times = found["moves"], found["answer_ms"]
        lines = [
            f"server        {self.url}, for {self.seconds:.1f} s",
            f"connections   {tally.connections}, of them {tally.reconnects} reconnects",
            f"rooms         {tally.rooms} of {self.rooms_asked} raced",
            (
                f"races         {tally.races_started} started, {tally.races_finished} finished, "
                f"{tally.races_cut_short} cut short by the end of the load"
            ),
            (
                f"moves         {moves['answered']} answered, {moves['per_second']} a second; "
                f"{moves['unanswered']} without an answer"
            ),
            f"answer time   median {times['p50']} ms, 99 % within {times['p99']} ms, longest {times['max']} ms",
        ]
        if self.spectators_asked:
            lines.append(f"spectators    {self.spectators_asked} a room, who were sent {tally.spectator_frames} frames")
        for title, counts in (
            ("turned away", tally.turned_away),
            ("refusals", tally.refusals),
            ("disconnects", tally.disconnects),
            ("errors", tally.errors),
        ):
            listed = ", ".join(f"{what} {count} times" for what, count in sorted(counts.items(), key=str))
            lines.append(f"{title:13} {listed or 'none'}")
        lines += [f"limit         {answer}: {LIMITS[answer]}" for answer in self.reached_limits]
        return [*lines, *self._notes()]

    def _notes(self) -> list[str]:
        tally, notes = self.tally, []
        if self.seconds and self.cpu_seconds / self.seconds > BUSY_SHARE:
            notes.append("this load used a whole core: its own delays are in the answer times; start several of it")
        if self.pace_seconds < 1 / RATE_LIMIT and tally.seconds:
            notes.append(
                f"players moved without a rest: with --messages-per-second {RATE_LIMIT:g}, the default, a server lets "
                "further messages wait, and the answer times show that"
            )
        if tally.races_started and not tally.races_finished:
            notes.append(
                f"no race came to its end: its {MOVES} cards take about {self._race_seconds():.0f} s at this pace; "
                "raise --seconds, or lower --pace"
            )
        ended = tally.races_finished + tally.races_cut_short
        if tally.players:
            notes.append(
                f"left in Redis: {tally.players} players for a week, {ended} records of matches for 400 days; the "
                "rooms close by themselves"
            )
        return [f"note          {note}" for note in notes]

    def _race_seconds(self) -> float:
        """Return about how long a race of the load takes, from its pauses and the mean answer time."""
        answers = self.tally.seconds
        pause = self.pace_seconds * (1 + SHORTEST_PAUSE_SHARE) / 2
        return MOVES * (pause + (sum(answers) / len(answers) if answers else 0.0))


def answer_times(seconds: "array[float]") -> dict[str, float | None]:
    """Return the median, the 99th percentile and the maximum, in milliseconds; None each without an answer."""
    if not seconds:
        return {"p50": None, "p99": None, "max": None}
    ordered = sorted(seconds)
    at = {"p50": len(ordered) // 2, "p99": int(len(ordered) * 0.99), "max": len(ordered) - 1}
    return {name: round(ordered[index] * 1000, 2) for name, index in at.items()}
