"""A person at a keyboard, or a program behind a pipe, in a room: what is typed is done, what happens is told."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.files import save_record
from fairest_cli.session.connection import Connection, Update
from fairest_cli.text.keyboard import typed_lines
from fairest_cli.text.narration import HELP, describe_time_left, describe_way_back, draw
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Left, MatchRecord

Tell = Callable[[KnownRoom, Update], Iterator[str]]


class Player:
    """One viewer of a room, seated or not, with standard input for its hands.

    A person gets ready with Enter and stays after a match, for another one. A pipe is ready at once, its moves wait
    for the start and for one another, its end means `stop` in this round and any other, and the end of the match is
    its end. `write` gets each line to show, `note` each line that is for people only. `way_back` follows the invitation
    to the room where a player who goes is told how to come back; without it, there is no way back.
    """

    def __init__(
        self,
        connection: Connection,
        tell: Tell,
        write: Callable[[str], None],
        note: Callable[[str], None],
        *,
        is_person: bool,
        way_back: str | None = None,
    ) -> None:
        self.record_path: Path | None = None
        self._connection = connection
        self._tell = tell
        self._write = write
        self._note = note
        self._is_person = is_person
        self._way_back = way_back
        self._may_type = asyncio.Event()
        self._ended = asyncio.Event()
        self._asked_record = False
        self._asked_ready: bytes | None = None

    async def run(self) -> None:
        """Play or watch until the match is over, or we leave. Raises `Rejected`; when cancelled, the seat waits."""
        watching = asyncio.create_task(self._watch())
        typing = asyncio.create_task(self._obey())
        ended = asyncio.create_task(self._ended.wait())
        tasks = {watching, typing, ended}
        try:
            while not (watching.done() or ended.done()):
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
                if typing.done():
                    tasks.discard(typing)
        finally:
            self._say_how_to_come_back()
            for task in (watching, typing, ended):
                task.cancel()
            await asyncio.gather(watching, typing, ended, return_exceptions=True)

    def _say_how_to_come_back(self) -> None:
        if self._is_person and self._way_back is not None:
            for line in describe_way_back(self._connection.model, self._way_back):
                self._note(line)

    async def _watch(self) -> None:
        before = self._connection.model
        async with aclosing(self._connection.updates()) as updates:
            async for update in updates:
                for line in self._tell(before, update):
                    self._write(line)
                before = update.model
                if update.model.status is ConnectionStatus.LOST:
                    # What was said last may be lost with the connection; it is said again on the next one.
                    self._asked_ready, self._asked_record = None, False
                    continue
                if isinstance(update.message, MatchRecord):
                    self._keep(update.message)
                if isinstance(update.message, Left):
                    return
                await self._attend(update.model)

    async def _attend(self, model: KnownRoom) -> None:
        """Do what needs no typing, and see whether typing makes sense."""
        scene, own = model.scene, model.own
        if scene is None:
            return
        if own and scene.phase is Phase.READY and not own.entropy_hash and scene.round != self._asked_ready:
            self._asked_ready = scene.round
            if self._is_person:
                self._note("Press Enter when you are ready. Type help for how to play.")
            else:
                await self._connection.get_ready()
        if scene.phase is Phase.FINISHED and scene.match_is_over and not self._asked_record:
            self._asked_record = True
            await self._connection.ask_record()
        if scene.phase is not Phase.FINISHED:
            self._asked_record = False
        if scene.phase is Phase.CLOSED:
            self._ended.set()
        if self._is_person or model.may_move:
            self._may_type.set()
        else:
            self._may_type.clear()

    def _keep(self, message: MatchRecord) -> None:
        try:
            self.record_path = save_record(message)
            self._note(f"The record is at {self.record_path}")
        except (BadRecord, OSError) as reason:
            self._note(f"The record could not be kept: {clean(str(reason))}")
        receipt = self._connection.receipt
        if receipt is not None and receipt.path is not None:
            self._note(receipt.problem or f"Your receipt is at {receipt.path}")
        if not self._is_person:
            self._ended.set()
        elif self._connection.model.own:
            self._note("Type rematch to race again, or leave.")

    async def _obey(self) -> None:
        async for line in typed_lines():
            await self._may_type.wait()
            await self._do(line)
        if self._is_person:
            self._ended.set()
            return
        while True:
            await self._may_type.wait()
            self._may_type.clear()
            await self._connection.play(STOP)

    async def _do(self, line: str) -> None:
        model, word = self._connection.model, line.lower().replace(" ", "")
        move = MOVES.get(word)
        if move is not None and model.own is None:
            self._note("You are watching: only players move.")
        elif move is not None:
            if not self._is_person:
                self._may_type.clear()
            await self._connection.play(move)
        else:
            await self._hear_word(model, word, line)

    async def _hear_word(self, model: KnownRoom, word: str, line: str) -> None:
        match word:
            case "" | "ready" if model.phase is Phase.READY:
                await self._connection.get_ready()
            case "rematch":
                await self._connection.ask_rematch()
            case "leave" | "quit" | "q":
                await self._leave(model)
            case "" | "board":
                for text in draw(model):
                    self._note(text)
            case "time":
                self._note(describe_time_left(model, int(time.time() * 1000)))
            case "words":
                self._note(" ".join(model.seal_check.check_words) or "There are no check words before the deal.")
            case "ready":
                self._note("There is nothing to get ready for right now.")
            case "help" | "?":
                self._note(HELP)
            case _:
                self._note(f"{clean(line)[:40]!r} is no move and no word that is known here; type help.")

    async def _leave(self, model: KnownRoom) -> None:
        if model.phase is Phase.RACING and model.own and not model.own.has_stopped:
            self._note("Leaving now is resigning. Type resign to do that, or stop to keep what you have placed.")
            return
        await self._connection.leave()
