"""A room with two honest clients, over a network that delays, drops and cuts, on a server that is honest as well.

The table submits what a random room does; the subscribers are the server's own, and so is the model of each client.
Only sockets and clocks are imitated: a message arrives up to `LATEST_MS` later, and each client's clock is off.
"""

import random
from collections import deque
from pathlib import Path
from typing import Final

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_cli.records.receipts import Receipt
from fairest_cli.session.evidence_notes import note_drop, note_pong, note_said, note_silence
from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Leave, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Accepted, FromServer, Left, Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SEND_AGAIN
from fairest_protocol.value import replace
from fairest_server.live.subscribers import DropReason, Subscribers
from fairest_server.room.catchup import make_catchup
from fairest_server.room.checkpoint import make_checkpoint
from fairest_server.room.commands import Command, CreateRoom, Disconnect, MakeMove, PlayerRequest, TakeSeat
from fairest_server.room.decide import Verdict
from fairest_server.room.projection import StepHistory
from fairest_server.room.steps import LogEntry, fold
from fairest_server.room.view import ORIGIN, ViewCursor
from tests.support.races import KEY, Table

LATEST_MS: Final = 2_000
"""The longest way of a message."""
SLEEP_MS: Final = 17_000
"""How long a machine sleeps now and then without losing its connection."""
PONG_MS: Final = 5_000
"""The longest time between two pongs on a connection that is up."""
ROOM: Final = "honest-room"


class Socket:
    """One connection of a client to the room, at the server's end. `arriving` are messages with their arrival times."""

    def __init__(self, connection_id: str, entry_kind: str, player_id: str, table: "HonestRoom") -> None:
        self.connection_id, self.entry_kind, self.player_id = connection_id, entry_kind, player_id
        self.seen_upto = ORIGIN
        self.table = table
        self.arriving: deque[tuple[int, FromServer]] = deque()

    def send(self, message: FromServer) -> None:
        """Send a message, which arrives after the ones before it."""
        arrives_ms = self.table.now_ms + self.table.network.randrange(LATEST_MS)
        self.arriving.append((max(arrives_ms, self.arriving[-1][0] if self.arriving else 0), message))

    def show(self, data: bytes) -> None:
        self.send(decode_from_server(data))

    def admitted(self, seat: int | None, log_length: int, missed: bytes) -> None:  # noqa: ARG002
        self.show(missed)

    def refused(self, answer: Refused) -> None:
        self.send(answer)

    def replaced(self) -> None:
        pass

    def unseated(self, *, has_asked: bool) -> None:  # noqa: ARG002
        self.send(Left())

    def sent_away(self, reason: DropReason) -> None:
        raise AssertionError(f"an honest room sends nobody away: {reason}")


class HonestClient:
    """One player's client: the real model, moved by what arrives and by what the player does."""

    def __init__(self, player: str, skew_ms: int, receipts: Path | None) -> None:
        self.player = player
        self.skew_ms = skew_ms
        self.receipts = receipts
        self.receipt = self._new_receipt()
        self.model = _new_model(None)
        self.socket: Socket | None = None
        self.chance = random.Random(skew_ms)
        self.clock_ms = 0
        """The time of the server's clock up to which this client has lived; its own is ahead of it by `skew_ms`."""
        self.ends: list[str] = []
        """How each round ended for it that was judged: `proved`, or what rests on the server's word."""

    def live_until(self, now_ms: int) -> None:
        """Take everything that arrives until this time, and pongs between."""
        socket = self.socket
        while socket is self.socket and socket is not None and socket.arriving and socket.arriving[0][0] <= now_ms:
            arrives_ms, message = socket.arriving.popleft()
            self._hear_pongs(arrives_ms)
            self._take(message, arrives_ms)
        if self.socket is not None:
            self._hear_pongs(now_ms)
        self.clock_ms = max(self.clock_ms, now_ms)

    def flush(self, now_ms: int) -> None:
        """Take everything that is on its way, so that the player knows what it acts upon."""
        if self.socket is not None:
            self.socket.arriving = deque((min(at, now_ms), message) for at, message in self.socket.arriving)
        self.live_until(now_ms)

    def say(self, message: Message, now_ms: int) -> None:
        """Send a message of the player."""
        if isinstance(message, Play):
            self.model = self.model.with_sent(message)
        self.model = note_said(self.model, self.receipt, message, self._own_ms(now_ms))

    def drop(self, now_ms: int, chance: random.Random) -> None:
        """Lose the connection at a time before this one, and what had not arrived by then; notice it by now."""
        self.live_until(chance.randrange(min(self.clock_ms, now_ms), now_ms + 1))
        if self.socket is None:
            return
        self.socket = None
        self.clock_ms = max(self.clock_ms, now_ms)
        self.model = note_drop(self.model, self.receipt, self._own_ms(self.clock_ms))

    def connect(self, socket: Socket, *, is_started_again: bool) -> None:
        """Open a socket: that of a client that goes on, or of one that was started again."""
        if is_started_again:
            self._start_again()
        self.socket = socket
        self.model = self.model.with_status(ConnectionStatus.CONNECTED)

    def _hear_pongs(self, until_ms: int) -> None:
        while until_ms - self.clock_ms > PONG_MS:
            is_asleep = until_ms - self.clock_ms > SLEEP_MS and self.chance.random() < 0.1
            self.clock_ms += SLEEP_MS if is_asleep else PONG_MS
            self.model = note_pong(self.model, self.receipt, self._own_ms(self.clock_ms), is_in_room=self._is_in_room)

    @property
    def _is_in_room(self) -> bool:
        return self.model.binding.down_since_ms is None

    def _take(self, message: FromServer, at_ms: int) -> None:
        before = self.model.binding.last_end
        self.clock_ms = max(self.clock_ms, at_ms)
        own_ms = self._own_ms(self.clock_ms)
        self.model = note_silence(self.model, self.receipt, own_ms)
        if self.receipt is not None and isinstance(message, (Snapshot, View, Left)):
            self.receipt.add_heard(message, self.model, own_ms)
        is_refused = isinstance(message, Refused) and message.to in ("join", "resume")
        if isinstance(message, Refused) and is_refused:
            assert message.code not in SEND_AGAIN, message
            self.model = self.model.after_way_out(WayOut.REFUSED, message.sentence, own_ms)
            if self.receipt is not None:
                self.receipt.add_end(WayOut.REFUSED, message.sentence, own_ms)
        else:
            self.model = self.model.after(message, own_ms)
        end = self.model.binding.last_end
        if end is not None and end is not before:
            self.ends.append(end.explanation or "proved")
        if isinstance(message, Left) or is_refused:
            # A program that joins a room afterwards is another one.
            self._start_again()
            self.socket = None

    def _start_again(self) -> None:
        if self.receipt is not None:
            self.receipt.close()
        self.receipt = self._new_receipt()
        self.model = _new_model(self.model.seal_check.entropy_commitment)

    def _new_receipt(self) -> Receipt | None:
        return Receipt(self.receipts / self.player) if self.receipts else None

    def _own_ms(self, server_ms: int) -> int:
        return server_ms + self.skew_ms


class HonestRoom(Table):
    """A table whose players have clients. `network` draws delays, drops and whether a client is started again."""

    def __init__(self, seed: int = 0, options: RoomOptions | None = None, receipts: Path | None = None) -> None:
        """`receipts` is a folder for the receipts of both clients, which keep none without it."""
        self.network = random.Random(seed ^ 0xFA15)
        skews = {f"player-{seat}": self.network.randrange(-(10**9), 10**9) for seat in (0, 1)}
        self.clients = {player: HonestClient(player, 10**12 + skew, receipts) for player, skew in skews.items()}
        self.subscribers = Subscribers(lambda *_: None)
        self.cuts = 0
        """How often the log was cut."""
        super().__init__(seed, options)

    def submit(self, command: Command) -> Verdict:
        """Decide a command of a client or of the server, and show each client what follows."""
        for client in self.clients.values():
            client.live_until(self.now_ms)
        if self.steps and self.network.random() < 0.2:
            self._cut_log()
        match command:
            case CreateRoom() | TakeSeat():
                return self._enter(command)
            case Disconnect(connection_id=link):
                self._drop(link)
            case PlayerRequest(connection_id=link, message=message):
                self._say(link, message)
            case MakeMove(connection_id=link, number=number, move=move):
                self._say(link, Play(number=number, move=move))
            case _:
                pass
        return self._decide(command)

    def end(self) -> None:
        """Let everything arrive that is on its way."""
        for client in self.clients.values():
            client.live_until(self.now_ms + 2 * LATEST_MS)
            if client.receipt is not None:
                client.receipt.close()

    def _cut_log(self) -> None:
        """Cut the log as a process does whose log has become long, if it can be cut now."""
        checkpoint = make_checkpoint(self.steps, self.now_ms)
        if checkpoint is not None:
            self.cuts += 1
            cut = LogEntry(1, f"{self.now_ms:08x}", self.now_ms, checkpoint)
            self.steps = fold([cut])
            self.subscribers.show(self.steps)

    def _client_of(self, link: str) -> HonestClient | None:
        found = [each for each in self.clients.values() if each.socket and each.socket.connection_id == link]
        return found[0] if found else None

    def _say(self, link: str, message: Message) -> None:
        client = self._client_of(link)
        if client is None:
            return
        client.flush(self.now_ms)
        if isinstance(message, Ready):
            self._commit(client, message)
        if isinstance(message, (Ready, Reveal, Play, Leave)):
            client.say(message, self.now_ms)

    def _commit(self, client: HonestClient, message: Ready) -> None:
        opened, seat = self.state.round, self.state.seat_of(client.player)
        assert opened is not None and seat is not None
        commitment = client.model.seal_check.commitment
        entropy = self.entropies[message.round, seat]
        known = EntropyCommitment(message.round, commitment, seat, entropy, message.entropy_hash)
        client.model = client.model.with_entropy_commitment(known)

    def _drop(self, link: str) -> None:
        client = self._client_of(link)
        if client is not None and client.socket is not None:
            self.subscribers.forget(client.socket)
            client.drop(self.now_ms, self.network)

    def _enter(self, command: CreateRoom | TakeSeat) -> Verdict:
        client = self.clients[command.player]
        if client.socket is not None:
            self._drop(client.socket.connection_id)
        knows_room = client.model.room is not None
        socket = Socket(command.connection_id, "resume" if knows_room else "join", command.player, self)
        if knows_room:
            socket.seen_upto = ViewCursor(client.model.position, client.model.tag or "")
        client.connect(socket, is_started_again=knows_room and self.network.random() < 0.1)
        if client.model.room is None:
            socket.seen_upto = ORIGIN
        self.subscribers.add_pending(socket)
        verdict = self._decide(replace(command, to=socket.entry_kind) if isinstance(command, TakeSeat) else command)
        if isinstance(verdict, Refused):
            self.subscribers.answer(socket, verdict)
        if isinstance(verdict, Refused) and knows_room:
            client.flush(self.now_ms)
            return self._enter(command)
        return verdict

    def _decide(self, command: Command) -> Verdict:
        known = len(self.steps)
        verdict = super().submit(command)
        for subscriber in self.subscribers.show(self.steps[known:]):
            seat = self.state.seat_of_connection(subscriber.connection_id)
            catchup = make_catchup(ROOM, StepHistory(list(self.steps)), seat, subscriber.seen_upto, self.now_ms)
            self.subscribers.admit(seat, subscriber, catchup)
        link = getattr(command, "connection_id", "")
        client = self._client_of(link)
        if isinstance(verdict, (Accepted, Refused)) and client is not None and not isinstance(command, TakeSeat):
            assert client.socket is not None
            self.subscribers.answer(client.socket, verdict)
        return verdict


def _new_model(known: EntropyCommitment | None) -> KnownRoom:
    return KnownRoom(seal_check=SealCheck(key=KEY.public)).with_entropy_commitment(known)
