"""How a round ended for a client that was bound to it: proved, explained by what the client was shown, or an alarm.

Pure. The table of all ways out and what proves them is in docs/fairness.md ("Every way out of a round").
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from fairest_cli.model.evidence import Evidence
from fairest_protocol.calculation.race import Ending, Outcome
from fairest_protocol.value import Value

TOLERANCE_MS: Final = 5000
"""How much earlier than by our clock a time may be over for the server: messages are late, and clocks differ a little.

A server never gains more than this by its own clock.
"""


class Proved(Value):
    """The deal was opened, and everything in the result follows from it and from what this client saw by itself."""


class Explained(Value):
    """The end agrees with all that this client was shown; `sentence` says what rests on the server's word."""

    sentence: str


class Alarm(Value):
    """The end does not follow from what this client was shown and sent; `sentence` says what shows it."""

    sentence: str


Verdict = Proved | Explained | Alarm


class WayOut(StrEnum):
    """A way out of a round other than a result; the values stand in receipts."""

    LEFT = "left"
    SEAT_FREED = "seat_freed"
    ROOM_CLOSED = "room_closed"
    REFUSED = "refused"
    REPLACED = "replaced"
    BANNED = "banned"
    BAD_TOKEN = "bad_token"
    CLOSED = "closed"
    CONTRADICTION = "contradiction"
    QUIT = "quit"


_DEEDS: Final = {
    WayOut.LEFT: "The server put you out of the room without being asked",
    WayOut.SEAT_FREED: "The server freed a seat",
    WayOut.ROOM_CLOSED: "The operator broke off the round and closed the room",
    WayOut.REFUSED: "The server does not let you back into the room",
    WayOut.REPLACED: "The server says that another connection of yours took the seat; if you opened none, it lies",
    WayOut.BANNED: "The operator broke off the round by a ban",
    WayOut.BAD_TOKEN: "The server says that it does not know your token any more",
    WayOut.CLOSED: "The server ended the connection for good",
    WayOut.CONTRADICTION: "The server contradicted itself",
    WayOut.QUIT: "Broken off, not proved: the server did not answer any more",
}
_AFTER_ABSENCE: Final = (WayOut.REFUSED, WayOut.BAD_TOKEN, WayOut.CLOSED)
"""Ways out that an honest server has for a client that comes back too late."""


def judge_way_out(evidence: Evidence, way_out: WayOut, detail: str = "", absent_ms: int = 0) -> Verdict:
    """Judge a way out without a result. `detail` has the server's words; `absent_ms` is how long we have been cut off.

    0 means that the connection was up.
    """
    if evidence.has_given_up:
        return Explained("You left before the round was over, so its deal was not proved to you.")
    if way_out is WayOut.QUIT and not absent_ms:
        return Explained("Broken off, not proved: your client ended before the round was over.")
    if way_out in _AFTER_ABSENCE and absent_ms and absent_ms >= _least(evidence.options.grace_seconds):
        return Explained(
            f"You were cut off for {_seconds(absent_ms)}, and the seat waits "
            f"{_seconds(evidence.options.grace_seconds * 1000)}: the round may be over. Its end was not proved to you."
        )
    words = f" ({detail})" if detail else ""
    knows = (
        "Both players were bound to the round, and it never opened its commitment."
        if evidence.dealing_ms is not None
        else "You were bound to the round, and it never opened its commitment."
    )
    return Alarm(f"{_DEEDS[way_out]}{words}. {knows}")


def judge_missed(evidence: Evidence, absent_ms: int) -> Verdict:
    """Judge the end of a round to which both players were committed, and of which we were shown nothing.

    The room shows another round or none. We have been cut off for `absent_ms`.
    """
    if absent_ms and absent_ms >= _least(evidence.options.grace_seconds):
        return Explained(
            f"You were cut off for {_seconds(absent_ms)}, and the room has gone on since. The end of the round was not "
            "proved to you; the record of its match has it."
        )
    return Alarm(
        "The server has dropped a round to which both players were committed, and never showed its secret. Unless its "
        "Redis has lost the round, the server did not like the deck."
    )


def judge_void(evidence: Evidence) -> Verdict:
    """Judge a round that was called off, and whose commitment was opened as it should be."""
    if evidence.dealing_ms is not None:
        return Alarm("The server calls off a round to which both players were committed.")
    return Explained("The round was called off before both players were ready, so there was no deck.")


def judge_finish(evidence: Evidence, outcome: Outcome, now_ms: int) -> Verdict:
    """Judge the endings in a result. Its deal, moves and counts were checked before, as far as there are any."""
    if not evidence.is_dealt and all(evidence.revealed):
        return Alarm("Both players had shown their bytes, so the server knew the deck; it ended the round undealt.")
    if evidence.is_dealt and any(score.ending is Ending.NOT_REVEALED for score in outcome.scores):
        return Alarm("The server says that a player did not show its bytes; it had dealt the cards from them.")
    verdicts = [_judge_seat(evidence, seat, score.ending, now_ms) for seat, score in enumerate(outcome.scores)]
    alarms = [verdict for verdict in verdicts if isinstance(verdict, Alarm)]
    if alarms:
        return alarms[0]
    reasons = _unique(verdict.sentence for verdict in verdicts if isinstance(verdict, Explained))
    if evidence.is_dealt and not evidence.is_complete:
        reasons.append("Your client missed a part of this round: only the record of the match proves the counts.")
    return Explained(" ".join(reasons)) if reasons else Proved()


def _judge_seat(evidence: Evidence, seat: int, ending: Ending, now_ms: int) -> Verdict:
    is_own = seat == evidence.seat
    if evidence.stopped_ms[seat] is not None and ending in (Ending.OUT_OF_TIME, Ending.ROUND_OVER):
        return Alarm(f"The server had shown that the race of seat {seat + 1} was over, and says that it ended later.")
    match ending:
        case Ending.RESIGNED:
            return _judge_own_resignation(evidence) if is_own else _judge_resignation(evidence, seat)
        case Ending.NOT_REVEALED:
            return _judge_own_silence(evidence, now_ms) if is_own else _judge_silence(evidence, seat, now_ms)
        case Ending.AWAY:
            return _judge_own_absence(evidence) if is_own else _judge_absence(evidence, seat, now_ms)
        case Ending.OUT_OF_TIME:
            return _judge_time(evidence, now_ms)
        case Ending.STOPPED if is_own and evidence.is_own_past_known and not evidence.has_said_stop:
            return Alarm("The server says that you stopped. You did not.")
        case _:
            # Won, stuck, stopped and round_over follow from the moves: replayed, or else `judge_finish` says so.
            return Proved()


def _judge_own_resignation(evidence: Evidence) -> Verdict:
    if evidence.has_given_up:
        return Proved()
    if not evidence.is_own_past_known:
        return Explained("The server says that you resigned, before this client was started again.")
    return Alarm("The server says that you resigned. You did not.")


def _judge_resignation(evidence: Evidence, seat: int) -> Verdict:
    if evidence.resigned[seat] or evidence.has_left[seat] or not evidence.is_complete:
        return Explained("The server says that the other player resigned; only that player's client can check this.")
    return Alarm("The server says that the other player resigned, and has shown neither a resignation nor a leaving.")


def _judge_own_silence(evidence: Evidence, now_ms: int) -> Verdict:
    deed = "The server says that you did not show your bytes in time."
    limit_ms, absent_ms = evidence.options.reveal_seconds * 1000, evidence.longest_absence_ms
    if evidence.revealed[evidence.seat]:
        return Alarm(f"{deed} It had shown them to everybody.")
    if evidence.dealing_ms is None:
        if absent_ms >= _least(evidence.options.reveal_seconds):
            return Explained(f"{deed} Your connection was down for {_seconds(absent_ms)}.")
        return Alarm(f"{deed} It had not even shown you that the other player was ready.")
    if now_ms - evidence.dealing_ms < _least(evidence.options.reveal_seconds):
        return Alarm(f"{deed} You had only {_seconds(now_ms - evidence.dealing_ms)} of {_seconds(limit_ms)}.")
    if evidence.arrived_ms is not None and evidence.arrived_ms - evidence.dealing_ms <= limit_ms // 2:
        took = _seconds(evidence.arrived_ms - evidence.dealing_ms)
        return Alarm(f"{deed} It had them after {took}: it answered a ping that was sent behind them.")
    sent_ms = evidence.reveal_sent_ms
    if sent_ms is not None and sent_ms - evidence.dealing_ms <= limit_ms // 2:
        took = _seconds(sent_ms - evidence.dealing_ms)
        return Alarm(f"{deed} You sent them after {took}, over a connection that has been up since.")
    if absent_ms:
        return Explained(f"{deed} Your connection was down for {_seconds(absent_ms)}.")
    return Explained(f"{deed} Your client sent them late or not at all.")


def _judge_silence(evidence: Evidence, seat: int, now_ms: int) -> Verdict:
    deed = "The server says that the other player did not show its bytes in time"
    if evidence.revealed[seat]:
        return Alarm(f"{deed}. It had shown them to everybody.")
    if evidence.dealing_ms is None:
        return Alarm(f"{deed}. It had not shown that this player was ready.")
    if now_ms - evidence.dealing_ms < _least(evidence.options.reveal_seconds):
        limit_ms = evidence.options.reveal_seconds * 1000
        return Alarm(f"{deed}, {_seconds(now_ms - evidence.dealing_ms)} into the {_seconds(limit_ms)} for that.")
    return Explained(f"{deed}; only that player's client can check this.")


def _judge_own_absence(evidence: Evidence) -> Verdict:
    absent_ms, grace_ms = evidence.longest_absence_ms, evidence.options.grace_seconds * 1000
    if absent_ms and absent_ms >= _least(evidence.options.grace_seconds):
        return Explained(f"Your connection was down for {_seconds(absent_ms)}, so your race ended.")
    longest = f"was down for {_seconds(absent_ms)} at most" if absent_ms else "was up all the time"
    return Alarm(f"The server says that you were away for {_seconds(grace_ms)}. Your connection {longest}.")


def _judge_absence(evidence: Evidence, seat: int, now_ms: int) -> Verdict:
    deed, away_ms = "The server says that the other player was away too long", evidence.away_ms[seat]
    if away_ms is None and evidence.is_complete:
        return Alarm(f"{deed}, and has not shown that this player was gone.")
    if away_ms is not None and now_ms - away_ms < _least(evidence.options.grace_seconds):
        grace_ms = evidence.options.grace_seconds * 1000
        return Alarm(f"{deed}: {_seconds(now_ms - away_ms)} of the {_seconds(grace_ms)} that the seat waits.")
    return Explained(f"{deed}; only that player's client can check this.")


def _judge_time(evidence: Evidence, now_ms: int) -> Verdict:
    options, started_ms = evidence.options, evidence.started_ms
    left_ms = None
    if started_ms is not None:
        ends = [started_ms + options.limit_seconds * 1000]
        ends += [max(started_ms, at) + options.chase_seconds * 1000 for at in evidence.stopped_ms if at is not None]
        left_ms = min(ends) - now_ms
        if left_ms <= TOLERANCE_MS:
            return Proved()
    if evidence.closing is not None:
        reason = f": {evidence.closing}" if evidence.closing else "."
        return Explained(
            f"The round was broken off by the operator after the deck was fixed{reason} The deal is proved, and the "
            "cards placed until then decide."
        )
    if left_ms is None:
        return Alarm("The server says that time ran out. The race had not started.")
    return Alarm(f"The server says that time ran out. By your clock, {_seconds(left_ms)} were left.")


def _least(seconds: int) -> int:
    """Return how many milliseconds of our clock have passed at least when `seconds` are over for the server."""
    return seconds * 1000 - TOLERANCE_MS


def _seconds(milliseconds: int) -> str:
    count = f"{milliseconds / 1000:.1f}".removesuffix(".0")
    return f"{count} second{'' if count == '1' else 's'}"


def _unique(sentences: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(sentences))
