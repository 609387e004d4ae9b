"""Players who wait for an opponent over real sockets: they are paired, and whoever goes leaves nothing behind."""

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis
from websockets.exceptions import ConnectionClosed

from fairest_protocol.calculation.distance import PROCEDURE
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetLobby, Join, Leave, LeaveQueue, Queue, Resume, Watch
from fairest_protocol.messages.from_server import Left, LeftQueue, LobbyPage, Queued, Snapshot
from fairest_protocol.messages.refusals import CLOSE_CODES, Breach, Refusal
from fairest_protocol.value import replace
from fairest_server.app import running
from fairest_server.edge import session
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.tickets import Change, Tickets
from tests.support.limited import Limited
from tests.support.processes import Fleet, redis_process
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import WireClient, open_client

PAUSE_MS = 700
"""Longer than two looks of the queue at its tickets, and shorter than the time in which a request is in doubt."""


async def begin(client: WireClient, message: Queue | None = None) -> Queued:
    await client.send(message or Queue())
    return await client.receive_a(Queued)


async def until_queue_is_empty(redis: Redis) -> None:
    async def is_empty() -> bool:
        return await redis.hlen(keys.TICKETS) == 0

    await until(is_empty, "no ticket is left")


async def test_two_players_get_the_seats_of_one_room(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await begin(ann)
        await begin(bob)
        shown = [await client.receive_a(Snapshot) for client in (ann, bob)]
        assert shown[0].room == shown[1].room
        assert sorted(snapshot.seat or 0 for snapshot in shown) == [0, 1]


async def test_both_answers_repeat_the_id_of_the_request(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        queued = await begin(ann, Queue(id="q-1"))
        await begin(bob)
        assert (queued.id, (await ann.receive_a(Snapshot)).id) == ("q-1", "q-1")


async def test_the_two_race(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await asyncio.gather(begin(ann), begin(bob))
        await asyncio.gather(ann.receive_a(Snapshot), bob.receive_a(Snapshot))
        scenes = await asyncio.gather(ann.take_part_in_deal(), bob.take_part_in_deal())
        assert [scene.phase for scene in scenes] == [Phase.RACING, Phase.RACING]
        await until_queue_is_empty(redis)


@pytest.mark.long
async def test_players_of_two_processes_are_paired(fleet: Fleet) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with open_client(first) as ann, open_client(second) as bob:
        await begin(ann)
        await begin(bob)
        shown = [await client.receive_a(Snapshot) for client in (ann, bob)]
        assert shown[0].room == shown[1].room


async def test_a_variant_under_its_other_name_is_the_same_queue(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        queued = await begin(ann, Queue(rules="Classic"))
        assert queued.rules == "classic"
        await begin(bob)
        await ann.receive_a(Snapshot)


async def test_rules_that_nobody_plays_are_refused(server_url: str) -> None:
    async with open_client(server_url) as client:
        refused = await client.expect_refusal(Queue(rules="nonsense", id="q"))
        assert (refused.to, refused.code, refused.id) == ("queue", Refusal.BAD_RULES, "q")


async def test_a_player_who_leaves_the_queue_is_paired_no_more(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await begin(ann)
        await ann.send(LeaveQueue(id="l"))
        assert (await ann.receive_a(LeftQueue)).id == "l"
        assert (await begin(bob)).waiting == 1
        await bob.send(LeaveQueue())
        await bob.receive_a(LeftQueue)
        assert await redis.hlen(keys.TICKETS) == 0


async def test_who_does_not_wait_cannot_leave_the_queue(server_url: str) -> None:
    async with open_client(server_url) as client:
        assert (await client.expect_refusal(LeaveQueue())).code is Refusal.NOT_QUEUED


@pytest.mark.parametrize("message", [Queue(), Create(), Join(room="a-b-c"), Watch(room="a-b-c")])
async def test_who_waits_can_ask_for_no_other_room(server_url: str, message: Queue | Create | Join | Watch) -> None:
    async with open_client(server_url) as client:
        await begin(client)
        assert (await client.expect_refusal(message)).code is Refusal.ALREADY_QUEUED


async def test_who_is_in_a_room_cannot_wait(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.enter(Create())
        assert (await client.expect_refusal(Queue())).code is Refusal.ALREADY_IN_ROOM


async def test_a_dropped_player_leaves_no_ticket_behind(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as client:
        await begin(client)
        client.socket.transport.abort()
    await until_queue_is_empty(redis)


@pytest.mark.long
async def test_the_tickets_of_a_killed_process_are_removed(fleet: Fleet, redis: Redis) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with AsyncExitStack() as stack:
        ann = await stack.enter_async_context(open_client(first))
        await begin(ann)
        await fleet.kill(first)
        await until_queue_is_empty(redis)
    assert second


@pytest.mark.long
async def test_a_stopped_process_takes_its_tickets_with_it(fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    async with open_client(url) as ann:
        await begin(ann)
        await fleet.end(url)
        assert await redis.hlen(keys.TICKETS) == 0


async def test_a_player_whose_ticket_is_lost_goes_on_waiting(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await begin(ann)
        await redis.delete(keys.TICKETS)
        await begin(bob)
        assert (await ann.receive_a(Snapshot)).room == (await bob.receive_a(Snapshot)).room


async def test_a_player_who_queues_again_elsewhere_has_one_ticket(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as first:
        await begin(first)
        async with open_client(server_url, token=first.token) as second:
            assert (await begin(second)).waiting == 1
            assert (await first.receive_a(LeftQueue)).id is None
            assert await redis.hlen(keys.TICKETS) == 1


async def test_a_player_is_never_paired_with_himself(server_url: str) -> None:
    async with open_client(server_url) as first:
        await begin(first)
        async with open_client(server_url, token=first.token) as second, open_client(server_url) as bob:
            await begin(second)
            await begin(bob)
            rooms = [(await client.receive_a(Snapshot)).room for client in (second, bob)]
            assert rooms[0] == rooms[1]


async def test_who_leaves_the_room_before_the_opponent_comes_waits_no_more(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann:
        async with open_client(server_url) as bob:
            await begin(ann)
            await begin(bob)
            await ann.receive_a(Snapshot)
            await ann.send(Leave())
            await ann.receive_a(Left)
        await until_queue_is_empty(redis)


@pytest.mark.long
async def test_a_host_whose_partner_is_gone_waits_in_the_queue_again(fleet: Fleet, redis: Redis) -> None:
    """The guest is a player of a process that is frozen: it never joins."""
    first, second = await fleet.start(), await fleet.start()
    async with open_client(first) as ann, open_client(second) as bob:
        since_ms = (await begin(bob)).since_ms
        (ticket,) = (await Tickets(redis).read()).values()
        fleet.freeze(second)
        later = replace(ticket, since_ms=since_ms + 60_000)
        assert await Tickets(redis).change([Change(ticket.player_id, ticket, later)])
        ann_since_ms = (await begin(ann)).since_ms
        await ann.receive_a(Snapshot)
        again = await ann.receive_a(Queued)
        assert (again.since_ms, again.id) == (ann_since_ms, None)
        async with open_client(first) as cat:
            await begin(cat)
            assert (await ann.receive_a(Snapshot)).room == (await cat.receive_a(Snapshot)).room
        fleet.thaw(second)


async def until_unlisted(client: WireClient) -> None:
    """Wait until the lobby lists no room."""

    async def is_empty() -> bool:
        await client.send(GetLobby(page=0))
        return not (await client.receive_a(LobbyPage)).rooms

    await until(is_empty, "no room is listed")


async def open_to_rival(client: WireClient, message: Queue | None = None) -> Snapshot:
    """Queue, and return the room that is open to a program at once."""
    await begin(client, message or Queue(rival_after_seconds=0))
    return await client.receive_a(Snapshot)


async def join_as_rival(client: WireClient, room: str) -> Snapshot:
    """Take a seat as a program of a house does."""
    return await client.enter(Join(room=room))


async def set_rating(redis: Redis, rating: float) -> None:
    """Give the only ticket another rating."""

    async def is_changed() -> bool:
        (ticket,) = (await Tickets(redis).read()).values()
        return await Tickets(redis).change([Change(ticket.player_id, ticket, replace(ticket, rating=rating))])

    await until(is_changed, "the ticket is changed")


async def test_a_rival_is_offered_after_the_time_that_the_player_set(server_url: str) -> None:
    async with open_client(server_url) as client:
        await begin(client, Queue(rival_after_seconds=0, rival_level="club", id="q"))
        assert (await client.receive_a(Snapshot)).id == "q"


async def test_a_player_whom_no_rival_joins_is_found_by_the_next_who_waits(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await open_to_rival(ann)
        assert (await begin(bob)).waiting == 2
        assert (await ann.receive_a(Snapshot)).room == (await bob.receive_a(Snapshot)).room


async def test_a_player_keeps_its_time_on_the_way_from_the_open_room_to_the_opponent(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        since_ms = (await begin(ann, Queue(rival_after_seconds=0))).since_ms
        await ann.receive_a(Snapshot)
        await begin(bob)
        again = await ann.receive_a(Queued)
        assert (again.since_ms, again.waiting, again.id) == (since_ms, 2, None)


async def test_two_who_are_alone_in_rooms_that_are_open_to_programs_meet(server_url: str, redis: Redis) -> None:
    """They would not accept one another at first, as two with ratings far apart."""
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await open_to_rival(ann)
        await set_rating(redis, 10_000.0)
        own_room = (await open_to_rival(bob)).room
        for ticket in (await Tickets(redis).read()).values():
            await Tickets(redis).change([Change(ticket.player_id, ticket, replace(ticket, rating=0.0))])
        met = [(await client.receive_a(Snapshot)).room for client in (ann, bob)]
        assert met[0] == met[1] != own_room


@pytest.mark.long
async def test_two_in_open_rooms_of_two_processes_meet(fleet: Fleet) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with open_client(first) as ann, open_client(second) as bob:
        await open_to_rival(ann)
        await begin(bob, Queue(rival_after_seconds=0))
        # Each may have got into a room of its own before.
        async with asyncio.timeout(PATIENCE_SECONDS):
            for client in (ann, bob):
                await client.receive_until(lambda scene: all(seat.name for seat in scene.seats))
        assert ann.room == bob.room


async def test_the_room_that_was_open_to_a_program_is_not_left_behind(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob, open_client(server_url) as eve:
        left = (await open_to_rival(ann)).room
        await begin(bob)
        await bob.receive_a(Snapshot)
        assert (await eve.expect_refusal(Resume(room=left, position=0))).code is Refusal.NOT_SEATED
        await eve.send(GetLobby(page=0))
        assert left not in [row.room for row in (await eve.receive_a(LobbyPage)).rooms]


async def test_a_rival_that_comes_ends_the_wait(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann, open_client(server_url, name="bot-club-1") as rival:
        await join_as_rival(rival, (await open_to_rival(ann)).room)
        scenes = await asyncio.gather(ann.take_part_in_deal(), rival.take_part_in_deal())
        assert [scene.phase for scene in scenes] == [Phase.RACING, Phase.RACING]
        await until_queue_is_empty(redis)


async def test_a_rival_is_not_remembered_as_an_opponent_of_the_queue(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann, open_client(server_url, name="bot-club-1") as rival:
        await join_as_rival(rival, (await open_to_rival(ann)).room)
        await until_queue_is_empty(redis)
        assert await redis.keys("fairest:opponent:*") == []


async def test_a_rival_that_comes_together_with_a_person_leaves_no_person_alone(server_url: str) -> None:
    """The third player is for the one who is left over if the rival is first."""
    async with (
        open_client(server_url) as ann,
        open_client(server_url) as bob,
        open_client(server_url) as cat,
        open_client(server_url, name="bot-club-1") as rival,
    ):
        room = (await open_to_rival(ann)).room
        await asyncio.gather(begin(bob), rival.send(Join(room=room)))
        await begin(cat)
        for client in (ann, bob):
            await client.receive_until(lambda scene: all(seat.name for seat in scene.seats))


async def test_a_player_who_drops_in_an_open_room_leaves_nothing_behind(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as eve:
        async with open_client(server_url) as ann:
            await open_to_rival(ann)
            ann.socket.transport.abort()
        await until_queue_is_empty(redis)
        await until_unlisted(eve)


async def test_a_player_who_leaves_an_open_room_leaves_nothing_behind(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as ann:
        await open_to_rival(ann)
        await ann.send(Leave(id="l"))
        assert (await ann.receive_a(Left)).id == "l"
        await until_queue_is_empty(redis)
        await until_unlisted(ann)


async def test_a_player_who_leaves_while_the_queue_takes_it_out_of_the_room_waits_no_more(
    server_url: str, redis: Redis
) -> None:
    """Redis writes nothing for a moment, so that both requests to leave the room wait."""
    async with open_client(server_url) as ann:
        await open_to_rival(ann)
        (ticket,) = (await Tickets(redis).read()).values()
        paired = replace(ticket, partner="nobody", paired_ms=ticket.since_ms + 60_000)
        assert await Tickets(redis).change([Change(ticket.player_id, ticket, paired)])
        await redis.client_pause(PAUSE_MS, all=False)
        await ann.send(Leave(id="l"))
        assert (await ann.receive_a(Left)).id == "l"
        await until_queue_is_empty(redis)


async def test_a_player_who_queues_again_elsewhere_leaves_the_open_room(server_url: str) -> None:
    async with open_client(server_url) as first:
        await open_to_rival(first)
        async with open_client(server_url, token=first.token) as second:
            await begin(second)
            await first.receive_a(LeftQueue)
            await until_unlisted(second)


async def test_a_player_in_an_open_room_whose_ticket_is_lost_is_found_all_the_same(
    server_url: str, redis: Redis
) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await open_to_rival(ann)
        await redis.delete(keys.TICKETS)
        await begin(bob)
        assert (await ann.receive_a(Snapshot)).room == (await bob.receive_a(Snapshot)).room


@pytest.mark.long
async def test_a_player_whose_process_is_killed_behind_an_open_room_is_paired_on_another(
    fleet: Fleet, redis: Redis
) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with open_client(second) as bob:
        async with open_client(first) as ann:
            await open_to_rival(ann)
            await fleet.kill(first)
        async with open_client(second, token=ann.token) as again:
            await begin(again)
            await begin(bob)
            assert (await again.receive_a(Snapshot)).room == (await bob.receive_a(Snapshot)).room
    await until_queue_is_empty(redis)


@pytest.mark.long
async def test_a_player_in_an_open_room_is_found_by_the_next_who_waits_after_redis_was_killed() -> None:
    with redis_process("--appendonly", "yes", "--appendfsync", "always") as engine:
        async with (
            running(Settings(port=0, redis_url=engine.url)) as url,
            open_client(url) as ann,
            open_client(url) as bob,
        ):
            await open_to_rival(ann)
            engine.kill()
            assert (await bob.expect_refusal(Queue())).code is Refusal.TRY_AGAIN
            engine.start()
            await begin(bob)
            assert (await ann.receive_a(Snapshot)).room == (await bob.receive_a(Snapshot)).room


async def test_a_race_against_a_rival_of_the_queue_credits_distance(server_url: str) -> None:
    async with open_client(server_url) as client:
        await begin(client, Queue(rival_after_seconds=0, rival_level="club"))
        assert (await client.receive_a(Snapshot)).scene.options.credit == PROCEDURE


async def test_the_number_of_those_who_wait_is_told_when_it_changes(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await begin(ann, Queue(rules="easy"))
        assert (await begin(bob, Queue())).waiting == 1
        await bob.send(LeaveQueue())
        await bob.receive_a(LeftQueue)


async def test_a_client_is_charged_for_the_tickets_that_are_read_for_it(
    limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    def throttled() -> float:
        return REGISTRY.get_sample_value("fairest_throttled_total") or 0

    before = throttled()

    async def is_slowed_down() -> bool:
        return throttled() == before + 1

    monkeypatch.setattr(session, "READ_FOR_TOKEN", 0.01)
    async with (
        limited(messages_burst=25, messages_per_second=1) as url,
        open_client(url) as ann,
        open_client(url) as bob,
    ):
        await begin(ann)
        assert throttled() == before
        await begin(bob, Queue(rules="senior"))
        await until(is_slowed_down, "the second player is throttled")


async def test_a_player_who_queues_and_leaves_without_end_is_slowed_down_and_others_are_paired(
    limited: Limited, redis: Redis
) -> None:
    async with limited(flood_seconds=0.5) as url, open_client(url) as mallory, AsyncExitStack() as stack:
        with suppress(ConnectionClosed):
            for _ in range(200):
                await mallory.send(Queue(rules="senior"))
                await mallory.send(LeaveQueue())
            ann, bob = [await stack.enter_async_context(open_client(url)) for _ in range(2)]
            for client in (ann, bob):
                await begin(client)
            assert (await ann.receive_a(Snapshot)).room == (await bob.receive_a(Snapshot)).room
            while True:
                await mallory.receive()
        assert mallory.socket.close_code == CLOSE_CODES[Breach.TOO_FAST]
    await until_queue_is_empty(redis)
