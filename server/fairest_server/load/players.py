"""The clients of `fairest-server load`: they race again and again, come back after a disconnect, and count it all."""

import asyncio
import json
import random
from typing import Any, Final

from fairest_protocol.messages.refusals import SEND_AGAIN, Refusal
from fairest_server.load.clients import ERROR, MOVES, Guest, Racer, Spectator, play
from fairest_server.load.report import Tally
from fairest_server.load.websocket_client import Target, frame

RETRY_SECONDS: Final = 0.5
"""The pause before a request is sent again that was refused with `try_again` or `in_doubt`."""
_FINAL: Final = frozenset(Refusal) - SEND_AGAIN - {Refusal.SEAT_STOPPED, Refusal.RACE_OVER, Refusal.WRONG_PHASE}
"""Refusals after which a client cannot go on."""


class LoadClient(Guest):
    """A client with a tally. `has_given_up` is set once it cannot go on, `has_left` at the end, when it has left."""

    tally: Tally

    def start_counting(self, tally: Tally) -> None:
        """Count into `tally` from now on."""
        self.tally = tally
        self.has_given_up = False
        self.was_welcomed = False
        self.is_leaving = False
        self.welcomed = asyncio.Event()
        self.has_left = asyncio.Event()

    def send(self, **message: Any) -> None:
        """Send a message, unless we have sent `leave`: every other message would be refused."""
        if not self.is_leaving:
            super().send(**message)

    def leave(self) -> None:
        """Ask to leave the room; `has_left` is set by the answer."""
        self.send(type="leave")
        self.is_leaving = True

    def note_welcome(self, payload: bytes) -> None:
        """Count the connection, and the player if it is a new one. Raises KeyError and ValueError."""
        had_token = self.token
        super().note_welcome(payload)
        self.tally.connections += 1
        self.tally.is_open += 1
        self.tally.players += not had_token
        self.tally.reconnects += self.was_welcomed
        self.was_welcomed = True
        self.welcomed.set()

    def note_answer(self, message: dict[str, Any]) -> None:
        """Count a refusal or an error. Raises KeyError."""
        match message["type"]:
            case "refused":
                self.tally.refusals[message["code"]] += 1
                if message["code"] in _FINAL:
                    self.give_up()
            case "error":
                self.tally.errors[message["code"]] += 1
            case "left":
                self.has_left.set()

    def give_up(self) -> None:
        """Leave the load for good."""
        self.has_given_up = True
        self.socket.close()

    def guard(self, fault: Exception) -> None:
        """Count a message that no Fairest server sends, and give up."""
        self.tally.errors[f"not an answer of a Fairest server: {fault!r:.80}"] += 1
        self.give_up()


class LoadSpectator(LoadClient, Spectator):
    """A spectator that counts the frames it is sent."""

    def on_text(self, payload: bytes) -> None:
        """Count a frame; react to answers."""
        try:
            if payload.startswith(b'{"type":"left"'):
                self.has_left.set()
            elif payload.startswith(ERROR):
                self.note_answer(json.loads(payload))
            else:
                self.tally.spectator_frames += self.is_ready.done()
                super().on_text(payload)
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            self.guard(fault)

    def on_refused(self, message: dict[str, Any]) -> None:
        """Count the refusal."""
        self.note_answer(message)


class LoadRacer(LoadClient, Racer):
    """A player that races until the load ends."""

    # An abandoned room closes soon, should this load be killed.
    OPTIONS: dict[str, Any] = {"countdown_seconds": 0, "idle_seconds": 30}  # noqa: RUF012  # never changed

    def __init__(
        self, target: Target, chance: random.Random, other: "LoadRacer | None", pace_seconds: float, name: str
    ) -> None:
        super().__init__(target, chance, other, pace_seconds, name)
        self._stopped_mark = b'"stopped","seat":%d' % self.seat
        self._wants_rematch = False
        self.is_over = False
        """Set at the end of the load: no further move, no further race."""

    def make_frames(self) -> list[bytes]:
        """Return the moves that lay every card onto the first pile, and the one that ends the race."""
        moves = [play(number + 1) for number in range(MOVES)]
        return [frame(each) for each in (*moves, play(MOVES + 1, "stop"))]

    def on_text(self, payload: bytes) -> None:
        """Handle a message; note the ends of our own race and of the round."""
        try:
            if self._stopped_mark in payload:
                self.upto = 0
            if b'"round_finished"' in payload and payload.startswith(b'{"type":"view"'):
                self._finish(payload)
            else:
                super().on_text(payload)
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            self.guard(fault)

    def on_race(self) -> None:
        """Count the race once, at the first seat, and begin to move."""
        if self.seat == 0:
            self.tally.rooms += not self._wants_rematch
            self.tally.races_started += 1
            self.tally.racing += not self.is_over
            self.tally.races_cut_short += self.is_over
        self._wants_rematch = False
        self.number = 0
        if not self.is_over:
            self.begin(len(self.frames))

    def send_next(self) -> None:
        """Send the next move, unless the load ends or our race has ended."""
        if self.is_over or self.upto == 0 or self.socket.closed.done():
            return
        self.tally.sent += self.sent_at is None
        super().send_next()

    def on_resumed(self, payload: bytes) -> None:
        """Take in the missed entries; then send again the request that was not answered."""
        if self.is_racing:
            if not payload.startswith((b'{"type":"view"', b'{"type":"placed"')):
                self._refused_to_resume(payload)
                return
            since = self.sent_at
            self.on_text(payload)
            if self.is_racing and since is not None and self.sent_at == since:
                self.socket.send_frame(self.frames[self.number])
            elif self.is_racing and self.sent_at is None and self.number < self.upto and not self._is_waiting():
                self.send_next()
            return
        self.on_text(payload)
        if self._wants_rematch and not self.is_racing:
            self.send(type="rematch")
        elif self.round and self.seat not in self.ready:
            self.send_ready()

    def on_refused(self, message: dict[str, Any]) -> None:
        """Count a refusal; send a move again that was refused with `try_again` or `in_doubt`."""
        if message["type"] == "accepted":
            if self.sent_at is not None and message["number"] == self.number + 1:
                self.on_answer()
            return
        if message["type"] == "refused" and self.sent_at is not None and message["code"] in SEND_AGAIN:
            self.timer = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._send_again)
        self.note_answer(message)

    def end(self) -> None:
        """Make no further move; `is_done` is set once the last one was answered."""
        self.is_over = True
        self.upto = self.number + 1
        if self.timer:
            self.timer.cancel()
        if self.seat == 0 and self.is_racing:
            self.tally.races_cut_short += 1
            self.tally.racing -= 1

    def give_up(self) -> None:
        """Leave the load for good; the room's other clients stop waiting for its code."""
        super().give_up()
        if not self.room.done():
            self.room.cancel()

    def _refused_to_resume(self, payload: bytes) -> None:
        message = json.loads(payload)
        self.note_answer(message)
        if message["type"] == "snapshot":
            self.tally.errors["the server's log is not the one that was shown"] += 1
            self.give_up()

    def _send_again(self) -> None:
        if not self.is_over and not self.socket.closed.done() and self.sent_at is not None:
            self.socket.send_frame(self.frames[self.number])

    def _is_waiting(self) -> bool:
        """Return whether a pause before the next move is still to end."""
        loop = asyncio.get_running_loop()
        return self.timer is not None and not self.timer.cancelled() and self.timer.when() > loop.time()

    def _finish(self, payload: bytes) -> None:
        """Take in a view that ends the round; race again unless the load ends."""
        if self.mine in payload and self.sent_at is not None:
            self.upto = 0
            self.on_answer()
        if self.timer:
            self.timer.cancel()
        self.last_shown = payload
        if self.seat == 0 and self.is_racing and not self.is_over:
            self.tally.races_finished += 1
            self.tally.racing -= 1
        self.is_racing = False
        self.ready.clear()
        self.round = ""
        # A move that the end of the race overtook is never answered.
        self.tally.sent -= self.sent_at is not None
        self.sent_at = None
        if not self.is_done.done():
            self.is_done.set_result(None)
        if not self.is_over:
            self._wants_rematch = True
            self.send(type="rematch")
