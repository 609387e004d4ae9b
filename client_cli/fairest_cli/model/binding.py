"""The round to which this client is bound, whether its connection is up, and how the last round ended. Pure."""

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.evidence import LONG_AGO_MS, Evidence, begin_evidence, resume_evidence
from fairest_cli.model.round_end import (
    Alarm,
    Explained,
    Verdict,
    WayOut,
    judge_finish,
    judge_missed,
    judge_void,
    judge_way_out,
)
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value, replace


class RoundEnd(Value):
    """The end of the newest round to which this client was bound, which is not an alarm."""

    round_id: bytes
    verdict: Verdict

    @property
    def explanation(self) -> str:
        """The part of this end that rests on the server's word, in words; empty if the end was proved."""
        return self.verdict.sentence if isinstance(self.verdict, Explained) else ""


class Binding(Value):
    """The evidence that holds the server to a round, over all sockets of this client.

    Times are milliseconds of our own clock. `evidence` is None while we are bound to no round. `alive_ms` is the time
    at which the connection was last known to be up; `down_since_ms` is that time while we are not in the room, and None
    while we are. `last_end` is how the newest round ended, None before the first end.
    """

    evidence: Evidence | None = None
    alive_ms: int = LONG_AGO_MS
    down_since_ms: int | None = LONG_AGO_MS
    last_end: RoundEnd | None = None

    def after_alive(self, now_ms: int) -> "Binding":
        """Return the binding after the server has shown that the connection is up: by a message or a pong."""
        return replace(self, alive_ms=now_ms)

    def after_drop(self) -> "Binding":
        """Return the binding after our socket has ended."""
        evidence = None if self.evidence is None else self.evidence.after_drop()
        down_since_ms = self.alive_ms if self.down_since_ms is None else self.down_since_ms
        return replace(self, evidence=evidence, down_since_ms=down_since_ms)

    def after_return(self, now_ms: int) -> "Binding":
        """Return the binding after the room was shown to us on the present socket, with all that we had missed."""
        return replace(self, alive_ms=now_ms, down_since_ms=None)

    def after_pong(self, now_ms: int) -> "Binding":
        """Return the binding after the server has answered a ping in the room: after a silence, we are back."""
        evidence = None if self.evidence is None else self.evidence.after_absence(self.absent_ms(now_ms))
        return replace(self, evidence=evidence).after_return(now_ms)

    def after_arrival(self, round_id: bytes, now_ms: int) -> "Binding":
        """Return the binding after the server has answered a ping that was sent behind our bytes for this round."""
        return self if self.evidence is None else replace(self, evidence=self.evidence.after_arrival(round_id, now_ms))

    def outside(self) -> "Binding":
        """Return the binding after we have left the room: a room that we enter now is no return."""
        return replace(self, down_since_ms=LONG_AGO_MS)

    def is_bound_to(self, round_id: bytes | None) -> bool:
        """Return whether this is the round to which we are bound."""
        return self.evidence is not None and self.evidence.round_id == round_id

    def absent_ms(self, now_ms: int) -> int:
        """Return for how long the room has not been shown to us; 0 if it is shown on the present socket."""
        return 0 if self.down_since_ms is None else now_ms - self.down_since_ms

    def explanation_since(self, before: "Binding") -> str:
        """Return what rests on the server's word in the end of a round that was judged since `before`.

        Empty if no round was judged, or if its end was proved.
        """
        if self.last_end is None or self.last_end == before.last_end:
            return ""
        return self.last_end.explanation

    def after_said(self, message: Message, now_ms: int) -> "Binding":
        """Return the binding after a message of ours was sent."""
        return self if self.evidence is None else replace(self, evidence=self.evidence.after_said(message, now_ms))

    def after_entry(self, entry: Entry, scene: Scene, seat: int | None, now_ms: int) -> "Binding":
        """Return the binding after an entry, which led to `scene`. Raises `Cheated`.

        The end of a round is judged with the entries that follow it in the same message, by `settle` or by the opening
        of the next round.
        """
        at_ms = now_ms - self.absent_ms(now_ms)
        if isinstance(entry, entries.RoundOpened):
            return self.settle(now_ms)
        if self.evidence is not None:
            return replace(self, evidence=self.evidence.after(entry, scene, at_ms))
        if isinstance(entry, entries.PlayerReady) and entry.seat == seat:
            return replace(self, evidence=begin_evidence(scene, entry.seat, at_ms))
        return self

    def after_snapshot(self, scene: Scene, seat: int | None, now_ms: int) -> "Binding":
        """Return the binding after a snapshot that takes back no seal. Raises `Cheated`."""
        at_ms = now_ms - self.absent_ms(now_ms)
        evidence = self.evidence
        is_bound = seat is not None and scene.round is not None and scene.seats[seat].entropy_hash is not None
        if evidence is not None and evidence.round_id == scene.round:
            evidence = evidence.after_snapshot(scene, at_ms)
        elif evidence is not None and evidence.dealing_ms is not None:
            missed = self._ended(judge_missed(evidence, self.absent_ms(now_ms)))
            return missed.after_snapshot(scene, seat, now_ms)
        elif is_bound and scene.secret is None:
            assert seat is not None, "a spectator is bound to nothing"
            evidence = resume_evidence(scene, seat, at_ms)
        else:
            evidence = None
        return replace(self, evidence=evidence)

    def settle(self, now_ms: int) -> "Binding":
        """Return the binding with a round judged that the entries up to here have ended. Raises `Cheated`."""
        if self.evidence is None:
            return self
        evidence = self.evidence.after_absence(self.absent_ms(now_ms))
        if evidence.is_voided:
            return self._ended(judge_void(evidence))
        if evidence.outcome is not None:
            return self._ended(judge_finish(evidence, evidence.outcome, now_ms))
        if evidence.closing is not None:
            return self._ended(judge_way_out(evidence, WayOut.ROOM_CLOSED, evidence.closing))
        if evidence.is_freed:
            return self._ended(judge_way_out(evidence, WayOut.SEAT_FREED))
        return replace(self, evidence=evidence)

    def after_way_out(self, way_out: WayOut, detail: str, now_ms: int) -> "Binding":
        """Return the binding after a way out of the room that is no entry of the view. Raises `Cheated`."""
        if self.evidence is None:
            return self
        return self._ended(judge_way_out(self.evidence, way_out, detail, self.absent_ms(now_ms)))

    def _ended(self, verdict: Verdict) -> "Binding":
        assert self.evidence is not None, "a round to which we are bound ends"
        if isinstance(verdict, Alarm):
            raise Cheated(verdict.sentence)
        return replace(self, evidence=None, last_end=RoundEnd(self.evidence.round_id, verdict))
