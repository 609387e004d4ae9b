"""A player or spectator who types lines: a person at a keyboard, or a program behind a pipe."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Final

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.record_source import match_page
from fairest_cli.session.room_session import RoomSession, may_queue_again
from fairest_cli.session.saving import describe_unsaved, save_elsewhere
from fairest_cli.text.absence import describe_other_seats, describe_way_back
from fairest_cli.text.keyboard import typed_lines
from fairest_cli.text.questions import answer_question
from fairest_cli.text.ratings import standings_after_match
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import MatchRecord, Welcome

HELP: Final = """\
A move names where a card comes from, then where it goes:
  s1 ... s8  the turned card to a foundation
  sa ... sh  the turned card onto a waste pile
  a1 ... h8  the top of a waste pile to a foundation
  redeal     when the stock is empty, if the rules have a redeal
  stop       end your race and keep what you have placed
  resign     give the round up
Each foundation takes the rank that it says it needs, whatever the suit; the
ranks in brackets come later.
Cards never go from pile to pile, and no card leaves a foundation. The first
player to place every card wins; if neither can, the one with more cards wins.
Other words: ready, board (or Enter), wanted, piles, score, time, words (check
words), finish (asks the other player to, after your race), rematch, next (another
opponent, after a quick race), leave, help."""

DescribeUpdate = Callable[[KnownRoom, Update], Iterator[str]]
"""The lines to print for an update, given the model before it."""


class LinePlayer:
    """One viewer of a room, with a seat or without, who plays by standard input.

    A person gets ready with Enter, and may stay after a match for another one. A pipe gets ready at once; each line
    waits until a move may be sent. The end of the pipe stops our race, in this round and in every further one, and the
    record of the match ends the player: open the session of a pipe with `ends_with_record`.

    `print_line` prints the lines of `describe_update`; `print_hint` prints a line that is for people only.
    """

    def __init__(
        self,
        session: RoomSession,
        describe_update: DescribeUpdate,
        print_line: Callable[[str], None],
        print_hint: Callable[[str], None],
        *,
        is_person: bool,
        entered: str | None = None,
        read_lines: Callable[[], AsyncIterator[str]] = typed_lines,
    ) -> None:
        """`entered` is the room that is entered, if it is known; a person is told once of seats in other rooms.

        `read_lines` yields the lines of standard input until it ends.
        """
        self._session = session
        self._describe_update = describe_update
        self._print_line = print_line
        self._print_hint = print_hint
        self._is_person = is_person
        self._entered = entered
        self._has_named_seats = False
        self._read_lines = read_lines
        self._may_type = asyncio.Event()
        self._prompted_round: bytes | None = None
        self._rating: asyncio.Task[None] | None = None
        """Prints our new rating once a match is over."""

    async def run(self) -> None:
        """Play or watch until the room ends for us. Raises `Rejected` and `Cheated`; when cancelled, the seat waits."""
        following = asyncio.create_task(self._session.run(self._on_update))
        typing = asyncio.create_task(self._obey_lines())
        try:
            done, _ = await asyncio.wait((following, typing), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            if self._is_person and self._session.rejoin_option is not None:
                for line in describe_way_back(self._session.model, self._session.rejoin_option):
                    self._print_hint(line)
            following.cancel()
            typing.cancel()
            tasks = [following, typing]
            if self._rating is not None:
                self._rating.cancel()
                tasks.append(self._rating)
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _on_update(self, before: KnownRoom, update: Update) -> None:
        for line in self._describe_update(before, update):
            self._print_line(line)
        if isinstance(update.message, Welcome):
            self._name_seats(update.model, update.message.rooms or ())
        if update.problem:
            self._print_hint(f"{clean(update.problem)} The race goes on.")
        if update.model.status is ConnectionStatus.LOST:
            self._prompted_round = None
            return
        if isinstance(update.message, MatchRecord):
            self._print_files()
            if self._is_person and update.model.seat is not None:
                self._rating = asyncio.create_task(self._print_rating(update.model, update.model.seat))
        if update.model.scene is None:
            if self._is_person and update.model.queued is not None:
                # A player who waits for an opponent may leave the queue.
                self._may_type.set()
            return
        await self._get_ready(update.model)
        if self._is_person or update.model.may_send_next_move:
            self._may_type.set()
        else:
            self._may_type.clear()

    def _name_seats(self, model: KnownRoom, rooms: Sequence[str]) -> None:
        rejoin_option = self._session.rejoin_option
        if self._is_person and not self._has_named_seats and rejoin_option is not None:
            for line in describe_other_seats(model, rooms, self._entered, rejoin_option):
                self._print_hint(line)
        self._has_named_seats = True

    async def _get_ready(self, model: KnownRoom) -> None:
        """Report that a pipe is ready; prompt a person to, once in a round and again after a drop."""
        if not self._session.is_ready_wanted or model.scene is None:
            return
        if not self._is_person:
            await self._session.get_ready()
        elif model.scene.round != self._prompted_round:
            self._prompted_round = model.scene.round
            self._print_hint("Press Enter when you are ready. Type help for how to play.")

    def _print_files(self) -> None:
        """Print where the record and the receipt are, or why they are not there."""
        session = self._session
        if session.record_path is not None:
            self._print_hint(f"The record is at {session.record_path}")
        if session.record is not None and session.rejoin_option is not None:
            # Without one, the server ends with this program, and its pages with it.
            page = match_page(session.model.server_url, session.record.match_id)
            self._print_hint(f"The page of the match is {page}")
        if session.receipt is not None and session.receipt.path is not None and not session.receipt.problem:
            self._print_hint(f"Your receipt is at {session.receipt.path}")
        if session.problem:
            self._print_hint(session.problem)
            self._print_hint("Type save and a folder to save the record and your receipt there: save ~/races")
        if self._is_person and session.model.own:
            others = "next for another opponent, " if session.queueing is not None else ""
            self._print_hint(f"Type rematch to race again, {others}or leave.")

    async def _print_rating(self, model: KnownRoom, seat: int) -> None:
        if model.scene is not None:
            async for sentence in standings_after_match(model.server_url, model.scene, seat):
                self._print_hint(sentence)

    def _save(self, folder: str) -> None:
        try:
            for path in save_elsewhere(folder, self._session.match_record, self._session.receipt):
                self._print_hint(f"Saved {clean(str(path))}")
        except (OSError, ValueError) as reason:
            self._print_hint(clean(describe_unsaved(folder, reason)))

    async def _obey_lines(self) -> None:
        async for line in self._read_lines():
            await self._may_type.wait()
            await self._obey(line)
        # At the end of the input a person leaves the seat waiting; a program has no more moves to make.
        while not self._is_person:
            await self._may_type.wait()
            self._may_type.clear()
            await self._session.play(STOP)

    async def _obey(self, line: str) -> None:
        model, word = self._session.model, line.lower().replace(" ", "")
        move = MOVES.get(word)
        if line.lower().split(maxsplit=1)[:1] == ["save"]:
            self._save(line[len("save") :].strip())
        elif move is None:
            await self._obey_word(model, word, line)
        elif model.own is None:
            self._print_hint("You are watching: only players move.")
        else:
            if not self._is_person:
                self._may_type.clear()
            await self._session.play(move)

    async def _obey_word(self, model: KnownRoom, word: str, line: str) -> None:
        match word:
            case "" | "ready" if model.phase is Phase.READY:
                await self._session.get_ready()
            case "rematch":
                await self._session.ask_rematch()
            case "next":
                await self._find_next()
            case "finish":
                await self._ask_finish()
            case "leave" | "quit" | "q":
                await self._leave()
            case "ready":
                self._print_hint("There is nothing to get ready for right now.")
            case "help" | "?":
                self._print_hint(HELP)
            case _ if (answer := answer_question(word, model, now_ms())) is not None:
                for text in answer:
                    self._print_hint(text)
            case _:
                self._print_hint(f"{clean(line)[:40]!r} is not a move or a word of this program; type help.")

    async def _ask_finish(self) -> None:
        if not self._session.may_ask_finish:
            self._print_hint("You can ask once a round, when your own race has ended and the other player goes on.")
            return
        await self._session.ask_finish()
        self._print_hint("You have asked the other player to finish.")

    async def _find_next(self) -> None:
        if may_queue_again(self._session):
            await self._session.leave(queues_again=True)
        elif not self._session.queues_again:
            self._print_hint("Type next when a quick race is over: it leaves the room for another opponent.")

    async def _leave(self) -> None:
        if self._session.is_racing:
            self._print_hint("Leaving now is resigning. Type resign to do that, or stop to keep what you have placed.")
            return
        await self._session.leave()
