"""Finds opponents for the waiting players of this process, and leads each pair into a room.

All waiting players of the deployment have their tickets in Redis (`store/tickets.py`). Each process looks at all of
them a few times a second, pairs its own players with others (`live/pairing.py`), and takes the next step with each of
its own: the one that has waited longer opens a room, then the other one joins it. A step that another process has
overtaken changes nothing, because tickets are compared before they are changed; the next look sees what has happened.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Final

import structlog
from redis.exceptions import RedisError

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.from_server import LeftQueue
from fairest_protocol.value import replace
from fairest_server.edge.seeker import Seeker, WaitingClient
from fairest_server.live.pairing import NextStep, Position, choosing_pairs, next_step
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.slices import Slices
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.store.processes import Processes
from fairest_server.store.tickets import Change, Ticket, Tickets

LOOK_SECONDS: Final = 0.25
"""The time between two looks at the tickets while players of this process wait."""
REST_SECONDS: Final = 0.05
"""The least time between two looks, however many players begin to wait: a look at 1,000 tickets takes 4 ms."""
IDLE_LOOK_SECONDS: Final = 1.0
"""The same while none does: tickets of processes that were killed are removed."""
_LOG: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)


class PairMaker:
    """Takes the steps of the waiting players of this process, which are in `seekers` by their connections."""

    def __init__(
        self,
        tickets: Tickets,
        processes: Processes,
        clock: RedisClock,
        slices: Slices,
        seekers: MutableMapping[str, Seeker],
        on_settled: Callable[[WaitingClient], None],
    ) -> None:
        self.wanted: Final = asyncio.Event()
        """Set when a player has begun to wait: the next look waits no longer than REST_SECONDS."""
        self._tickets = tickets
        self._processes = processes
        self._clock = clock
        self._slices = slices
        self._seekers = seekers
        self._on_settled = on_settled

    async def run(self, stopping: asyncio.Event) -> None:
        """Look at the tickets until `stopping` is set."""
        while not stopping.is_set():
            self.wanted.clear()
            with contained(Part.PERIODIC):
                try:
                    await self.look()
                except (RedisError, OSError) as reason:
                    _LOG.warning(Event.REDIS_FAILED, reason=str(reason))
            seconds = LOOK_SECONDS if self._seekers else IDLE_LOOK_SECONDS
            await _wait_for_any([stopping], REST_SECONDS)
            await _wait_for_any([stopping, self.wanted], seconds - REST_SECONDS)

    async def look(self) -> None:
        """Look at all tickets once: remove what is left over, pair, and take the next step with each player of ours.

        Raises RedisError and OSError.
        """
        held = await self._tickets.read()
        now_ms = self._clock.now_ms()
        await self._remove_left_over(held)
        await self._put_lost(held)
        self._take_over(held)
        own = {seeker.ticket.ticket_id: seeker for seeker in self._seekers.values()}
        can_be_paired = (Position.OUTSIDE, Position.OPEN)
        busy = {ticket_id for ticket_id, seeker in own.items() if seeker.position not in can_be_paired}
        free = [each for each in held.values() if each.ticket_id not in busy]
        for host, guest in await self._slices.finish(choosing_pairs(free, now_ms)):
            # The process of another host makes that pair.
            if host.ticket_id in own:
                await self._pair(host, guest, now_ms, held)
        self._take_over(held)
        await asyncio.gather(*(self._advance(seeker, held, now_ms) for seeker in list(self._seekers.values())))
        waiting = Counter(ticket.rules for ticket in held.values())
        for seeker in self._seekers.values():
            seeker.show_waiting(waiting[seeker.ticket.rules])

    async def _pair(self, host: Ticket, guest: Ticket, now_ms: int, held: dict[str, Ticket]) -> None:
        """Pair two tickets, also among those `held`, unless one of them is another one by now."""
        paired = (
            replace(host, partner=guest.player_id, paired_ms=now_ms, is_host=True),
            replace(guest, partner=host.player_id, paired_ms=now_ms),
        )
        changes = [Change(before.player_id, before, after) for before, after in zip((host, guest), paired, strict=True)]
        if await self._tickets.change(changes):
            held.update({ticket.player_id: ticket for ticket in paired})
            _LOG.info(Event.PAIRED, rules=host.rules, waited_ms=now_ms - host.since_ms)

    async def _advance(self, seeker: Seeker, held: Mapping[str, Ticket], now_ms: int) -> None:
        """Take the next step with a player of this process. Raises RedisError and OSError."""
        own, client = seeker.ticket, seeker.client
        if seeker.is_leaving:
            seeker.leave_room()
            return
        if seeker.rival_is_due(now_ms) and seeker.position is Position.OUTSIDE:
            # The ticket stays: no program may come, and then the player would wait alone beside others who wait.
            await seeker.enter(seeker.create_for_rival())
            return
        partner = held.get(own.partner)
        match next_step(own, partner, seeker.position, now_ms):
            case NextStep.OPEN_ROOM if partner is not None:
                await seeker.enter(Create(options=seeker.options_with(partner)))
            case NextStep.NAME_ROOM if client.room is not None:
                await self._change(seeker, replace(own, room=client.room.code))
            case NextStep.JOIN if partner is not None:
                await seeker.enter(Join(room=partner.room))
            case NextStep.REQUEUE if await self._change(seeker, own.unpaired()):
                seeker.is_leaving = seeker.position is Position.ALONE
            case NextStep.LEAVE:
                seeker.is_leaving = True
            case NextStep.SETTLE:
                if own.partner:
                    await self._tickets.remember_opponents(own.player_id, own.partner)
                is_over = own.player_id not in held or await self._tickets.change([Change(own.player_id, own, None)])
                if is_over and self._seekers.pop(client.connection_id, None) is not None:
                    self._on_settled(client)

    async def _change(self, seeker: Seeker, after: Ticket) -> bool:
        """Change the ticket of a player of this process; return False if it is another one by now."""
        if not await self._tickets.change([Change(after.player_id, seeker.ticket, after)]):
            return False
        seeker.ticket = after
        return True

    async def _put_lost(self, held: dict[str, Ticket]) -> None:
        """Write tickets again that are gone although their players wait, as Redis may lose them."""
        for seeker in list(self._seekers.values()):
            ticket = seeker.ticket.unpaired()
            if ticket.player_id in held or seeker.position is Position.TOGETHER:
                continue
            # Nothing changes if the player has queued since the tickets were read.
            if await self._tickets.change([Change(ticket.player_id, None, ticket)]):
                held[ticket.player_id] = ticket

    def _take_over(self, held: Mapping[str, Ticket]) -> None:
        """Take what other processes have made of the tickets of this process."""
        for seeker in list(self._seekers.values()):
            found = held.get(seeker.ticket.player_id)
            if found is not None and found.ticket_id == seeker.ticket.ticket_id:
                seeker.ticket = found
            elif found is not None and found.since_ms >= seeker.ticket.since_ms:
                # The player queues over a newer connection.
                del self._seekers[seeker.client.connection_id]
                seeker.client.show(encode(LeftQueue()))
                seeker.give_up_room()

    async def _remove_left_over(self, held: dict[str, Ticket]) -> None:
        """Remove tickets of processes that have lapsed, and those of this process that nobody waits with any more."""
        gone = {self._processes.process_id: False}
        known = {seeker.ticket.ticket_id for seeker in self._seekers.values()}
        for ticket in list(held.values()):
            if ticket.process_id not in gone:
                gone[ticket.process_id] = await self._processes.has_lapsed(ticket.process_id)
            is_own = ticket.process_id == self._processes.process_id
            if gone[ticket.process_id] or (is_own and ticket.ticket_id not in known):
                await self._tickets.drop(ticket)
                held.pop(ticket.player_id, None)


async def _wait_for_any(events: Iterable[asyncio.Event], seconds: float) -> None:
    """Wait until one of the events is set, or `seconds` are over."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
