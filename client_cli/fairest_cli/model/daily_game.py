"""An attempt at a daily deal as the client knows it, with the checks that hold the server to the sealed deal. Pure.

Every card comes with the key to its envelope, and the envelopes are fixed with the first answer. The secret is shown
when the day is over: `check_opening` then deals the deck again.
"""

from collections.abc import Sequence

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.deal_check import check_layout, first_wrong_envelope
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.daily import LIMIT_MS, daily_round_id, daily_seed
from fairest_protocol.calculation.deal import seal_deal, sealed_pass
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import commit_secret, make_envelope
from fairest_protocol.messages.daily import AttemptResult, DailySeal, DailyView
from fairest_protocol.messages.entries import Dealt, Entry, Moved, Started, Turned
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import Value, replace

OWN_SEAT = 0


class DailyGame(Value):
    """An attempt of ours: what the server has shown of it. `until_ms` is the end of its time on the server's clock.

    `ahead_ms` is how far our clock is ahead of the server's.
    """

    rules: Rules
    day: str
    seal: DailySeal
    scene: Scene
    until_ms: int
    ahead_ms: int
    result: AttemptResult | None = None

    @property
    def own(self) -> SeatScene:
        """Our seat in the scene."""
        return self.scene.seats[OWN_SEAT]

    @property
    def board(self) -> Board:
        """Our board, as far as we have played."""
        assert self.own.board is not None, "an attempt begins with its deal"
        return self.own.board

    @property
    def envelopes(self) -> Sequence[Sequence[bytes]]:
        """The envelopes of each sealed pass."""
        return self.scene.envelopes

    def seconds_left(self, now_ms: int) -> float:
        """Return the time that the attempt still has, by our clock."""
        return max(0.0, (self.until_ms + self.ahead_ms - now_ms) / 1000)


def begin_daily(rules: Rules, view: DailyView, now_ms: int, known: DailyGame | None = None) -> DailyGame:
    """Return the attempt that the answer to `daily` shows. `known` is the same attempt before our connection broke.

    Raises `Cheated` for an answer that breaks the seal, or contradicts what was shown before.
    """
    seal = view.seal
    if view.rules != rules.name or seal is None:
        raise Cheated("The server shows another daily deal than the one that was asked for.")
    if seal.round != daily_round_id(view.day, rules):
        raise Cheated("The round of the daily deal is not that of its day and its variant.")
    kinds = [type(entry) for entry in view.entries[:3]]
    if kinds != [Dealt, Started, Turned]:
        raise Cheated("The server does not begin the daily deal with its cards.")
    dealt = view.entries[0]
    assert isinstance(dealt, Dealt), "it was looked at just now"
    check_layout(rules, dealt)
    if (dealt.piles, dealt.redeals) != (rules.piles, rules.redeals):
        raise Cheated("The piles and redeals of the daily deal are not those of its variant.")
    scene = Scene(options=RoomOptions(rules=rules.name).resolved())
    game = DailyGame(rules, view.day, seal, scene, view.until_ms, now_ms - view.now_ms)
    for entry in view.entries:
        game = _after_entry(game, entry)
    game = _with_result(game, view)
    if known is not None:
        _compare(known, game)
    return game


def after_view(game: DailyGame, view: DailyView) -> DailyGame:
    """Return the attempt after the answer to a move of ours. Raises `Cheated`."""
    if (view.day, view.rules) != (game.day, game.rules.name):
        raise Cheated("The server answers a move with another daily deal.")
    if any(isinstance(entry, (Dealt, Started)) for entry in view.entries):
        raise Cheated("The server deals the daily deal a second time.")
    for entry in view.entries:
        game = _after_entry(game, entry)
    return _with_result(replace(game, until_ms=view.until_ms), view)


def refusal_of(game: DailyGame, move: Move) -> str:
    """Return why a move cannot be made now, or nothing if it can."""
    if game.result is not None:
        return "Your attempt is over; each player has one a day."
    if move is RESIGN:
        return "Nobody races here against whom you could resign; stop ends your attempt."
    illegal = None if move is STOP else game.board.refusal(move)
    return SENTENCES[Refusal(illegal)] if illegal else ""


def check_opening(game_seal: DailySeal, rules: Rules, secret: bytes, envelopes: Sequence[Sequence[bytes]]) -> None:
    """Deal the deck of a day that is over again, and compare it with the envelopes that we were shown.

    Raises `Cheated`. Without `envelopes`, because we did not race, only the commitment is compared.
    """
    if commit_secret(game_seal.round, secret) != game_seal.commitment:
        raise Cheated("The secret of the daily deal does not belong to its commitment.")
    sealed = seal_deal(rules, daily_seed(secret, game_seal.beacon, game_seal.round), game_seal.round)
    wrong = first_wrong_envelope(envelopes, sealed.envelopes) if envelopes else None
    if wrong is not None:
        raise Cheated(f"The envelope at {name_place(wrong)} of the daily deal holds another deal's card.")


def _after_entry(game: DailyGame, entry: Entry) -> DailyGame:
    if isinstance(entry, (Turned, Moved)) and entry.seat != OWN_SEAT:
        raise Cheated("The server shows the seat of another player in a daily deal.")
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
        raise Cheated(f"The server shows what cannot be on the board of the daily deal: {reason}.") from reason


def _check_turned(game: DailyGame, entry: Turned) -> None:
    pass_number, position = entry.turn
    before = game.own.turn
    if before is not None and entry.turn <= before:
        raise Cheated(f"The card at {name_place(entry.turn)} was turned out of its order.")
    if pass_number == 0 and position != (0 if before is None else before.position + 1):
        raise Cheated(f"The card at {name_place(entry.turn)} was turned, and not the one before it.")
    number = sealed_pass(pass_number, game.envelopes)
    if not position < len(game.envelopes[number]):
        raise Cheated(f"There is no card at {name_place(entry.turn)}.")
    envelope = make_envelope(game.seal.round, number, position, entry.card, entry.salt)
    if envelope != game.envelopes[number][position]:
        raise Cheated(f"The card at {name_place(entry.turn)} does not belong to its envelope.")


def _check_moved(game: DailyGame, entry: Moved) -> None:
    if entry.number != game.own.moves + 1:
        raise Cheated(f"The server shows our move {entry.number} behind move {game.own.moves}.")
    illegal = None if entry.move is STOP else game.board.refusal(entry.move)
    if illegal or entry.move is RESIGN or entry.card != game.board.card_of(entry.move):
        raise Cheated(f"The server shows a move of ours that cannot be made: {entry.move}.")


def _with_result(game: DailyGame, view: DailyView) -> DailyGame:
    """Return the game with the result that the server shows, which has to be that of our board."""
    result = view.result
    if view.moves != game.own.moves:
        raise Cheated(f"The server counts {view.moves} moves of ours, and has shown {game.own.moves}.")
    if result is None:
        return game
    board = game.board
    if (result.won, result.placed, result.goal, result.direct) != (
        board.is_won,
        board.placed,
        board.goal,
        board.direct,
    ):
        raise Cheated("The result of the daily deal is not that of our board.")
    if result.time_ms > LIMIT_MS or result.rank > result.ended:
        raise Cheated("The result of the daily deal has a time or a rank that cannot be.")
    return replace(game, result=result)


def _compare(known: DailyGame, shown: DailyGame) -> None:
    """Compare an attempt that is shown again with what we know of it. Raises `Cheated`."""
    if (known.day, known.seal, known.scene.envelopes) != (shown.day, shown.seal, shown.scene.envelopes):
        raise Cheated("The server shows another daily deal than before.")
    if shown.own.moves < known.own.moves:
        raise Cheated(f"The server has lost our moves behind number {shown.own.moves}.")
