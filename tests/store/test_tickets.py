"""The tickets of waiting players change only as the one who changes them knows them."""

from collections.abc import Sequence

import pytest
from redis.asyncio import Redis

from fairest_protocol.value import replace
from fairest_server.store import keys
from fairest_server.store.tickets import Change, Ticket, Tickets, freed

ANN = Ticket("t1", "ann", "p", "classic", 1000, rating=12.5, last_opponent="eve")
BOB = Ticket("t2", "bob", "q", "classic", 2000, rating=0.0)


@pytest.fixture
def tickets(redis: Redis) -> Tickets:
    return Tickets(redis)


async def test_a_new_ticket_is_read_as_it_was_written(tickets: Tickets) -> None:
    assert await tickets.change([Change("ann", None, ANN)])
    assert await tickets.read() == {"ann": ANN}


async def test_a_ticket_that_is_there_already_is_not_overwritten(tickets: Tickets) -> None:
    await tickets.change([Change("ann", None, ANN)])
    assert not await tickets.change([Change("ann", None, replace(ANN, ticket_id="t9"))])
    assert await tickets.read() == {"ann": ANN}


async def test_of_two_changes_none_is_made_if_one_ticket_is_another_one(tickets: Tickets) -> None:
    await tickets.change([Change("ann", None, ANN)])
    paired = replace(ANN, partner="bob"), replace(BOB, partner="ann")
    assert not await tickets.change([Change("ann", ANN, paired[0]), Change("bob", BOB, paired[1])])
    assert await tickets.read() == {"ann": ANN}


async def test_both_tickets_of_a_pair_change_in_one_step(tickets: Tickets) -> None:
    await tickets.change([Change("ann", None, ANN), Change("bob", None, BOB)])
    paired = {"ann": replace(ANN, partner="bob"), "bob": replace(BOB, partner="ann")}
    assert await tickets.change([Change("ann", ANN, paired["ann"]), Change("bob", BOB, paired["bob"])])
    assert await tickets.read() == paired


async def test_a_removed_ticket_is_gone(tickets: Tickets) -> None:
    await tickets.change([Change("ann", None, ANN)])
    assert await tickets.change([Change("ann", ANN, None)])
    assert await tickets.read() == {}


async def test_a_change_that_was_made_is_not_made_again(tickets: Tickets) -> None:
    await tickets.change([Change("ann", None, ANN)])
    await tickets.change([Change("ann", ANN, None)])
    assert not await tickets.change([Change("ann", ANN, None)])


@pytest.mark.parametrize("text", [b"", b"{}", b"no json", b'{"ticket_id":"t"}', b"\xff"])
async def test_a_ticket_that_this_version_does_not_write_is_passed_over(
    tickets: Tickets, redis: Redis, text: bytes
) -> None:
    await redis.hset(keys.TICKETS, "eve", text)
    assert await tickets.read() == {}


async def test_an_unpaired_ticket_has_waited_as_long_as_before() -> None:
    assert replace(ANN, partner="bob", paired_ms=5, is_host=True, room="a-b").unpaired() == ANN


async def test_the_last_opponent_is_known_of_both(tickets: Tickets) -> None:
    await tickets.remember_opponents("ann", "bob")
    assert [await tickets.last_opponent(player) for player in ("ann", "bob", "eve")] == ["bob", "ann", ""]


async def test_a_dropped_ticket_frees_its_partner(tickets: Tickets) -> None:
    pair = (replace(ANN, partner="bob", paired_ms=3000, is_host=True), replace(BOB, partner="ann", paired_ms=3000))
    assert await tickets.change([Change(each.player_id, None, each) for each in pair])
    await tickets.drop(ANN)
    assert await tickets.read() == {"bob": BOB}


async def test_a_dropped_ticket_leaves_one_of_another_wait(tickets: Tickets) -> None:
    assert await tickets.change([Change("ann", None, ANN)])
    await tickets.drop(replace(ANN, ticket_id="t0"))
    assert await tickets.read() == {"ann": ANN}


async def test_to_drop_a_ticket_the_others_are_not_read(redis: Redis) -> None:
    class UnreadTickets(Tickets):
        async def read(self) -> dict[str, Ticket]:
            raise AssertionError("all tickets are read")

    tickets = UnreadTickets(redis)
    assert await tickets.change([Change("ann", None, ANN)])
    await tickets.drop(ANN)
    assert await Tickets(redis).read() == {}


async def test_a_ticket_that_has_changed_is_read_anew(tickets: Tickets) -> None:
    assert await tickets.change([Change("ann", None, ANN), Change("bob", None, BOB)])
    assert await tickets.read() == {"ann": ANN, "bob": BOB}
    paired = replace(ANN, partner="bob")
    assert await tickets.change([Change("ann", ANN, paired), Change("bob", BOB, None)])
    assert await tickets.read() == {"ann": paired}


def test_a_new_ticket_has_no_opponent_and_no_credit() -> None:
    assert Ticket("t2", "bob", "q", "classic", 2000, 0.0, "", "", 0, False, "", False) == BOB


async def test_a_partner_that_was_paired_with_another_player_meanwhile_is_left_alone(tickets: Tickets) -> None:
    ann, bob = replace(ANN, partner="bob"), replace(BOB, partner="eve", paired_ms=5)
    assert await tickets.change([Change("ann", None, ann), Change("bob", None, bob)])
    await tickets.drop(ann)
    assert await tickets.read() == {"bob": bob}


async def test_a_ticket_that_was_dropped_already_leaves_the_others(tickets: Tickets) -> None:
    assert await tickets.change([Change("bob", None, BOB)])
    await tickets.drop(ANN)
    assert await tickets.read() == {"bob": BOB}


def test_the_partner_of_a_player_without_a_ticket_is_not_freed() -> None:
    assert freed("ann", {"bob": replace(BOB, partner="ann")}) == []


async def test_a_ticket_that_others_always_change_is_tried_twenty_times(redis: Redis) -> None:
    tried: list[Sequence[Change]] = []

    class Contended(Tickets):
        async def change(self, changes: Sequence[Change]) -> bool:
            tried.append(changes)
            return False

    await Tickets(redis).change([Change("ann", None, ANN)])
    await Contended(redis).drop(ANN)
    assert len(tried) == 20
