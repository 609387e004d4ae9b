"""An attempt at a daily deal as the client knows it, with the checks that hold the server to the sealed deal. Pure.

Every card comes with the key to its envelope, and the envelopes are fixed with the first answer. The secret is shown
when the day is over: `check_opening` then deals the deck again.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.deal_check import first_wrong_envelope
from fairest_cli.model.drand_beacon import check_beacon
from fairest_cli.model.solo_game import SoloGame, after_deal, after_entries, check_start, empty_scene
from fairest_protocol.calculation.daily import LIMIT_MS, daily_round_id, daily_seed, day_of
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.daily import AttemptResult, DailySeal, DailyView
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.value import replace

CLOCK_MS: Final = 600_000
"""By this much our clock may differ from the server's when a day begins."""


class DailyGame(SoloGame):
    """An attempt of ours: what the server has shown of it."""

    WHAT: ClassVar[str] = "the daily deal"
    day: str
    seal: DailySeal
    result: AttemptResult | None = None


def check_day(day: str, asked: str | None, now_ms: int) -> None:
    """Check that the server shows the deal of the day that was asked for, None for today, by our clock `now_ms`.

    Raises `Cheated`: the deck of a day that is over is known.
    """
    days = {day_of(now_ms + shift_ms) for shift_ms in (-CLOCK_MS, CLOCK_MS)} if asked is None else {asked}
    if day not in days:
        wanted = asked or f"{day_of(now_ms)}, which it is by the clock of this machine"
        raise Cheated(f"The server shows the daily deal of {day} for that of {wanted}.")


def begin_daily(rules: Rules, view: DailyView, now_ms: int, known: DailyGame | None = None) -> DailyGame:
    """Return the attempt that the answer to `daily` shows. `known` is the same attempt before our connection broke.

    Raises `Cheated` for an answer that breaks the seal, or contradicts what was shown before.
    """
    seal = view.seal
    if view.rules != rules.name or seal is None:
        raise Cheated("The server shows another daily deal than the one that was asked for.")
    if seal.round != daily_round_id(view.day, rules):
        raise Cheated("The round of the daily deal is not that of its day and its variant.")
    check_beacon(view.day, seal)
    check_start(rules, view.entries, DailyGame.WHAT)
    game = DailyGame(rules, seal.round, empty_scene(rules), view.until_ms, now_ms - view.now_ms, view.day, seal)
    game = _with_result(after_entries(game, view.entries), view)
    if known is not None:
        _compare(known, game)
    return game


def after_view(game: DailyGame, view: DailyView) -> DailyGame:
    """Return the attempt after the answer to a move of ours. Raises `Cheated`."""
    if (view.day, view.rules) != (game.day, game.rules.name):
        raise Cheated("The server answers a move with another daily deal.")
    following = after_entries(after_deal(game, view.entries), view.entries)
    return _with_result(replace(following, until_ms=view.until_ms), view)


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
    wrong = first_wrong_envelope(envelopes, sealed.envelopes)
    if wrong is not None:
        raise Cheated(f"The envelope at {name_place(wrong)} of the daily deal holds another deal's card.")


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
