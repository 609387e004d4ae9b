"""Keeps the list of each player's rooms in step with the seats that the logs of rooms give and free."""

from collections.abc import Sequence
from contextlib import suppress

from redis.exceptions import RedisError

from fairest_server.live.room_tasks import RoomTasks
from fairest_server.room.events import SeatFreed, SeatTaken
from fairest_server.room.steps import Step
from fairest_server.store.player_rooms import PlayerRooms


class PlayerSeats:
    """Lists a room for the players that have a seat in it, in a task: neither a seat nor a move waits for the list.

    Every process that has the room open does the same, so that a seat is listed and forgotten wherever its log moved
    on. What Redis does not take is lost: the list is a help for clients, and the log decides.
    """

    def __init__(self, player_rooms: PlayerRooms, tasks: RoomTasks) -> None:
        self._player_rooms = player_rooms
        self._tasks = tasks
        self._waiting: dict[tuple[str, str], bool] = {}
        """By player and room, whether the player has a seat in the room now. One task writes them in order."""
        self.is_writing = False
        """Whether a task writes what waits."""

    def on_steps(self, code: str, steps: Sequence[Step]) -> None:
        """List or forget the room `code` for each player whose seat these steps of its log give or free."""
        for step in steps:
            if isinstance(step.event, SeatTaken):
                self._note(step.event.player, code, has_seat=True)
            elif isinstance(step.event, SeatFreed) and step.before is not None:
                freed = step.before.seats[step.event.seat]
                if freed is not None:
                    self._note(freed.player, code, has_seat=False)

    def _note(self, player_id: str, code: str, *, has_seat: bool) -> None:
        # The newest change counts, and stands behind those that came before it.
        self._waiting.pop((player_id, code), None)
        self._waiting[player_id, code] = has_seat
        if not self.is_writing:
            self.is_writing = True
            self._tasks.start(self._write(), code)

    async def _write(self) -> None:
        while self._waiting:
            player_id, code = next(iter(self._waiting))
            has_seat = self._waiting.pop((player_id, code))
            with suppress(RedisError, OSError):
                if has_seat:
                    await self._player_rooms.remember(player_id, code)
                else:
                    await self._player_rooms.forget(player_id, code)
        self.is_writing = False
