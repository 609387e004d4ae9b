"""Which waiting players race one another, and how two of them get into one room: decisions on values, without Redis."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_server.store.tickets import Ticket

WINDOW: Final = 100.0
"""The difference of rating that a player accepts at once."""
WINDOW_PER_SECOND: Final = 25.0
"""By so much the window grows for each second of waiting."""
ANY_SECONDS: Final = 30.0
"""A player who has waited so long accepts everybody."""
MAX_LOOKED_AT: Final = 8
"""Of so many neighbours by rating, on each side, a player's opponent is chosen: a queue of 1,000 costs milliseconds."""
PARTNER_MS: Final = 5_000
"""The time in which both players of a pair must be in their room; otherwise they wait on, each for another opponent."""


class Position(Enum):
    """Where a waiting player is."""

    OUTSIDE = "in no room"
    ON_THE_WAY = "on the way into a room, or out of one"
    ALONE = "seated, and the other seat is free"
    OPEN = "seated, and the other seat is free, also for a program"
    TOGETHER = "seated, and so is an opponent"


class NextStep(Enum):
    """The next step of a waiting player."""

    WAIT = "wait"
    OPEN_ROOM = "open the room of the pair"
    NAME_ROOM = "write the code of the open room into the ticket"
    JOIN = "join the room of the partner"
    REQUEUE = "wait for another opponent, outside of any room"
    LEAVE = "leave the room that is open to a program: a person is found"
    SETTLE = "race: the ticket is no longer needed"


def next_step(own: Ticket, partner: Ticket | None, position: Position, now_ms: int) -> NextStep:
    """Return the next step of a player with the ticket `own`; `partner` is the present ticket of the other one."""
    if position is Position.ON_THE_WAY:
        return NextStep.WAIT
    if position is Position.TOGETHER:
        return NextStep.SETTLE
    if position is Position.OPEN:
        # Not the room of the pair: it credits distance as this player's client knows it, and a program may join it.
        return NextStep.LEAVE if own.partner else NextStep.WAIT
    if not own.partner:
        # Alone in a room: the partner was found to be gone, which has freed this ticket.
        return NextStep.REQUEUE if position is Position.ALONE else NextStep.WAIT
    is_over = now_ms - own.paired_ms > PARTNER_MS
    if partner is None or partner.partner != own.player_id or is_over:
        return NextStep.REQUEUE
    if own.is_host:
        if position is Position.OUTSIDE:
            return NextStep.REQUEUE if own.room else NextStep.OPEN_ROOM
        return NextStep.WAIT if own.room else NextStep.NAME_ROOM
    if position is Position.ALONE:
        return NextStep.REQUEUE
    return NextStep.JOIN if partner.room else NextStep.WAIT


def choose_pairs(tickets: Iterable[Ticket], now_ms: int) -> list[tuple[Ticket, Ticket]]:
    """Do what `choosing_pairs` does, at once."""
    return finish(choosing_pairs(tickets, now_ms))


def choosing_pairs(tickets: Iterable[Ticket], now_ms: int) -> Sliced[list[tuple[Ticket, Ticket]]]:
    """Pair tickets that are free, each pair with the one first that has waited longer. In slices.

    Those who have waited longest choose first, each the opponent nearest in rating. Both must accept the difference.
    The same two are paired again only if nobody else waits for these rules.
    """
    groups: dict[str, list[Ticket]] = {}
    for ticket in tickets:
        if not ticket.partner:
            groups.setdefault(ticket.rules, []).append(ticket)
    pairs: list[tuple[Ticket, Ticket]] = []
    for group in groups.values():
        yield
        yield from _pair_group(group, now_ms, pairs)
    return pairs


def window(ticket: Ticket, now_ms: int) -> float:
    """Return the difference of rating that this player accepts by now."""
    seconds = max(0, now_ms - ticket.since_ms) / 1000
    return float("inf") if seconds >= ANY_SECONDS else WINDOW + WINDOW_PER_SECOND * seconds


def _pair_group(group: Sequence[Ticket], now_ms: int, pairs: list[tuple[Ticket, Ticket]]) -> Sliced[None]:
    """Add the pairs of a group to `pairs`."""
    free = sorted(group, key=_rank)
    for ticket in sorted(group, key=lambda ticket: (ticket.since_ms, ticket.player_id)):
        yield
        place = bisect_left(free, _rank(ticket), key=_rank)
        if place == len(free) or free[place] is not ticket:
            # An opponent that has waited longer chose this one.
            continue
        others = free[max(0, place - MAX_LOOKED_AT) : place] + free[place + 1 : place + 1 + MAX_LOOKED_AT]
        best = _choose(ticket, others, now_ms, is_last_pair=len(group) == 2)
        if best is not None:
            free.remove(ticket)
            free.remove(best)
            pairs.append((ticket, best))


def _choose(ticket: Ticket, others: Iterable[Ticket], now_ms: int, *, is_last_pair: bool) -> Ticket | None:
    """Return the opponent of a ticket; None if it has to wait. With `is_last_pair`, nobody else waits."""
    accepted = [
        other
        for other in others
        if abs(other.rating - ticket.rating) <= min(window(ticket, now_ms), window(other, now_ms))
        and (is_last_pair or not _were_paired(ticket, other))
    ]
    return min(accepted, key=lambda other: (abs(other.rating - ticket.rating), other.since_ms), default=None)


def _were_paired(ticket: Ticket, other: Ticket) -> bool:
    """Return whether one of the two was paired with the other last."""
    return ticket.last_opponent == other.player_id or other.last_opponent == ticket.player_id


def _rank(ticket: Ticket) -> tuple[float, str]:
    return (ticket.rating, ticket.player_id)
