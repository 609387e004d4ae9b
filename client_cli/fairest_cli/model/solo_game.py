"""The race of one player alone on a sealed deal, as the client knows it, with the checks of each entry. Pure.

Every card comes with the key to its envelope, and the envelopes are fixed with the first entry.
"""

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.deal_check import check_layout
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.deal import sealed_pass
from fairest_protocol.calculation.moves import RESIGN, STOP
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import make_envelope
from fairest_protocol.messages.entries import Dealt, Entry, Moved, Started, Turned
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import Value, replace

OWN_SEAT = 0


class SoloGame(Value):
    """A race of ours, alone on its deal. `until_ms` is the end of its time on the server's clock.

    `ahead_ms` is how far our clock is ahead of the server's.
    """

    WHAT: ClassVar[str] = "the deal"
    """The deal in a sentence."""
    rules: Rules
    round_id: bytes
    scene: Scene
    until_ms: int
    ahead_ms: int

    @property
    def own(self) -> SeatScene:
        """Our seat in the scene."""
        return self.scene.seats[OWN_SEAT]

    @property
    def board(self) -> Board:
        """Our board, as far as we have played."""
        assert self.own.board is not None, "a race begins with its deal"
        return self.own.board

    @property
    def envelopes(self) -> Sequence[Sequence[bytes]]:
        """The envelopes of each sealed pass."""
        return self.scene.envelopes

    def seconds_left(self, now_ms: int) -> float:
        """Return the time that the race still has, by our clock."""
        return max(0.0, (self.until_ms + self.ahead_ms - now_ms) / 1000)


_Game = TypeVar("_Game", bound=SoloGame)


def empty_scene(rules: Rules) -> Scene:
    """Return the scene before the first entry."""
    return Scene(options=RoomOptions(rules=rules.name).resolved())


def check_start(rules: Rules, entries: Sequence[Entry], what: str) -> None:
    """Check the entries with which a race on `what`, the deal in a sentence, begins. Raises `Cheated`."""
    if [type(entry) for entry in entries[:3]] != [Dealt, Started, Turned]:
        raise Cheated(f"The server does not begin {what} with its cards.")
    if any(isinstance(entry, (Dealt, Started)) for entry in entries[3:]):
        raise Cheated(f"The server deals {what} a second time.")
    dealt = entries[0]
    assert isinstance(dealt, Dealt), "it was looked at just now"
    check_layout(rules, dealt)
    if (dealt.piles, dealt.redeals) != (rules.piles, rules.redeals):
        raise Cheated(f"The piles and redeals of {what} are not those of its variant.")


def after_deal(game: _Game, entries: Sequence[Entry]) -> _Game:
    """Return the very same game. Raises `Cheated` if these entries, of a race under way, deal once more."""
    if any(isinstance(entry, (Dealt, Started)) for entry in entries):
        raise Cheated(f"The server deals {game.WHAT} a second time.")
    return game


def after_entries(game: _Game, entries: Sequence[Entry]) -> _Game:
    """Return the game after these entries. Raises `Cheated`."""
    for entry in entries:
        game = _after_entry(game, entry)
    return game


def _after_entry(game: _Game, entry: Entry) -> _Game:
    if isinstance(entry, (Turned, Moved)) and entry.seat != OWN_SEAT:
        raise Cheated(f"The server shows the seat of another player in {game.WHAT}.")
    if isinstance(entry, Turned):
        _check_turned(game, entry)
    elif isinstance(entry, Moved):
        _check_moved(game, entry)
    elif not isinstance(entry, (Dealt, Started)):
        # Another type, of a later server.
        return game
    try:
        return replace(game, scene=game.scene.after(entry))
    except ValueError as reason:
        raise Cheated(f"The server shows what cannot be on the board of {game.WHAT}: {reason}.") from reason


def _check_turned(game: SoloGame, entry: Turned) -> None:
    pass_number, position = entry.turn
    before = game.own.turn
    is_later = before is None or entry.turn > before
    if not is_later or pass_number != game.rules.redeals - game.board.redeals:
        raise Cheated(f"The card at {name_place(entry.turn)} was turned out of its order.")
    if pass_number == 0 and position != (0 if before is None else before.position + 1):
        raise Cheated(f"The card at {name_place(entry.turn)} was turned, and not the one before it.")
    if game.board.turned is not None or not game.board.stock:
        raise Cheated(f"The card at {name_place(entry.turn)} was turned while there is none to turn.")
    number = sealed_pass(pass_number, game.envelopes)
    if not position < len(game.envelopes[number]):
        raise Cheated(f"There is no card at {name_place(entry.turn)}.")
    envelope = make_envelope(game.round_id, number, position, entry.card, entry.salt)
    if envelope != game.envelopes[number][position]:
        raise Cheated(f"The card at {name_place(entry.turn)} does not belong to its envelope.")


def _check_moved(game: SoloGame, entry: Moved) -> None:
    if entry.number != game.own.moves + 1:
        raise Cheated(f"The server shows our move {entry.number} behind move {game.own.moves}.")
    illegal = None if entry.move is STOP else game.board.refusal(entry.move)
    if illegal or entry.move is RESIGN or entry.card != game.board.card_of(entry.move):
        raise Cheated(f"The server shows a move of ours that cannot be made: {entry.move}.")
