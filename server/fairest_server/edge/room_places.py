"""The process to which the address of a room leads, as far as this process can know it."""

from collections.abc import Callable
from typing import Final

from fairest_server.edge.room_handover import RoomHandover


class RoomPlaces:
    """The places of rooms among the processes of a deployment."""

    def __init__(self, handover: RoomHandover | None, alive: Callable[[], int], *, has_tls: bool) -> None:
        """`alive` returns the number of living processes. With `has_tls`, nobody in front can read an address."""
        self._handover: Final = handover
        self._alive = alive
        self._has_tls = has_tls

    def is_served_here(self, room: str) -> bool:
        """Return whether clients that ask for the address of a room come to this process of those on its port."""
        return self._handover is None or self._handover.is_served_here(room)

    def may_be_elsewhere(self, room: str) -> bool:
        """Return whether the address of a room may lead to another process.

        For the processes on this port that is known. Others have a balancer in front of them, of which nothing is
        known: it may send all connections of one address to the same process.
        """
        if self._has_tls:
            return False
        is_here = self.is_served_here(room)
        here = 1 if self._handover is None else self._handover.process_count
        return not is_here or self._alive() > here
