"""A tournament in lines: typed words and moves go to the server, and what happens is printed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.model.tournament_game import refusal_of
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.request_connection import RequestRefused
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_cli.text.tournament import (
    HELP,
    describe_due,
    describe_head,
    describe_race,
    describe_round,
    describe_standings,
)
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.tournaments import Tournament, TournamentPhase

LOOK_SECONDS: Final = 1.0
"""Time between two looks at the tournament."""
QUIT: Final = ("quit", "exit", "q")
ENDED: Final = (TournamentPhase.OVER, TournamentPhase.CANCELLED)


async def follow_tournament(
    connection: TournamentConnection, lines: AsyncIterator[str], print_line: Callable[[str], None]
) -> Tournament:
    """Follow a tournament that was entered, or is watched, until it is over or the player quits; return it.

    Raises `Rejected` and `Cheated`. Safe to cancel: the tournament goes on.
    """
    player = TournamentPlayer(connection, print_line)
    player.show_news()
    typed: asyncio.Future[str | None] | None = asyncio.ensure_future(_next_line(lines))
    try:
        while player.shown.phase not in ENDED:
            if typed is None:
                await asyncio.sleep(LOOK_SECONDS)
            else:
                await asyncio.wait({typed}, timeout=LOOK_SECONDS)
            if typed is not None and typed.done():
                line = typed.result()
                if line is not None and not await player.take(line):
                    break
                typed = None if line is None else asyncio.ensure_future(_next_line(lines))
            await player.look()
    finally:
        if typed is not None:
            typed.cancel()
    return player.shown


class TournamentPlayer:
    """The words of a player, and what is printed about the tournament."""

    def __init__(self, connection: TournamentConnection, print_line: Callable[[str], None]) -> None:
        self._connection = connection
        self._print = print_line
        self._known: tuple[object, ...] = ()
        """What was printed last: the phase, the number of rounds that are over, and the players before the start."""

    @property
    def known(self) -> KnownTournament:
        """The tournament as we know it."""
        assert self._connection.known is not None, "the tournament was entered"
        return self._connection.known

    @property
    def shown(self) -> Tournament:
        """The tournament as the server has shown it last."""
        return self.known.shown

    async def look(self) -> None:
        """Ask for the tournament; print what is new, and begin our race once it is due."""
        await self._connection.watch()
        self.show_news()
        if self._connection.is_race_due:
            await self._connection.race()
            self._show_race()

    def show_news(self) -> None:
        """Print where the tournament stands, if that has changed."""
        shown = self.shown
        over = [played for played in shown.played if played.secret is not None]
        entered = len(shown.standings) if not shown.played else 0
        state = (shown.phase, len(shown.played), len(over), entered)
        if state == self._known:
            return
        had_over, self._known = (self._known[2] if self._known else len(over)), state
        self._print("")
        if len(over) != had_over or (shown.phase in ENDED and over):
            self._print_lines(describe_round(over[-1]))
            self._print_lines(describe_standings(shown, self._connection.name))
        self._print(describe_head(shown)[0])
        self._print(self._due(shown))
        if shown.phase in ENDED and over:
            self._print(f"Look at its races again: fairest tournament replay {shown.code}, or analyse {shown.code}.")

    async def take(self, line: str) -> bool:
        """Do what a typed line says; return whether the player goes on."""
        word = line.lower().replace(" ", "")
        try:
            return await self._take(word, line)
        except RequestRefused as refused:
            self._print(clean(str(refused)))
            return True

    async def _take(self, word: str, line: str) -> bool:
        connection, known = self._connection, self.known
        if word in QUIT:
            return False
        if word == "leave":
            await connection.leave()
            self._print("You have left the tournament.")
            return False
        if word == "start":
            await connection.start()
        elif word in ("ready", "") and known.is_ready_wanted:
            await connection.get_ready()
            self._print("You are ready.")
        elif word in ("table", "standings"):
            self._print_lines(describe_standings(known.shown, connection.name))
        elif word == "round" and known.shown.played:
            self._print_lines(describe_round(known.newest, connection.counts))
        elif word in MOVES:
            await self._move(word)
        elif word in ("", "board", "ready"):
            self._print(self._due(known.shown))
            self._show_race()
        else:
            self._print(
                HELP
                if word in ("help", "?")
                else f"{clean(line)[:40]!r} is not a move or a word of this program; type help."
            )
        return True

    async def _move(self, word: str) -> None:
        game = self._connection.game
        if game is None:
            self._print("Your race has not begun.")
            return
        refused = refusal_of(game, MOVES[word])
        if refused:
            self._print(refused)
            return
        await self._connection.play(MOVES[word])
        self._show_race()

    def _due(self, shown: Tournament) -> str:
        seconds = 0.0 if shown.until_ms is None else self._connection.seconds_until(shown.until_ms)
        return describe_due(shown, self.known.pair, self._connection.name, seconds)

    def _show_race(self) -> None:
        game = self._connection.game
        if game is not None:
            self._print_lines(describe_race(game, game.seconds_left(now_ms())))

    def _print_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._print(line)


async def _next_line(lines: AsyncIterator[str]) -> str | None:
    return await anext(lines, None)
