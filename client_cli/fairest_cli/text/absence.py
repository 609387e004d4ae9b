"""Players who are away: how long a seat waits, what is left of that, and what an absence has cost. Pure.

A seat waits for the grace period of its room from the moment at which the server misses the player. In a race, the
seat's race is stopped after that, and its cards count; in other phases the seat is freed.
"""

from collections.abc import Iterator, Sequence

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.earlier_run import EarlierRun
from fairest_cli.session.connection import Update
from fairest_cli.text.board_text import format_time
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import View
from fairest_protocol.value import replace


def describe_way_back(model: KnownRoom, rejoin_option: str) -> Iterator[str]:
    """Yield the command with which a player comes back to the seat, as long as the match is not over.

    `rejoin_option` is appended to the command.
    """
    if model.own and model.scene and not model.scene.match_is_over:
        yield f"Your seat waits {model.scene.options.grace_seconds} seconds. Come back to it with:"
        yield f"  {model.invitation}{rejoin_option}"


def describe_other_seats(
    model: KnownRoom, rooms: Sequence[str], entered: str | None, rejoin_option: str
) -> Iterator[str]:
    """Yield in which of these rooms, but the one that is `entered`, the player has a seat, with the command for it."""
    for room in rooms:
        if room != entered:
            yield f"You have a seat in {room} as well: {replace(model, room=room).invitation}{rejoin_option}"


def describe_lost(model: KnownRoom, now_ms: int) -> str:
    """Return the sentence about our own lost connection, with what is left of the grace period at `now_ms`."""
    if model.own is None or model.scene is None:
        return "Connection lost. The race goes on without you; reconnecting ..."
    grace_ms, away_ms = model.scene.options.grace_seconds * 1000, model.binding.absent_ms(now_ms)
    if away_ms <= grace_ms:
        left = format_time((grace_ms - away_ms) / 1000)
        return f"Connection lost. Your seat waits {left} more, with all your moves; reconnecting ..."
    return f"Connection lost for {format_time(away_ms / 1000)}; your seat waited {_grace(model)}. Reconnecting ..."


def describe_lost_shortly(model: KnownRoom, now_ms: int) -> str:
    """Return what `describe_lost` says, in at most 49 characters."""
    if model.own is None or model.scene is None:
        return "Connection lost; reconnecting ..."
    left_ms = model.scene.options.grace_seconds * 1000 - model.binding.absent_ms(now_ms)
    if left_ms < 0:
        return "Connection lost for too long. Reconnecting ..."
    return f"Connection lost. Your seat waits {format_time(left_ms / 1000)} more."


def describe_missing(model: KnownRoom, now_ms: int) -> str:
    """Return the sentence about the other players who are away, with what is left of their time; empty for none."""
    return " ".join(f"{name} is away; the seat waits {left} more." for name, left in _missing_players(model, now_ms))


def describe_missing_shortly(model: KnownRoom, now_ms: int) -> str:
    """Return what `describe_missing` says, in at most 48 characters."""
    missing = list(_missing_players(model, now_ms))
    if len(missing) == 2:
        return f"Both are away; the seats wait {missing[0][1]} and {missing[1][1]}."
    return "".join(f"{name} is away; {left} left." for name, left in missing)


def _missing_players(model: KnownRoom, now_ms: int) -> Iterator[tuple[str, str]]:
    """Yield the name of each other player who is away, and how long its seat still waits."""
    if model.scene is None or model.scene.match_is_over:
        return
    for number, seat in enumerate(model.scene.seats):
        if seat.until_ms is not None and seat.name and number != model.seat and not seat.has_stopped:
            left_ms = max(0, seat.until_ms - (now_ms - model.clock_ahead_ms))
            yield clean(seat.name), format_time(left_ms / 1000)


def describe_return(before: KnownRoom, update: Update) -> str:
    """Return the sentence about the end of our own absence with `update`; empty if we were not away.

    `before` is the model before it, which is that of a lost connection, or that of a client that was started again.
    """
    model = update.model
    if update.earlier is not None:
        return _describe_new_start(update.earlier, model)
    if before.status is not ConnectionStatus.LOST or model.status is not ConnectionStatus.CONNECTED:
        return ""
    if model.own is None or before.own is None or model.scene is None:
        return "Connected again."
    away_ms = _away_ms(before, update)
    was_racing = before.phase in (Phase.COUNTDOWN, Phase.RACING) and not before.own.has_stopped
    goes_on = was_racing and model.phase is Phase.RACING and not model.own.has_stopped
    if goes_on and away_ms > model.scene.options.grace_seconds * 1000:
        # A client that was stopped or asleep is missed later, once it does not answer.
        away = f"You were away for {format_time(away_ms / 1000)}, and missed for less than {_grace(model)}"
        return f"Connected again. {away}: your race goes on."
    sentence = f"Connected again. You were away for {format_time(away_ms / 1000)} of {_grace(model)}."
    return f"{sentence} {_describe_stopped_race(model, away_ms) if was_racing else ''}".strip()


def _describe_new_start(earlier: EarlierRun, model: KnownRoom) -> str:
    """Return for how long we were away, and what the absence has cost, after an earlier run of the client had ended."""
    scene = model.scene
    if model.own is None or scene is None:
        return ""
    away_ms = max(0, model.binding.alive_ms - earlier.last_ms)
    sentence = f"You are back. You were away for at most {format_time(away_ms / 1000)} of {_grace(model)}."
    round_id = scene.round.hex() if scene.round else None
    if earlier.is_race_over or earlier.round_id is None:
        return sentence
    if earlier.round_id != round_id:
        return f"{sentence} The round you were in is over."
    return f"{sentence} {_describe_stopped_race(model, away_ms)}".strip()


def _describe_stopped_race(model: KnownRoom, away_ms: int) -> str:
    """Return that our race, which was on before an absence of `away_ms`, was stopped for that; else nothing."""
    own, scene = model.own, model.scene
    if own is None or scene is None or model.seat is None:
        return ""
    is_told = scene.outcome is not None and scene.outcome.scores[model.seat].ending is Ending.AWAY
    is_inferred = scene.outcome is None and own.has_stopped and away_ms >= scene.options.grace_seconds * 1000
    if is_told or is_inferred:
        return f"Your seat's race was stopped after {_grace(model)} away; the cards that you had placed count."
    return ""


def _away_ms(before: KnownRoom, update: Update) -> int:
    """Return for how long we were away: by our own clock, or as long as the server has missed us, if that is longer.

    Our clock says less after the machine was asleep and messages from before were still there: they look like new ones.
    """
    model, message = update.model, update.message
    ours = before.binding.absent_ms(model.binding.alive_ms)
    shown = message.entries if isinstance(message, View) else ()
    missed = next((each for each in shown if isinstance(each, entries.Detached) and each.seat == model.seat), None)
    if missed is None or model.scene is None:
        return ours
    since_ms = missed.until_ms - model.scene.options.grace_seconds * 1000
    return max(ours, model.binding.alive_ms - model.clock_ahead_ms - since_ms)


def is_past_absence(entry: Entry, later: Sequence[Entry], model: KnownRoom) -> bool:
    """Return whether `entry` shows an absence that an entry in `later` ends, or our own one.

    We read of our own absence only once we are back. `later` are the entries behind it in the same message.
    """
    if not isinstance(entry, entries.Detached):
        return False
    return entry.seat == model.seat or any(
        isinstance(other, entries.Attached) and other.seat == entry.seat for other in later
    )


def _grace(model: KnownRoom) -> str:
    seconds = model.scene.options.grace_seconds if model.scene else 0
    return format_time(seconds) if seconds > 99 else f"{seconds} s"
