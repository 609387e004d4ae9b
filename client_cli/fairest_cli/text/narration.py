"""The changes in a room as lines of text, for every terminal, pipe and screen reader. Pure."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.model.last_card import awaits_other
from fairest_cli.model.proof import describe_proof
from fairest_cli.session.connection import Update
from fairest_cli.text.absence import describe_return, is_past_absence
from fairest_cli.text.board_text import COLUMNS, describe_board, format_time
from fairest_cli.text.move_text import describe_move, describe_result, describe_series
from fairest_cli.text.room_options import describe_options
from fairest_cli.text.waiting_players import describe_queue
from fairest_cli.untrusted_text import as_json_line, clean
from fairest_protocol.calculation.moves import REDEAL
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import (
    Announcement,
    Error,
    LeftQueue,
    Placed,
    Queued,
    Refused,
    Snapshot,
    View,
    Watching,
    Welcome,
)
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.refusals import Breach


def as_json_lines(before: KnownRoom, update: Update) -> Iterator[str]:  # noqa: ARG001 (`describe_update` has the same parameters)
    """Yield the server's message as one line of JSON; the token of a new player is a secret and left out."""
    message = update.message
    if isinstance(message, Welcome):
        message = message.model_copy(update={"token": None})
    if message is not None:
        yield as_json_line(message)


def describe_update(before: KnownRoom, update: Update) -> Iterator[str]:
    """Yield what a person wants to read about an update: the changes, and the boards if they look different now.

    `before` is the model before the update. The result of a round is printed below the boards, other changes above.
    """
    message = update.message
    shown = message.entries if isinstance(message, View) else ()
    shows_boards = isinstance(message, Snapshot) or any(_changes_board(update.model, entry) for entry in shown)
    is_over = any(isinstance(entry, entries.RoundFinished) for entry in shown)
    if shows_boards and is_over:
        yield from describe_boards(update.model)
    yield from describe_changes(before, update)
    if shows_boards and not is_over:
        yield from describe_boards(update.model)


def describe_changes(before: KnownRoom, update: Update) -> Iterator[str]:
    """Yield a line for each change, without boards.

    A refusal to enter the room is left out: it ends the client, which prints it as its last line.
    """
    model, message = update.model, update.message
    if update.note and (message is not None or before.status is not ConnectionStatus.LOST):
        yield clean(update.note)
    if returned := describe_return(before, update):
        yield from wrap(returned, COLUMNS)
    match message:
        case Snapshot() if before.scene is None:
            yield from _describe_snapshot(model)
        case Snapshot():
            yield from _describe_setback(before, model)
        case View(entries=shown):
            for index, entry in enumerate(shown):
                if not is_past_absence(entry, shown[index + 1 :], model):
                    yield from describe_entry(before, model, entry)
        case Queued() | LeftQueue():
            yield from describe_queue(before, message)
        case Placed(placed=placed) if model.phase is Phase.RACING and placed != before.placed:
            yield "Cards placed: " + ", ".join(f"{_name(model, seat)} {count}" for seat, count in enumerate(placed))
        case Watching(watching=watching) if watching != before.watching:
            yield f"Spectators: {watching}"
        case Refused(to=to, sentence=sentence) if to not in ENTRANCES:
            yield clean(sentence)
        case Announcement(text=text):
            yield describe_announcement(text)
        case Error(code=Breach.RESTARTING, sentence=sentence):
            yield clean(sentence)
        case _:
            pass


def describe_boards(model: KnownRoom) -> Iterator[str]:
    """Yield the boards that this viewer may see: a player's own, both for a spectator."""
    scene = model.scene
    if scene is None or scene.phase not in (Phase.RACING, Phase.FINISHED):
        return
    for number in (0, 1) if model.seat is None else (model.seat,):
        board = scene.seats[number].board
        if board is not None:
            yield ""
            yield f"{_name(model, number)}: {board.placed} of {board.goal} cards"
            yield from describe_board(board)


def describe_time_left(model: KnownRoom, now_ms: int) -> str:
    """Return how long the present phase lasts at most. `now_ms` is the time of our own clock."""
    until_ms = model.scene.until_ms if model.scene else None
    if until_ms is None:
        return "There is no time limit right now."
    left_ms = max(0, until_ms - (now_ms - model.clock_ahead_ms))
    return f"{format_time(left_ms / 1000)} left."


def _describe_setback(before: KnownRoom, model: KnownRoom) -> Iterator[str]:
    """Yield a sentence for each thing that the server had shown and has lost, because a Redis that lagged behind took
    over.
    """
    was, now = before.scene, model.scene
    if was is None or now is None:
        return
    if was.round != now.round:
        if before.seat is not None:
            yield "This is not the round that you were in: that round is lost."
        return
    lost = [max(0, was.seats[seat].moves - now.seats[seat].moves) for seat in (0, 1)]
    if any(lost):
        whose = " and ".join(f"{count} of {_name(model, seat)}" for seat, count in enumerate(lost) if count)
        yield f"Moves that are lost: {whose}. Everybody in this room continues from here:"


def _describe_snapshot(model: KnownRoom) -> Iterator[str]:
    scene = model.scene
    if scene is None:
        return
    yield from wrap(f"Room {model.room}: {', '.join(describe_options(scene.options))}.", COLUMNS)
    if model.seat is not None and scene.options.spectators is Spectators.OPEN:
        yield from wrap(OPEN_ROOM, COLUMNS)
    if scene.phase is Phase.WAITING and model.seat is not None:
        yield "Waiting for the other player, who joins with:"
        yield f"  {model.invitation}"
    if scene.phase is Phase.READY:
        yield "Both players are here."
    if model.seal_check.check_words and scene.phase in (Phase.COUNTDOWN, Phase.RACING):
        yield "Check words, the same for everybody who sees this deal:"
        yield f"  {' '.join(model.seal_check.check_words)}"
    if model.seat is None and scene.options.spectators is Spectators.OPEN:
        yield "You are watching, and see everything at once."
    elif model.seat is None:
        yield "You are watching. A card that only one player has seen stays hidden"
        yield "until the other player has seen it too."


def describe_entry(before: KnownRoom, model: KnownRoom, entry: Entry) -> Iterator[str]:
    """Yield what an entry changed; `before` and `model` are the models before and after the message that had it."""
    match entry:
        case entries.Seated(name=name):
            yield f"{clean(name)} joins."
        case entries.SeatFreed(seat=seat, reason=reason):
            name = "You" if seat == model.seat else _name(before, seat)
            yield f"{name} {FREED[reason]}; seat {seat + 1} is free."
        case entries.Attached(seat=seat) if before.scene and before.scene.seats[seat].until_ms is not None:
            yield f"{_name(model, seat)} is back."
        case entries.Detached(seat=seat) if model.scene and model.scene.match_is_over:
            yield f"{_name(model, seat)} is away."
        case entries.Detached(seat=seat) if model.scene:
            yield f"{_name(model, seat)} is away; the seat waits {model.scene.options.grace_seconds} seconds."
        case entries.Paused(length_ms=length_ms):
            yield f"The server was away for {format_time(length_ms / 1000)}. All clocks stood still meanwhile."
        case entries.RoundOpened(round_number=number):
            yield f"Round {number}. The server has sealed its part of the deck: {entry.commitment.hex()[:16]}, signed."
        case entries.RoundVoided():
            yield "The round is called off."
        case entries.PlayerReady(seat=seat):
            yield "You are ready." if seat == model.seat else f"{_name(model, seat)} is ready."
        case entries.Dealt():
            yield "The cards are dealt and sealed. Both players see the same check words:"
            yield f"  {' '.join(model.seal_check.check_words)}"
            yield "Get set ..."
        case entries.Started() if model.seat is not None:
            yield "Go! You see the other player's moves once you have turned the same cards,"
            yield "and every few seconds, how many cards each of you has placed."
        case entries.Moved(seat=seat) if seat == model.seat and awaits_other(model):
            yield from wrap(AWAITS_OTHER, COLUMNS)
        case entries.Moved(seat=seat, move=move, card=card) if seat != model.seat and (card or move is REDEAL):
            yield describe_move(_name(model, seat), move, card)
        case entries.Stopped(seat=seat):
            yield from _describe_stopped(model, seat)
        case entries.FinishAsked(seat=seat) if seat != model.seat:
            wish = "you to finish: type stop to end your race here" if model.own else "the other player to finish"
            yield f"{_name(model, seat)} has finished and asks {wish}."
        case entries.RoundFinished():
            yield from _describe_finished(model, entry)
        case entries.RematchWanted(seat=seat):
            yield from _describe_rematch(model, seat)
        case entries.RoomClosed(reason=reason):
            yield describe_closing(reason)
        case _:
            pass


def _describe_finished(model: KnownRoom, entry: entries.RoundFinished) -> Iterator[str]:
    yield ""
    yield f"The round is over after {format_time(entry.duration_ms / 1000)}."
    yield from describe_result(entry.outcome, [_name(model, 0), _name(model, 1)])
    yield from describe_proof(model.seal_check)
    yield from wrap(clean(describe_end(model)), COLUMNS)
    if model.scene and model.scene.options.best_of > 1:
        state = "The match is over:" if entry.match_is_over else "The match stands at"
        more, fewer = max(entry.wins), min(entry.wins)
        leader = "" if more == fewer else f" for {_name(model, entry.wins.index(more))}"
        yield f"{state} {more} to {fewer}{leader}."
    if model.scene and entry.match_is_over:
        series = describe_series([seat.matches_won for seat in model.scene.seats], [_name(model, 0), _name(model, 1)])
        if series:
            yield f"{series}."


def describe_end(model: KnownRoom) -> str:
    """Return what rests on the server's word in the end of a round, and that its room was open; empty for neither."""
    scene, end = model.scene, model.binding.last_end
    if scene is None:
        return ""
    explanation = end.explanation if end is not None and end.round_id == scene.round else ""
    return " ".join(filter(None, (explanation, OPEN_ROUND if scene.options.spectators is Spectators.OPEN else "")))


def _describe_rematch(model: KnownRoom, seat: int) -> Iterator[str]:
    if seat == model.seat:
        yield "You want a rematch; waiting for the other player."
    elif model.own and not model.own.wants_rematch:
        yield f"{_name(model, seat)} wants a rematch: type rematch."
    else:
        yield f"{_name(model, seat)} wants a rematch."


OPEN_ROOM: Final = """\
Beware: this room is open. Anybody who watches it sees every card and move at once, before the other
player has turned that card. So an open room hides nothing, from the players either."""
OPEN_ROUND: Final = "The room was open: anybody who watched it saw cards early."


ENTRANCES: Final = ("hello", "create", "queue", "join", "watch", "resume")


def describe_announcement(text: str) -> str:
    """Return the sentence that shows an announcement of the operator."""
    return f"The operator announces: {clean(text)}"


def describe_closing(reason: str | None) -> str:
    """Return the sentence about a room that is closed, with the operator's reason if there is one."""
    return f"The room was closed by the operator: {clean(reason)}" if reason else "The room is closed."


AWAITS_OTHER: Final = (
    "You have placed every card. The other player is farther away, and may still be first once distance is credited: "
    "the result comes within seconds."
)


FREED: Final = {
    "left": "left",
    "not_ready": "was not ready in time",
    "away": "stayed away too long",
    "closed": "must leave",
}


def _describe_stopped(model: KnownRoom, seat: int) -> Iterator[str]:
    if seat == model.seat:
        yield "Your race has ended; your cards count. The other player may still be racing."
    elif model.scene and model.seat is not None and not model.scene.seats[model.seat].has_stopped:
        chase = format_time(model.scene.options.chase_seconds)
        yield f"{_name(model, seat)} has stopped. You have {chase} left at most, and your cards count."
    else:
        yield f"{_name(model, seat)} has stopped."


def _changes_board(model: KnownRoom, entry: Entry) -> bool:
    """Return whether to print a board again: a player's own for its own moves only, a spectator's for all moves."""
    if isinstance(entry, entries.Moved) and entry.card is None and entry.move is not REDEAL:
        return False
    return isinstance(entry, (entries.Moved, entries.Turned)) and model.seat in (None, entry.seat)


def describe_broken_seal(reason: Cheated, receipts: Path) -> Iterator[str]:
    """Yield what a player has to know when the server was caught cheating; `receipts` is the folder with receipts."""
    yield f"fairest: THE SEAL IS BROKEN. {clean(str(reason))}"
    yield "Stop playing on this server, and keep your receipt: it shows what the server said."
    yield f"Receipts are in {receipts}"


def player_name(model: KnownRoom, seat: int) -> str:
    """Return the name of the player in `seat`, or the number of a free seat, safe for a terminal."""
    name = model.scene.seats[seat].name if model.scene else None
    return clean(name or f"seat {seat + 1}")


def _name(model: KnownRoom, seat: int) -> str:
    name = player_name(model, seat)
    return f"{name} (you)" if seat == model.seat and name != "you" else name
