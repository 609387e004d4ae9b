"""The players of this process who wait for an opponent, as their connections see the queue.

`pair_maker` finds an opponent for each, and leads both into a room.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.calculation.distance import CAPABILITY as CREDIT
from fairest_protocol.calculation.rules import BadRules
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import LeaveQueue, Queue
from fairest_protocol.messages.from_server import LeftQueue, Refused
from fairest_protocol.messages.refusals import SEND_AGAIN, Refusal
from fairest_server.edge.pair_maker import PairMaker
from fairest_server.edge.room_messages import refuse_message
from fairest_server.edge.seeker import Seeker, WaitingClient, options_for
from fairest_server.live.pairing import Position
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.slices import Slices
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.refusing import refuse
from fairest_server.store.processes import Processes
from fairest_server.store.tickets import MAX_ATTEMPTS, Change, Ticket, Tickets, freed

MAX_TICKETS: Final = 1_000
"""Players that may wait in the deployment. Pairs are gone within a second, so only those wait who accept nobody."""
_ROOM_IS_NONE: Final = frozenset({Refusal.NO_SUCH_ROOM, Refusal.ROOM_FULL, Refusal.ROOM_CLOSED})
"""Refusals of a partner's room, after which the player waits for another opponent."""


class RaceQueue:
    """The waiting players of this process, by their connections. One serves all connections."""

    def __init__(
        self,
        tickets: Tickets,
        processes: Processes,
        clock: RedisClock,
        slices: Slices,
        rating_of: Callable[[str, str], Awaitable[float]],
        on_settled: Callable[[WaitingClient], None],
    ) -> None:
        """`rating_of` returns the rating of a player in points, by its id and the rules. `on_settled` is called with
        a player that is in a room with its opponent.
        """
        self._tickets = tickets
        self._process_id = processes.process_id
        self._clock = clock
        self._rating_of = rating_of
        self._seekers: dict[str, Seeker] = {}
        self._pair_maker = PairMaker(tickets, processes, clock, slices, self._seekers, on_settled)
        self._dropping: set[asyncio.Task[None]] = set()

    def refusal_of_entry(self, client: WaitingClient) -> Refusal | None:
        """Return why this client can ask for no room now, and for no place in the queue; None if it can."""
        if client.room is not None:
            return Refusal.ALREADY_IN_ROOM
        return Refusal.ALREADY_QUEUED if client.connection_id in self._seekers else None

    async def ask(self, message: Queue | LeaveQueue, client: WaitingClient) -> int:
        """Let a client wait, or wait no longer; return how many tickets were read.

        Without Redis, it is told to try again.
        """
        answer: Refused | LeftQueue | None
        read = 0
        try:
            if isinstance(message, LeaveQueue):
                answer = await self._leave(message, client)
            else:
                answer, read = await self._begin(message, client)
        except (RedisError, OSError):
            answer = refuse_message(message, Refusal.TRY_AGAIN)
        if answer is not None:
            client.show(encode(answer))
        return read

    def retries(self, client: WaitingClient, answer: Refused) -> bool:
        """Return whether a refused entry is no matter for the client, because the queue finds it another room."""
        seeker = self._seekers.get(client.connection_id)
        if seeker is None:
            return False
        is_guest = not seeker.ticket.is_host
        if answer.code in SEND_AGAIN or (is_guest and answer.code in _ROOM_IS_NONE):
            return True
        self.forget(client)
        return False

    def takes_back(self, client: WaitingClient) -> bool:
        """Return whether a client that has just left its room waits again, which it has then been told."""
        seeker = self._seekers.get(client.connection_id)
        if seeker is None:
            return False
        if not seeker.is_leaving:
            # The player has left the room before the opponent came, or the operator has closed it.
            self.forget(client)
            return False
        seeker.is_leaving, seeker.shown = False, 0
        seeker.show_waiting(2 if seeker.ticket.partner else 1)
        return True

    def forget(self, client: WaitingClient) -> None:
        """Let a client that is gone wait no longer, in the queue or alone in a room. Safe to call again."""
        seeker = self._seekers.pop(client.connection_id, None)
        if seeker is not None:
            seeker.give_up_room()
            dropping = asyncio.create_task(self._drop(seeker.ticket))
            self._dropping.add(dropping)
            dropping.add_done_callback(self._dropping.discard)

    async def run(self, stopping: asyncio.Event) -> None:
        """Pair players until `stopping` is set, then remove the tickets of this process."""
        await self._pair_maker.run(stopping)
        for seeker in list(self._seekers.values()):
            self.forget(seeker.client)
        await asyncio.gather(*self._dropping)

    async def _begin(self, message: Queue, client: WaitingClient) -> tuple[Refused | None, int]:
        refusal = self.refusal_of_entry(client)
        if refusal is not None:
            return refuse_message(message, refusal), 0
        try:
            rules = options_for(message).resolved().rules
        except BadRules as reason:
            sentence = f"{str(reason)[:1].upper()}{str(reason)[1:]}."
            return refuse("queue", Refusal.BAD_RULES, sentence).with_id(message.id), 0
        player_id = client.player_id
        ticket = Ticket(
            ticket_id=secrets.token_hex(8),
            player_id=player_id,
            process_id=self._process_id,
            rules=rules,
            since_ms=self._clock.now_ms(),
            rating=await self._rating_of(player_id, rules),
            last_opponent=await self._tickets.last_opponent(player_id),
            has_credit=client.player is not None and CREDIT in client.player.capabilities,
        )
        read = 0
        for _ in range(MAX_ATTEMPTS):
            held = await self._tickets.read()
            read += len(held)
            if len(held) >= MAX_TICKETS and player_id not in held:
                break
            if await self._tickets.change([Change(player_id, held.get(player_id), ticket), *freed(player_id, held)]):
                self._seekers[client.connection_id] = seeker = Seeker(client, message, ticket)
                others = (other for other in held.values() if other.player_id != player_id)
                seeker.show_waiting(1 + sum(other.rules == rules for other in others), message.id)
                self._pair_maker.wanted.set()
                return None, read
        return refuse_message(message, Refusal.TRY_AGAIN), read

    async def _leave(self, message: LeaveQueue, client: WaitingClient) -> Refused | LeftQueue:
        seeker = self._seekers.get(client.connection_id)
        if seeker is None or seeker.position is not Position.OUTSIDE:
            return refuse_message(message, Refusal.NOT_QUEUED)
        del self._seekers[client.connection_id]
        await self._tickets.drop(seeker.ticket)
        return LeftQueue(id=message.id)

    async def _drop(self, ticket: Ticket) -> None:
        with contained(Part.PERIODIC), suppress(RedisError, OSError):
            # If Redis is away, a later look removes it: nobody waits with it.
            await self._tickets.drop(ticket)
