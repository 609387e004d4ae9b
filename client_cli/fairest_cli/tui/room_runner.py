"""Runs the session with a room behind the screens: one session at a time, and the bot races on this machine.

The runner knows no screens. It hands each change to its `RunnerHost`, which is the program.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, Protocol

from pydantic import ValidationError
from textual.worker import Worker

from fairest_cli.bots.house_room import house_room, new_bot_name
from fairest_cli.bots.levels import Level
from fairest_cli.bots.offering import level_at_home
from fairest_cli.bots.player import play_match
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.files import records_folder
from fairest_cli.session.connection import Update
from fairest_cli.session.identity import IdentityInUse
from fairest_cli.session.local_server import ServerNotStarted
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.room_session import OnUpdate, RoomSession
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.tv import RESULT_SECONDS, SEARCH_SECONDS, follow_match
from fairest_cli.session.viewer_connections import open_guest_seat, open_seat, open_unstored
from fairest_cli.session.websocket import EntryRequest, Rejected
from fairest_cli.text.narration import describe_closing
from fairest_cli.text.tv import LOOKING, find_match
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Join, Watch
from fairest_protocol.messages.options import RoomOptions

Run = Callable[[RoomSession, OnUpdate], Awaitable[bool | None]]
"""Follows a room with a callback for each update, as `RoomSession.run` does."""
Follow = Callable[[RoomSession, Run], Awaitable[bool | None]]


class RunnerHost(Protocol):
    """The program as the runner sees it."""

    async def show_update(self, session: RoomSession, before: KnownRoom, update: Update) -> None:
        """Show a change in the room, or on the way into it."""

    async def show_cheat_alert(self, reason: Cheated) -> None:
        """Show that the server cheated; return once the player has read it."""

    async def show_home(self, sentence: str) -> None:
        """Close every screen of the room and show the home screen with `sentence`."""

    def show_notice(self, sentence: str) -> None:
        """Show `sentence` on the home screen, without going there."""

    def run_worker(
        self, work: Coroutine[Any, Any, Any], *, group: str, exclusive: bool, exit_on_error: bool = True
    ) -> Worker[Any]:
        """Run `work` in the background, as Textual's `DOMNode.run_worker` does."""


class RoomRunner:
    """Enters rooms and follows each until it is over for this player. `session` is None outside of a room."""

    def __init__(
        self, host: RunnerHost, server_url: str, player: str | None, *, clock: Callable[[], int] = now_ms
    ) -> None:
        self.session: RoomSession | None = None
        self.uses_local_server = False
        """Whether the room is on the local server: a child process of ours, which ends with the session."""
        self._host = host
        self.server_url = server_url
        self.player = player
        self._clock = clock
        self._local_server = AsyncExitStack()
        self._session_worker: Worker[Any] | None = None
        self._bot_worker: Worker[Any] | None = None

    def join(self, code: str) -> None:
        """Take a seat in the room with this code; show a notice if `code` cannot be a room's code."""
        self._enter_by_code(Join, code)

    def watch(self, code: str) -> None:
        """Watch the room with this code; show a notice if `code` cannot be a room's code."""
        self._enter_by_code(Watch, code)

    def enter(self, request: EntryRequest) -> None:
        """Start a session with the room that `request` asks for. A session under way is cancelled."""
        self._start(self._run_remote(request))

    def watch_tv(self) -> None:
        """Start to watch one match of the server after the other, until the player leaves one or enters a room."""
        self._start(_run_tv(self._host, self.server_url, self._clock, self._follow))

    def race_bot(self, level: Level, options: RoomOptions) -> None:
        """Start a race against a bot on a local server, a child process of ours."""
        self._start(self._run_local(level, options))

    def invite_bot(self) -> None:
        """Let a bot that this program runs take the free seat, of the level that the player's results suggest."""
        session = self.session
        if session is not None and session.model.room is not None:
            level = level_at_home(records_folder())
            request = Join(room=session.model.room)
            connection = open_unstored(session.model.server_url, request, name=new_bot_name(level))
            match = play_match(connection, level, random.Random(), rematches=True)
            # An error of the bot must not end the player's program.
            self._bot_worker = self._host.run_worker(match, group="bot", exclusive=True, exit_on_error=False)

    async def leave(self) -> None:
        """Leave the room and go home. Does nothing where leaving would lose a race."""
        session = self.session
        if session is None or session.is_racing or session.model.phase in (Phase.DEALING, Phase.COUNTDOWN):
            return
        if session.model.status is ConnectionStatus.CONNECTED and session.model.room is not None:
            # The server's `left` ends the session, which then goes home.
            await session.leave()
        else:
            if self._session_worker is not None:
                self._session_worker.cancel()
            await self._end_session("")
            await self.close_local_server()

    async def close_local_server(self) -> None:
        """Stop the server of a race against a bot, if one runs. Safe to call again."""
        self.uses_local_server = False
        await self._local_server.aclose()

    def _enter_by_code(self, kind: type[Join] | type[Watch], code: str) -> None:
        try:
            self.enter(kind(room=code))
        except ValidationError:
            self._host.show_notice(f"{clean(code)!r} is not a room code; a code looks like quiet-amber-otter.")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._session_worker = self._host.run_worker(work, group="session", exclusive=True)

    async def _run_remote(self, request: EntryRequest) -> None:
        try:
            if isinstance(request, Watch):
                await self._follow(RoomSession(open_unstored(self.server_url, request), clock=self._clock))
                return
            goes_on = True
            while goes_on:
                with open_seat(self.server_url, self.player, request) as connection:
                    rejoin_option = f" --name {self.player}" if self.player else ""
                    session = RoomSession(connection, rejoin_option=rejoin_option, clock=self._clock)
                    goes_on = await self._follow(session) is None and session.queues_again
        except IdentityInUse as reason:
            await self._end_session(str(reason))

    async def _run_local(self, level: Level, options: RoomOptions) -> None:
        self._host.show_notice("Starting a server on this machine ...")
        await self.close_local_server()
        try:
            room = house_room(level, options, None, rematches=True)
            url, code = await self._local_server.enter_async_context(room)
        except ServerNotStarted as reason:
            self._host.show_notice(str(reason))
            return
        self.uses_local_server = True
        await self._follow(RoomSession(open_guest_seat(url, code, is_person=True), clock=self._clock))
        await self.close_local_server()

    async def _follow(self, session: RoomSession, run: Run = RoomSession.run) -> bool | None:
        """Show every change in the room until `run` returns, then go home with a sentence about the reason.

        A player who leaves for the next opponent does not go home.

        Returns what `run` did, True if the server refused us, and False if it cheated.
        """
        self.session = session
        sentence, result = "", None

        async def on_update(before: KnownRoom, update: Update) -> None:
            await self._host.show_update(session, before, update)

        try:
            result = await run(session, on_update)
            if session.model.phase is Phase.CLOSED:
                reason = session.closing_reason
                sentence = (
                    describe_closing(reason) if reason else "The room was closed: nobody came back to it in time."
                )
        except Rejected as reason:
            sentence, result = clean(str(reason)), True
        except Cheated as reason:
            await self._host.show_cheat_alert(reason)
            result = False
        if session.queues_again and result is None:
            # The result stays on the screen until the queue is shown.
            if self._bot_worker is not None:
                self._bot_worker.cancel()
        else:
            await self._end_session(sentence)
        return result

    async def _end_session(self, sentence: str) -> None:
        self.session = None
        if self._bot_worker is not None:
            self._bot_worker.cancel()
        await self._host.show_home(sentence)


async def _run_tv(host: RunnerHost, server_url: str, clock: Callable[[], int], follow: Follow) -> None:
    """Watch one match after the other until the player leaves one, or a server cheats."""

    async def watch(session: RoomSession, on_update: OnUpdate) -> bool:
        return await follow_match(session, on_update, RESULT_SECONDS)

    is_wanted: bool | None = True
    while is_wanted:
        listed = None
        try:
            listed = await asyncio.to_thread(find_match, server_url)
            host.show_notice("" if listed else LOOKING)
        except PageUnreadable as reason:
            host.show_notice(clean(str(reason)))
        if listed is None:
            await asyncio.sleep(SEARCH_SECONDS)
            continue
        connection = open_unstored(server_url, Watch(room=listed.room))
        is_wanted = await follow(RoomSession(connection, clock=clock, saves_record=False), watch)
