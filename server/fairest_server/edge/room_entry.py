"""The way of a client into a room: a new one, a seat in one, or a view of one."""

from collections.abc import Callable
from typing import Final, Protocol

from fairest_protocol.calculation.certified import CAPABILITY as CERTIFIED
from fairest_protocol.calculation.distance import CAPABILITY as CREDIT
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Resume, Watch
from fairest_protocol.messages.from_server import Elsewhere, Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.edge.address_limits import AddressLimits
from fairest_server.edge.room_places import RoomPlaces
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_codes import draw_free_code
from fairest_server.live.room_server import RoomServer
from fairest_server.live.subscribers import Subscriber
from fairest_server.ops import metrics
from fairest_server.room.commands import CreateRoom, TakeSeat
from fairest_server.room.refusing import refuse, resolve_options
from fairest_server.settings import Settings
from fairest_server.store.players import Player
from fairest_server.store.room_openings import RoomOpenings

_MANY_AT_ADDRESS: Final = "Many rooms were opened from your address lately; use one of them, or wait ten minutes."


_NOT_KNOWN: Final = {
    CERTIFIED: "The deals of this room are certified, and your client does not know that: use a newer one.",
    CREDIT: "This room credits distance, and your client does not know that: use a newer one.",
}
"""The sentence for a client without the capability that the options of a room ask for."""

EntryMessage = Create | Join | Resume | Watch
"""A message that asks for a seat or a view of a room."""


class EnteringClient(Subscriber, Protocol):
    """A client that asks to enter a room."""

    address: str
    entry_kind: str
    """The type of its last request to enter a room."""
    came_for: str
    """The room at whose address it has connected, empty if it came to another address."""
    room: LiveRoom | None
    """The room that it is in, or has asked to enter."""


class RoomEntry:
    """Brings clients to the rooms that they ask for. One serves all connections of a process."""

    def __init__(
        self,
        rooms: RoomServer,
        openings: RoomOpenings,
        limits: AddressLimits,
        settings: Settings,
        places: RoomPlaces,
    ) -> None:
        self.limits: Final = limits
        self._rooms = rooms
        self._openings = openings
        self._rooms_per_player = settings.rooms_per_player
        self._rooms_per_address = settings.rooms_per_address
        self._places = places

    async def enter(
        self,
        message: EntryMessage,
        player: Player,
        client: EnteringClient,
        is_open: Callable[[], bool],
    ) -> None:
        """Ask for a seat or a view of a room. The room answers later: `admitted` or `refused`.

        `is_open` returns whether the client's connection is open still. Raises RedisError and OSError; then nothing has
        been asked.
        """
        if not isinstance(message, Create) and not await self._may_name(message.room, player, client.address):
            client.refused(refuse(message.type, Refusal.TOO_MANY_MISSES))
            return
        match message:
            case Create():
                await self._create(message, player, client, is_open)
            case Watch(room=code):
                room = await self._rooms.registry.open_room(code)
                if room is not None and (lack := _lack_in(player, room)):
                    self._rooms.registry.on_change(room)
                    client.refused(refuse(message.type, Refusal.MISSING_CAPABILITY, lack))
                    return
                client.room = await self._rooms.entrance.watch(code, client)
            case Join() | Resume():
                await self._take_seat(message, player, client, is_open)

    def offer_address(self, client: EnteringClient) -> None:
        """Let a seated client know that the address of its room may lead to a process that serves the room cheaper.

        Only before the player is ready: a client that moves later would do so beside a deal or a race.
        """
        state = client.room.state if client.room is not None else None
        number = state.seat_of_connection(client.connection_id) if state is not None else None
        if client.room is None or state is None or number is None or client.came_for == client.room.code:
            return
        if state.seat(number).entropy_hash is None and self._places.may_be_elsewhere(client.room.code):
            metrics.OFFERED.inc()
            client.show(encode(Elsewhere(room=client.room.code)))

    def refused(self, client: EnteringClient, code: str) -> None:
        """Count a code of no room at the address of the client."""
        if code == Refusal.NO_SUCH_ROOM:
            self.limits.count_miss(client.address)

    async def _create(
        self, message: Create, player: Player, client: EnteringClient, is_open: Callable[[], bool]
    ) -> None:
        if lack := _lack(player, message.options):
            client.refused(refuse(message.type, Refusal.MISSING_CAPABILITY, lack))
            return
        options = resolve_options(message.options)
        code = options if isinstance(options, Refused) else await self._open_room(message.key, player, client.address)
        if isinstance(code, Refused):
            client.refused(code)
            return
        room = await self._rooms.registry.make_room(code)
        is_repeatable = message.key is not None
        command = CreateRoom(
            message.options, player.player_id, player.name, client.connection_id, is_repeatable, message.rival
        )
        self._submit(room, command, message.type, player, client, is_open)

    async def _open_room(self, key: str | None, player: Player, address: str) -> str | Refused:
        """Return the code of the room that a player opens, or has opened with this key before; or the refusal.

        The code is known before the room is made, so that a `create` sent again leads to the same room whatever has
        become of the first one. One that leads to a known room is not counted.
        """
        known, opened = await self._openings.look_up(player.player_id, key)
        if known is not None:
            return known
        if opened >= self._rooms_per_player:
            return refuse("create", Refusal.TOO_MANY_ROOMS)
        # Counted last: one player that is refused again and again must not use up the rooms of its address.
        if await self._openings.count_at(address) > self._rooms_per_address:
            return refuse("create", Refusal.TOO_MANY_ROOMS, _MANY_AT_ADDRESS)
        drawn = await draw_free_code(self._rooms.log, self._places.is_served_here)
        code = await self._openings.open(player.player_id, key, drawn, self._rooms_per_player)
        return refuse("create", Refusal.TOO_MANY_ROOMS) if code is None else code

    async def _may_name(self, code: str, player: Player, address: str) -> bool:
        """Return whether this player may ask for the room `code`: guessing codes ends when an address has missed often.

        Then only rooms are open that the player knows without guessing: those of the lobby, and those in which it has a
        seat. The answer is the same for a room that exists and one that does not. Raises RedisError.
        """
        if self.limits.may_try_code(address):
            return True
        room = await self._rooms.registry.open_room(code)
        if room is None:
            return False
        self._rooms.registry.on_change(room)
        state = room.state
        return state is not None and (state.options.listed or state.seat_of(player.player_id) is not None)

    async def _take_seat(
        self,
        message: Join | Resume,
        player: Player,
        client: EnteringClient,
        is_open: Callable[[], bool],
    ) -> None:
        room = await self._rooms.registry.attach_room(message.room)
        if room is None:
            client.refused(refuse(message.type, Refusal.NO_SUCH_ROOM))
            return
        command = TakeSeat(player.player_id, player.name, client.connection_id, message.type)
        self._submit(room, command, message.type, player, client, is_open)

    def _submit(
        self,
        room: LiveRoom,
        command: CreateRoom | TakeSeat,
        to: str,
        player: Player,
        client: EnteringClient,
        is_open: Callable[[], bool],
    ) -> None:
        """Ask the room for a seat, unless the client is gone, lacks a capability, or its address may open no rounds."""
        if not is_open():
            # The player may have resumed over a newer connection, whose seat this one must not take.
            self._rooms.registry.on_change(room)
        elif lack := _lack_in(player, room):
            self._rooms.registry.on_change(room)
            client.refused(refuse(to, Refusal.MISSING_CAPABILITY, lack))
        elif _opens_round(room, player) and not self.limits.may_open_round(client.address):
            self._rooms.registry.on_change(room)
            client.refused(refuse(to, Refusal.TOO_MANY_ROUNDS))
        else:
            client.room = room
            room.submit(Request(command, client))


def _lack_in(player: Player, room: LiveRoom) -> str:
    """Return why the client of this player does not know the options of this room, empty if it does."""
    return "" if room.state is None else _lack(player, room.state.options)


def _lack(player: Player, options: RoomOptions) -> str:
    """Return why the client of this player does not know these options, and would take them for a lie; empty if not."""
    asked = {CERTIFIED: options.certified, CREDIT: options.credit}
    lacking = (name for name, option in asked.items() if option is not None and name not in player.capabilities)
    return next((_NOT_KNOWN[name] for name in lacking), "")


def _opens_round(room: LiveRoom, player: Player) -> bool:
    """Return whether the entry of this player would open a round: the other seat is taken, and not by the player."""
    state = room.state
    return (
        state is not None
        and state.phase is Phase.WAITING
        and any(state.seats)
        and state.seat_of(player.player_id) is None
    )
