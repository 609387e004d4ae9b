"""The tickets of players who wait for an opponent, in one hash of Redis that all processes change by comparison."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from redis.asyncio import Redis

from fairest_protocol.value import Value, replace
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script

MAX_ATTEMPTS: Final = 20
"""Attempts to change a ticket that others change at the same time."""


class Ticket(Value):
    """A player that waits for an opponent over a connection to the process `process_id`.

    `ticket_id` is that of the wait: a player who queues again over another connection has another one. `rules` are the
    resolved name of a variant; `since_ms` is on Redis' clock. `last_opponent` is the player that this one was paired
    with last, or empty. Once paired, `partner` is the other player, `paired_ms` the time of that, and one of the two
    opens the room, whose code is `room` once it is there. `has_credit`: the player's client can enter a room that
    credits distance.
    """

    ticket_id: str
    player_id: str
    process_id: str
    rules: str
    since_ms: int
    rating: float
    last_opponent: str = ""
    partner: str = ""
    paired_ms: int = 0
    is_host: bool = False
    room: str = ""
    has_credit: bool = False

    def unpaired(self) -> "Ticket":
        """Return the ticket without a partner. It has waited as long as before."""
        return replace(self, partner="", paired_ms=0, is_host=False, room="")


class Change(Value):
    """One player's ticket before and after a change; None where there is no ticket."""

    player_id: str
    before: Ticket | None
    after: Ticket | None


class Tickets:
    """All tickets of the deployment. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._change_tickets = Script("change_tickets.lua")
        self._parsed: dict[bytes, Ticket | None] = {}
        """The tickets that were read last, by their texts: few of them change between two reads."""

    async def read(self) -> dict[str, Ticket]:
        """Return the tickets by their players, without those that a process of another version has written."""
        found = cast("dict[bytes, bytes]", await cast("Any", self._redis.hgetall(keys.TICKETS)))
        known = self._parsed
        self._parsed = {text: known[text] if text in known else _parse(text) for text in found.values()}
        read = ((player.decode(), self._parsed[text]) for player, text in found.items())
        return {player: ticket for player, ticket in read if ticket is not None}

    async def change(self, changes: Sequence[Change]) -> bool:
        """Make all these changes in one step, if every ticket is as it was before; else none, and return False.

        Safe to call again: a change that was made is not made twice, since its tickets are no longer as before.
        """
        arguments: list[str | bytes] = []
        for change in changes:
            arguments += (change.player_id, _text_of(change.before), _text_of(change.after))
        return bool(await self._change_tickets.run(self._redis, [keys.TICKETS], arguments))

    async def drop(self, ticket: Ticket) -> None:
        """Remove a ticket, whatever became of it meanwhile, and let its partner wait on. Safe to call again."""
        for _ in range(MAX_ATTEMPTS):
            # Not all tickets: a client that queues and leaves again and again would have them read without end.
            held = await self._read_of(ticket.player_id)
            found = held.get(ticket.player_id)
            if found is None or found.ticket_id != ticket.ticket_id:
                return
            held |= await self._read_of(found.partner)
            if await self.change([Change(ticket.player_id, found, None), *freed(ticket.player_id, held)]):
                return

    async def _read_of(self, player_id: str) -> dict[str, Ticket]:
        """Return the ticket of one player by the player's id; empty if there is none, or for the id of nobody."""
        found = cast("bytes | None", await cast("Any", self._redis.hget(keys.TICKETS, player_id)))
        ticket = None if found is None else _parse(found)
        return {} if ticket is None else {player_id: ticket}

    async def last_opponent(self, player_id: str) -> str:
        """Return the player that this one was paired with last, within LAST_OPPONENT_SECONDS; empty if none."""
        found = cast("bytes | None", await self._redis.get(keys.last_opponent(player_id)))
        return found.decode() if found else ""

    async def remember_opponents(self, player_id: str, other_id: str) -> None:
        """Note for both players that they were paired."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.set(keys.last_opponent(player_id), other_id, ex=keys.LAST_OPPONENT_SECONDS)
        pipeline.set(keys.last_opponent(other_id), player_id, ex=keys.LAST_OPPONENT_SECONDS)
        await pipeline.execute()


def freed(player_id: str, held: Mapping[str, Ticket]) -> list[Change]:
    """Return the change that lets the partner of a player wait on, if there is one among the tickets `held`."""
    own = held.get(player_id)
    partner = held.get(own.partner) if own is not None else None
    if partner is None or partner.partner != player_id:
        return []
    return [Change(partner.player_id, partner, partner.unpaired())]


def _text_of(ticket: Ticket | None) -> bytes:
    return b"" if ticket is None else msgspec.json.encode(ticket)


def _parse(text: bytes) -> Ticket | None:
    """Return the ticket, or None if this version would not write it so, and could never change it."""
    try:
        ticket = msgspec.json.decode(text, type=Ticket)
    except msgspec.DecodeError:
        return None
    return ticket if _text_of(ticket) == text else None
