"""A tournament as a value, played by its pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.seal import commit_entrant
from fairest_protocol.messages.tournaments import TournamentFormat, TournamentPhase
from fairest_protocol.value import replace
from fairest_server.tournament.progress import advance, phase_ends_ms
from fairest_server.tournament.requests import Answer, get_ready, join, leave, reveal, start
from fairest_server.tournament.state import Entrant, Options, Tournament

OPTIONS = Options("classic", TournamentFormat.SWISS, 0, 16, None, 120, 1200)
CODE = "quiet-green-heron"


def entropy_of(name: str) -> bytes:
    return name.encode().ljust(32, b".")


def score(placed: int, time_ms: int = 1_000) -> AttemptScore:
    return AttemptScore(placed == 52, placed, 0, time_ms)


def names(letters: str) -> list[str]:
    """Return a name for each letter: two of it."""
    return [2 * letter for letter in letters]


class Cup:
    """A tournament of these players; `now_ms` is Redis' clock."""

    def __init__(self, players: Sequence[str], **options: Any) -> None:
        self.now_ms = 1_000_000
        self.entries: list[str] = []
        self.scores: Mapping[str, AttemptScore] = {}
        self.at = Tournament(
            CODE,
            bytes(range(16)),
            players[0],
            replace(OPTIONS, **options),
            self.now_ms,
            (Entrant(players[0], players[0]),),
        )
        for name in players[1:]:
            self.take(join(self.at, name, name))

    def take(self, answer: Answer) -> None:
        """Take the answer to a request, which must not be refused."""
        assert isinstance(answer, Tournament), answer
        self.at = answer

    def go_on(self) -> None:
        progress = advance(self.at, self.now_ms, (), self.scores, self._secret)
        self.at = progress.tournament
        self.entries += progress.entries

    def start(self) -> None:
        self.take(start(self.at, self.at.entrants[0].player_id, self.now_ms))
        self.go_on()

    def wait(self) -> None:
        """Wait until the phase ends by itself."""
        until_ms = phase_ends_ms(self.at, ())
        assert until_ms is not None
        self.now_ms = until_ms + 1
        self.go_on()

    def ready(self, names: Sequence[str]) -> None:
        number = self.at.newest.number
        for name in names:
            promised = commit_entrant(self.at.round_id(number), name, entropy_of(name))
            self.take(get_ready(self.at, name, number, promised))
        self.go_on()

    def reveal(self, names: Sequence[str]) -> None:
        for name in names:
            self.take(reveal(self.at, name, self.at.newest.number, entropy_of(name)))
        self.go_on()

    def leave(self, name: str) -> None:
        self.take(leave(self.at, name))
        self.go_on()

    def race(self, placed: Mapping[str, int], *, times: Mapping[str, int] | None = None) -> None:
        """Let these players get ready, show their entropy and race, placing so many cards."""
        self.ready(list(placed))
        if self.at.phase is TournamentPhase.GATHERING:
            self.wait()
        if self.at.phase is TournamentPhase.REVEALING:
            self.reveal(list(placed))
        self.scores = {name: score(count, (times or {}).get(name, 1_000)) for name, count in placed.items()}
        self.go_on()
        self.scores = {}

    def points(self) -> dict[frozenset[str], dict[str, int]]:
        """Return the points of the pairs of all rounds that are over; a later round replaces an earlier one."""
        return {
            frozenset(pair.names): dict(zip(pair.names, pair.points or (), strict=False))
            for played in self.at.rounds
            if played.is_over
            for pair in played.pairs
        }

    def _secret(self) -> bytes:
        return bytes([len(self.at.rounds) + 1]) * 32
