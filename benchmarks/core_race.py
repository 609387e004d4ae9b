"""The bare race with the pure core of our server: what rules, states, horizon and views cost without the room around.

Messages are read by our codec, moves are decided by `decide` and `evolve`, and the views of both players are those of
the server, byte for byte. Nothing else that a room has: no session, no limit but the one on unread bytes, no append
queue with its retries, no deadlines, no catching up, no records.
"""

from collections.abc import Sequence

from benchmarks.bare_race import Appends, StoredRoom
from fairest_protocol.messages.codec import decode_from_client
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_client import Play
from fairest_server.room.commands import MakeMove
from fairest_server.room.decide import decide
from fairest_server.room.evolve import evolve
from fairest_server.room.projection import project
from fairest_server.room.steps import Step
from fairest_server.room.view import views_of
from fairest_server.store.log_entries import format_event
from tests.support.races import Table

LINKS = ("link-0", "link-1")


class CoreRoom(StoredRoom):
    """A room of classic in which the race has just begun."""

    def __init__(self, name: str, appends: Appends) -> None:
        super().__init__(name, appends)
        table = Table()
        table.start()
        self._draw_round = table.draw_round
        self._now_ms = table.now_ms
        self._state = table.state
        views = views_of(self._state)
        self._views = (views[0], views[1])
        for view in self._views:
            view.reveal(*map(project, table.steps))
        self._steps: list[Step] = []
        self._movers: set[int] = set()

    def judge(self, messages: Sequence[tuple[int, bytes]]) -> Sequence[bytes]:
        """Decide these moves, which are stored as our log stores them."""
        self._steps, self._movers = [], set()
        for seat, message in messages:
            play = decode_from_client(message)
            assert isinstance(play, Play), play
            verdict = decide(self._state, MakeMove(LINKS[seat], play.number, play.move), self._draw_round)
            assert isinstance(verdict, tuple), verdict
            self._movers.add(seat)
            for event in verdict:
                after = evolve(self._state, event, self._now_ms)
                self._steps.append(Step(self._state, event, self._now_ms, after, ""))
                self._state = after
        return [format_event(step.event) for step in self._steps]

    def tell(self, tag: str) -> None:
        """Show both players what they may see of the moves."""
        projected = list(map(project, self._steps))
        for seat, view in enumerate(self._views):
            entries = view.reveal(*projected)
            if entries:
                text = encode_view(view.position, entries, tag)
                self.websockets[seat].outbox.send(text if seat in self._movers else b"!" + text)
