"""The connection of an attempt at a daily deal.

Every request may be sent again: a second `daily` leads to the same attempt, and a move has its number.
"""

from fairest_cli.model.daily_game import DailyGame, after_view, begin_daily, check_day
from fairest_cli.session.identity import Identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.request_connection import RequestConnection, RequestRefused
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.capabilities import DAILY
from fairest_protocol.messages.daily import Daily, DailyView, PlayDaily
from fairest_protocol.messages.refusals import Refusal


class DailyConnection(RequestConnection):
    """Our attempt at the daily deal of a variant. `game` is None before the server has shown it.

    When it is closed, the attempt stays on the server, and its time goes on.
    """

    def __init__(
        self, server: str, identity: Identity, rules: Rules, name: str | None = None, day: str | None = None
    ) -> None:
        """`day` is that of an attempt which we have begun before; None is today's deal."""
        super().__init__(server, identity, name, DAILY, "This server has no daily deals.")
        self.game: DailyGame | None = None
        self._rules = rules
        self._day = day

    async def begin(self) -> DailyGame:
        """Begin our attempt, or come back to it. Raises `Rejected` and `Cheated`. Safe to call again."""
        answer = await self.ask(Daily(rules=self._rules.name, day=self._day), DailyView)
        check_day(answer.day, self._day, now_ms())
        self._day = answer.day
        self.game = begin_daily(self._rules, answer, now_ms(), self.game)
        return self.game

    async def play(self, move: Move) -> DailyGame:
        """Make a legal move in our attempt. Raises `Rejected` and `Cheated`."""
        game = self.game
        assert game is not None, "an attempt is begun first"
        request = PlayDaily(rules=game.rules.name, day=game.day, number=game.own.moves + 1, move=move)
        try:
            answer = await self.ask(request, DailyView)
        except RequestRefused as refused:
            if refused.code in (Refusal.RACE_OVER, Refusal.NUMBER_REPEATED, Refusal.NUMBER_OLD):
                # The time is over, or another terminal of ours has made a move.
                return await self.begin()
            raise
        self.game = after_view(game, answer)
        return self.game
