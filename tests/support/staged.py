"""Rooms from a fixed seed, for snapshots of screens: real rooms without sockets and clocks."""

import random
from dataclasses import dataclass
from pathlib import Path

from fairest_cli.bots.policies import choose_greedy
from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.capabilities import SERVER_CAPABILITIES
from fairest_protocol.messages.from_client import Join, Watch
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table
from tests.support.records import signed_record

ROOM = "quiet-amber-otter"
SEED = 11


@dataclass
class StagedRoom:
    """A real room at one point of a match."""

    table: Table

    def model(self, viewer: int | None = 0) -> KnownRoom:
        """Return the model of a viewer that has just entered."""
        shown = view(self.table.steps, viewer)
        snapshot = Snapshot(
            room=ROOM,
            seat=None if viewer is None else 1 if viewer else 0,
            position=len(shown),
            tag="00000000",
            now_ms=self.table.now_ms,
            scene=scene(self.table.state, shown),
        )
        seal = SealCheck(
            key=KEY.public, entropy_commitment=None if viewer is None else self._entropy_commitment(viewer)
        )
        model = KnownRoom(seal_check=seal).with_status(ConnectionStatus.CONNECTED).after(snapshot, self.table.now_ms)
        race = self.table.state.race
        if race is None:
            return model
        first, second = (racer.board.placed for racer in race.racers)
        return replace(model, placed=(first, second))

    def session(self, viewer: int | None = 0) -> RoomSession:
        """Return a session with this model, for a screen; its connection is never opened."""
        entry_request = Watch(room=ROOM) if viewer is None else Join(room=ROOM)
        connection = Connection("ws://127.0.0.1:8765", Identity(), entry_request)
        connection.model = self.model(viewer)
        connection.capabilities = SERVER_CAPABILITIES
        session = RoomSession(connection, clock=lambda: self.table.now_ms)
        session.progress = session.progress.after(connection.model, self.table.now_ms)
        if self.table.state.match_is_over:
            session.finished = connection.model
            session.record, session.record_path = self.record(), Path("/records/race.jsonl")
        return session

    def record(self) -> Record:
        """Return the signed record of the match that is over."""
        return signed_record(self.table)

    def _entropy_commitment(self, seat: int) -> EntropyCommitment | None:
        opened, holder = self.table.state.round, self.table.state.seats[seat]
        if opened is None or holder is None or holder.entropy_hash is None:
            return None
        commitment = commit_secret(opened.round_id, opened.secret)
        return EntropyCommitment(opened.round_id, commitment, seat, holder.entropy or b"", holder.entropy_hash)


def waiting(options: RoomOptions | None = None) -> StagedRoom:
    """Return a room with one player."""
    return StagedRoom(Table(SEED, options))


def getting_ready(options: RoomOptions | None = None) -> StagedRoom:
    """Return a room with both players, of whom one is ready."""
    room = waiting(options)
    room.table.seat_both()
    room.table.get_ready(1)
    return room


def counting_down() -> StagedRoom:
    """Return a room whose cards are dealt, before the start."""
    room = waiting()
    room.table.seat_both()
    room.table.deal()
    return room


def racing(turns: tuple[int, int] = (30, 22), options: RoomOptions | None = None) -> StagedRoom:
    """Return a race in which the greedy bot has made `turns` moves for each seat."""
    table, chance = Table(SEED, options), random.Random(SEED)
    table.start()
    left = list(turns)
    while any(left):
        for seat in (0, 1):
            race = table.state.race
            assert race is not None
            if left[seat]:
                left[seat] -= 1
                table.play(seat, choose_greedy(race.racers[seat].board, chance))
    return StagedRoom(table)


def finished(options: RoomOptions | None = None) -> StagedRoom:
    """Return a room whose race is over."""
    table = Table(SEED, options)
    table.start()
    table.race(choose_greedy)
    return StagedRoom(table)
