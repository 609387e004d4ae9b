"""The evidence of one round: what a client was shown and has sent, and when, by its own clock. Pure.

A client is bound to a round from the moment at which the server shows that it has taken the client's `ready`. From then
on `round_end` judges every way out of the round by this evidence alone.
"""

from fairest_protocol.calculation.moves import RESIGN, STOP
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Leave, Play, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value, replace, replace_in_pair

Times = tuple[int | None, int | None]
"""For each seat the earliest time at which something may have happened to it, None if it has not."""
LONG_AGO_MS = 0
"""The time of everything that happened before this client was started: on its clock, 1970."""
DEALT_PHASES = (Phase.COUNTDOWN, Phase.RACING, Phase.FINISHED)


class Evidence(Value):
    """The evidence about one round, from the client in `seat`.

    All times are milliseconds of the client's own clock. Entries that come in the first message after a drop may be as
    old as the drop, so their time is that at which the connection was last known to be up: the earliest possible.

    `is_complete`: no entry was missed since we were bound. `is_own_past_known`: this run of the client has sent all
    that was sent for it. `dealing_ms`: both players were ready. `reveal_sent_ms`: our bytes were first sent on the
    present socket. `arrived_ms`: the server was known to have our bytes, since it had answered a ping that was sent
    behind them; no socket that ends later takes that back. `has_given_up`: we sent `resign` or `leave`, and
    `has_said_stop`: `stop`. `stopped_ms`: the seat's race ended while the other one went on. `away_ms`: the seat's
    player is away. `longest_absence_ms` is the longest time for which our connection was down. `resigned` and
    `has_left` are the entries that show that the seat's player gave up. `is_voided`, `is_freed`, `outcome` and
    `closing` are ways out that the view has shown; `closing` is the operator's reason for closing the room, empty if
    it was closed without one.
    """

    round_id: bytes
    seat: int
    options: RoomOptions
    is_complete: bool = True
    is_own_past_known: bool = True
    is_dealt: bool = False
    revealed: tuple[bool, bool] = (False, False)
    dealing_ms: int | None = None
    reveal_sent_ms: int | None = None
    arrived_ms: int | None = None
    has_given_up: bool = False
    has_said_stop: bool = False
    started_ms: int | None = None
    stopped_ms: Times = (None, None)
    away_ms: Times = (None, None)
    longest_absence_ms: int = 0
    resigned: tuple[bool, bool] = (False, False)
    has_left: tuple[bool, bool] = (False, False)
    is_voided: bool = False
    is_freed: bool = False
    outcome: Outcome | None = None
    closing: str | None = None

    def after(self, entry: Entry, scene: Scene, at_ms: int) -> "Evidence":
        """Return the evidence after an entry; `scene` is the scene after it, `at_ms` its earliest possible time."""
        match entry:
            case entries.Revealed(seat=seat):
                return replace(self, revealed=replace_in_pair(self.revealed, seat, True))
            case entries.PlayerReady() if scene.phase is Phase.DEALING and self.dealing_ms is None:
                return replace(self, dealing_ms=at_ms)
            case entries.Dealt():
                return replace(self, is_dealt=True)
            case entries.Started():
                return replace(self, started_ms=at_ms)
            case entries.Stopped(seat=seat):
                return replace(self, stopped_ms=replace_in_pair(self.stopped_ms, seat, at_ms))
            case entries.Attached(seat=seat) | entries.Detached(seat=seat) if self._has_raced(seat):
                # A player whose race was ended since it was away may come back, and go again.
                return self
            case entries.Detached(seat=seat):
                return replace(self, away_ms=replace_in_pair(self.away_ms, seat, at_ms))
            case entries.Attached(seat=seat):
                return replace(self, away_ms=replace_in_pair(self.away_ms, seat, None))
            case entries.Moved(seat=seat, move=move) if move is RESIGN:
                return replace(self, resigned=replace_in_pair(self.resigned, seat, True))
            case entries.SeatFreed(seat=seat, reason=reason):
                has_left = replace_in_pair(self.has_left, seat, reason == "left")
                return replace(self, has_left=has_left, is_freed=True)
            case entries.RoundVoided():
                return replace(self, is_voided=True)
            case entries.RoundFinished(outcome=outcome):
                return replace(self, outcome=outcome)
            case entries.RoomClosed(reason=reason):
                return replace(self, closing=reason or "")
            case _:
                return self

    def _has_raced(self, seat: int) -> bool:
        """Return whether the race of this seat is over, as far as it was shown."""
        return self.stopped_ms[seat] is not None or self.outcome is not None

    def after_snapshot(self, scene: Scene, at_ms: int) -> "Evidence":
        """Return the evidence after a snapshot of the same round, which stands for entries that were missed.

        A room that waits for a player, or is closed, still shows the result of its last round, without its cards. That
        both players were ready, that the cards were dealt and that the race began are never taken back.
        """

        def later(known: int | None, holds: bool) -> int | None:
            return at_ms if holds and known is None else known if holds else None

        def kept(known: int | None, holds: bool) -> int | None:
            return at_ms if holds and known is None else known

        first, second = scene.seats
        is_dealing = None not in (first.entropy_hash, second.entropy_hash) or scene.outcome is not None
        has_started = scene.phase is Phase.RACING or (scene.outcome is not None and bool(scene.envelopes))
        is_out = scene.phase in (Phase.WAITING, Phase.CLOSED)
        return replace(
            self,
            is_complete=False,
            is_dealt=self.is_dealt or bool(scene.envelopes),
            # Bytes that were shown stay shown: no server takes back that it knew the deck.
            revealed=(self.revealed[0] or first.entropy is not None, self.revealed[1] or second.entropy is not None),
            dealing_ms=kept(self.dealing_ms, is_dealing),
            started_ms=kept(self.started_ms, has_started),
            # The end of a round stops both seats, so its scene does not show whether one had stopped before.
            stopped_ms=self.stopped_ms
            if scene.phase is Phase.FINISHED or is_out
            else (later(self.stopped_ms[0], first.has_stopped), later(self.stopped_ms[1], second.has_stopped)),
            away_ms=(
                later(self.away_ms[0], first.until_ms is not None),
                later(self.away_ms[1], second.until_ms is not None),
            ),
            outcome=scene.outcome,
            is_voided=is_out and scene.outcome is None and scene.secret is not None,
            is_freed=is_out and scene.secret is None,
        )

    def after_said(self, message: Message, at_ms: int) -> "Evidence":
        """Return the evidence after a message of ours was sent."""
        match message:
            case Reveal(round=round_id) if round_id == self.round_id and self.reveal_sent_ms is None:
                return replace(self, reveal_sent_ms=at_ms)
            case Leave():
                return replace(self, has_given_up=True)
            case Play(move=move) if move is RESIGN:
                return replace(self, has_given_up=True)
            case Play(move=move) if move is STOP:
                return replace(self, has_said_stop=True)
            case _:
                return self

    def after_drop(self) -> "Evidence":
        """Return the evidence after our socket ended: bytes that were sent over it may have been lost."""
        return replace(self, reveal_sent_ms=None)

    def after_arrival(self, round_id: bytes, at_ms: int) -> "Evidence":
        """Return the evidence after the server has answered a ping that was sent behind our bytes for this round."""
        if round_id != self.round_id or self.arrived_ms is not None:
            return self
        return replace(self, arrived_ms=at_ms)

    def after_absence(self, absent_ms: int) -> "Evidence":
        """Return the evidence after our connection was down for `absent_ms`."""
        return replace(self, longest_absence_ms=max(self.longest_absence_ms, absent_ms))


def begin_evidence(scene: Scene, seat: int, at_ms: int) -> Evidence:
    """Return the evidence of a client whose own hash has just been shown by an entry, which led to `scene`."""
    assert scene.round is not None, "a player gets ready for a round"
    away = scene.seats[1 - seat].until_ms is not None
    return Evidence(
        scene.round,
        seat,
        scene.options,
        dealing_ms=at_ms if scene.phase is Phase.DEALING else None,
        away_ms=replace_in_pair((None, None), 1 - seat, LONG_AGO_MS if away else None),
    )


def resume_evidence(scene: Scene, seat: int, at_ms: int) -> Evidence:
    """Return the evidence of a client that was started again, and finds itself bound to the round of a snapshot."""
    assert scene.round is not None, "a player is bound to a round"
    return Evidence(scene.round, seat, scene.options, is_own_past_known=False).after_snapshot(scene, at_ms)
