"""The plain face: what changed, as lines of text for every terminal, pipe and screen reader. Pure."""

from collections.abc import Iterator
from typing import Final

from client_cli.connection import Update
from client_cli.drawing import clean, draw_board, draw_result, format_time
from client_cli.model import Model
from protocol.calculation.cards import rank, rank_name
from protocol.messages import entries
from protocol.messages.codec import encode
from protocol.messages.entries import Entry
from protocol.messages.fields import Phase
from protocol.messages.from_server import Error, Placed, Refused, Snapshot, View, Welcome

HELP: Final = """\
A move is where from, then where to:
  s1 ... s8  the turned card to a foundation
  sa ... sh  the turned card onto a waste pile
  a1 ... h8  the top of a waste pile to a foundation
  redeal     when the stock is empty, if the rules have a redeal
  stop       end your race and keep what you have placed
  resign     give the round up
Each foundation takes the rank that it says it needs, whatever the suit.
Cards never go from pile to pile, and nothing leaves a foundation. Who first
places every card wins; if nobody can, more cards win.
Other words: ready, board, sequences, rematch, leave, help."""


def tell_json(before: Model, update: Update) -> Iterator[str]:  # noqa: ARG001 (the two ways to tell are called alike)
    """The server's message as one line; a new player's token is for nobody's eyes and left out."""
    message = update.message
    if isinstance(message, Welcome):
        message = message.model_copy(update={"token": None})
    if message is not None:
        yield encode(message).decode()


def tell(before: Model, update: Update) -> Iterator[str]:
    """What a person wants to read about this change: the news, then the boards if they look different now."""
    yield from tell_news(before, update)
    message = update.message
    if isinstance(message, Snapshot) or (
        isinstance(message, View) and any(_changes_drawing(update.model, entry) for entry in message.entries)
    ):
        yield from draw(update.model)


def tell_news(before: Model, update: Update) -> Iterator[str]:
    """What happened, without boards."""
    if update.note:
        yield f"{clean(update.note)} Trying again ..."
    model, message = update.model, update.message
    match message:
        case Snapshot():
            yield from _tell_snapshot(model)
        case View(entries=shown):
            for entry in shown:
                yield from _tell_entry(model, entry)
        case Placed(placed=placed) if model.phase is Phase.RACING and placed != before.placed:
            yield "Placed now: " + ", ".join(f"{_name(model, seat)} {count}" for seat, count in enumerate(placed))
        case Refused(sentence=sentence) | Error(sentence=sentence):
            yield clean(sentence)
        case _:
            pass


def draw(model: Model) -> Iterator[str]:
    """The boards that this viewer looks at: a player's own, both for a spectator."""
    scene = model.scene
    if scene is None or scene.phase not in (Phase.RACING, Phase.FINISHED):
        return
    for number in (0, 1) if model.seat is None else (model.seat,):
        board = scene.seats[number].board
        if board is not None:
            yield ""
            yield f"{_name(model, number)}: {board.placed} of {board.goal} cards"
            yield from draw_board(board)


def _tell_snapshot(model: Model) -> Iterator[str]:
    scene = model.scene
    if scene is None:
        return
    yield f"Room {model.room}: {clean(scene.options.rules)}, {scene.phase}"
    if scene.phase is Phase.WAITING and model.seat is not None:
        yield f"Waiting for the other player, who types: fairest join {model.room}"
    if model.seat is None:
        yield "You watch: what only one player has seen stays hidden until the other has seen it too."


def _tell_entry(model: Model, entry: Entry) -> Iterator[str]:
    match entry:
        case entries.Seated(name=name):
            yield f"{clean(name)} sits down."
        case entries.SeatFreed(seat=seat, reason=reason):
            yield f"Seat {seat + 1} is free: its player {FREED[reason]}."
        case entries.Attached(seat=seat) if seat != model.seat:
            yield f"{_name(model, seat)} is here."
        case entries.Detached(seat=seat) if model.scene:
            yield f"{_name(model, seat)} lost the connection; the seat waits {model.scene.options.grace_seconds} s."
        case entries.RoundOpened(number=number):
            yield f"Round {number} is open, sealed under {entry.commitment.hex()[:16]}..."
        case entries.RoundVoided():
            yield "The round is called off."
        case entries.PlayerReady(seat=seat):
            yield f"{_name(model, seat)} is ready."
        case entries.Dealt():
            yield "The cards are dealt. Get set ..."
        case entries.Started():
            yield "Go!"
        case entries.Moved(seat=seat, move=move, card=card) if seat != model.seat:
            yield f"{_name(model, seat)} plays {move}" + (f" ({rank_name(rank(card))})" if card else "")
        case entries.Stopped(seat=seat):
            yield from _tell_stopped(model, seat)
        case entries.RoundFinished(outcome=outcome, wins=wins, duration_ms=duration_ms):
            yield f"The round is over after {format_time(duration_ms / 1000)}."
            yield from draw_result(outcome, [_name(model, 0), _name(model, 1)])
            if entry.match_is_over:
                yield f"The match is over, {wins[0]} to {wins[1]}."
        case entries.RematchWanted(seat=seat) if seat != model.seat:
            yield f"{_name(model, seat)} wants a rematch: type rematch."
        case entries.RoomClosed():
            yield "The room is closed."
        case _:
            pass


FREED: Final = {"left": "left", "not_ready": "was not ready in time", "away": "stayed away too long"}


def _tell_stopped(model: Model, seat: int) -> Iterator[str]:
    if seat == model.seat:
        yield "Your race has ended; your cards count. The other player may still be racing."
    elif model.scene and model.seat is not None and not model.scene.seats[model.seat].has_stopped:
        yield f"{_name(model, seat)} has stopped. You have {model.scene.options.chase_seconds} seconds at most."
    else:
        yield f"{_name(model, seat)} has stopped."


def _changes_drawing(model: Model, entry: Entry) -> bool:
    """A player's board is drawn again for its own moves only; a spectator's for everybody's."""
    if isinstance(entry, (entries.Moved, entries.Turned)):
        return model.seat in (None, entry.seat)
    return False


def _name(model: Model, seat: int) -> str:
    name = model.scene.seats[seat].name if model.scene else None
    return clean(name or f"seat {seat + 1}") + (" (you)" if seat == model.seat and name != "you" else "")
