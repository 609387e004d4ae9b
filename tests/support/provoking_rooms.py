"""Provocations of the refusals that are about players, rooms and rounds, and of those of a Redis that fails."""

import hashlib
from contextlib import AsyncExitStack

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.daily import Daily
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import (
    Create,
    GetRecord,
    Hello,
    Join,
    Leave,
    LeaveQueue,
    Play,
    Queue,
    Ready,
    Renew,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import Left, Queued, Refused
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    StartTournament,
    Tournament,
)
from fairest_server.store import keys
from tests.support.faulty_link import faulty_link
from tests.support.operator import operate
from tests.support.processes import redis_process
from tests.support.provoking import Deployment, Provocations
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players

refusal: Provocations[Refusal, Refused] = Provocations(Refusal)


# The way into a room.


@refusal
async def no_such_room(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(Join(room="no-such-room"))


@refusal
async def room_full(deployment: Deployment) -> Refused:
    async with deployment.server() as url, racing_players(url) as (first, _), open_client(url) as third:
        return await third.expect_refusal(Join(room=first.room))


@refusal
async def missing_capability(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(Create(options=RoomOptions(certified=1)))


@refusal
async def room_closed(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host, open_client(url) as other:
        room = (await host.enter(Create())).room
        await operate(deployment.redis_url, "close", room)
        return await other.expect_refusal(Join(room=room))


@refusal
async def already_queued(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        await client.send(Queue())
        await client.receive_a(Queued)
        return await client.expect_refusal(Create())


@refusal
async def not_queued(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(LeaveQueue())


@refusal
async def no_daily_deal(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(Daily())


@refusal
async def no_such_tournament(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(JoinTournament(tournament="no-such-cup"))


@refusal
async def tournament_full(deployment: Deployment) -> Refused:
    async with deployment.server() as url, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(open_client(url)) for _ in range(3)]
        await clients[0].send(CreateTournament(most_players=2))
        code = (await clients[0].receive_a(Tournament)).code
        await clients[1].send(JoinTournament(tournament=code))
        return await clients[2].expect_refusal(JoinTournament(tournament=code))


@refusal
async def not_entered(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client, open_client(url) as other:
        await client.send(CreateTournament())
        code = (await client.receive_a(Tournament)).code
        return await other.expect_refusal(LeaveTournament(tournament=code))


@refusal
async def not_creator(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client, open_client(url) as other:
        await client.send(CreateTournament())
        code = (await client.receive_a(Tournament)).code
        return await other.expect_refusal(StartTournament(tournament=code))


@refusal
async def already_in_room(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        await client.enter(Create())
        return await client.expect_refusal(Create())


@refusal
async def not_in_room(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(Play(number=1, move=MOVES["sa"]))


@refusal
async def not_seated(deployment: Deployment) -> Refused:
    async with deployment.server() as url, racing_players(url) as (first, _), open_client(url) as third:
        return await third.expect_refusal(Resume(room=first.room, position=0))


@refusal
async def no_spectators(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host, open_client(url) as spectator:
        room = (await host.enter(Create(options=RoomOptions(spectators=Spectators.CLOSED)))).room
        return await spectator.expect_refusal(Watch(room=room))


@refusal
async def already_seated(deployment: Deployment) -> Refused:
    async with (
        deployment.server() as url,
        open_client(url) as host,
        open_client(url, token=host.token) as spying,
    ):
        return await spying.expect_refusal(Watch(room=(await host.enter(Create())).room))


@refusal
async def name_taken(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url, name="ann"), open_raw_client(url) as other:
        return await other.expect_refusal(Hello(name="ANN"))


@refusal
async def bad_rules(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client:
        return await client.expect_refusal(Create(options=RoomOptions(rules="senior", piles=9)))


@refusal
async def token_taken(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as client, open_client(url) as other:
        return await client.expect_refusal(Renew(token=other.token))


# Limits.


@refusal
async def too_many_players(deployment: Deployment) -> Refused:
    async with deployment.server(players_per_address=1) as url, open_client(url), open_raw_client(url) as second:
        return await second.expect_refusal(Hello())


@refusal
async def too_many_rooms(deployment: Deployment) -> Refused:
    async with deployment.server(rooms_per_player=1) as url, open_client(url) as greedy:
        await greedy.enter(Create())
        await greedy.send(Leave())
        await greedy.receive_a(Left)
        return await greedy.expect_refusal(Create())


@refusal
async def too_many_rounds(deployment: Deployment) -> Refused:
    async with deployment.server(rounds_per_address=1) as url, open_client(url) as host, open_client(url) as other:
        round_id = await open_round(host, other)
        await host.get_ready_without_revealing()
        return await other.expect_refusal(Ready(round=round_id, entropy_hash=bytes(32)))


@refusal
async def too_many_misses(deployment: Deployment) -> Refused:
    async with deployment.server(misses_per_address=1) as url, open_client(url) as guesser:
        await guesser.expect_refusal(Join(room="no-such-room"))
        return await guesser.expect_refusal(Join(room="no-such-room"))


# Rounds.


@refusal
async def wrong_phase(deployment: Deployment) -> Refused:
    async with deployment.server() as url, racing_players(url) as (first, _):
        return await first.expect_refusal(Ready(round=bytes(16), entropy_hash=bytes(32)))


@refusal
async def wrong_round(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host, open_client(url) as other:
        await open_round(host, other)
        return await host.expect_refusal(Ready(round=bytes(16), entropy_hash=bytes(32)))


@refusal
async def already_ready(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host, open_client(url) as other:
        round_id = await open_round(host, other)
        await host.get_ready_without_revealing()
        return await host.expect_refusal(Ready(round=round_id, entropy_hash=bytes(32)))


@refusal
async def wrong_entropy(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host, open_client(url) as other:
        round_id = await open_round(host, other)
        for each in (host, other):
            await each.get_ready_without_revealing()
        await host.receive_until(lambda seen: seen.phase is Phase.DEALING)
        return await host.expect_refusal(Reveal(round=round_id, entropy=hashlib.sha256().digest()))


@refusal
async def no_record(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host:
        await host.enter(Create())
        return await host.expect_refusal(GetRecord())


@refusal
async def race_not_started(deployment: Deployment) -> Refused:
    async with deployment.server() as url, open_client(url) as host:
        await host.enter(Create())
        return await host.expect_refusal(Play(number=1, move=MOVES["sa"]))


# Redis fails.


@refusal
async def try_again(_deployment: Deployment) -> Refused:
    with redis_process() as redis:
        async with Deployment(redis.url).server() as url, racing_players(url) as (first, _):
            redis.call("CONFIG", "SET", "maxmemory", 1)
            return await first.expect_refusal(Play(number=1, move=MOVES["sa"]))


@refusal
async def in_doubt(_deployment: Deployment) -> Refused:
    """Redis stores the move, its reply is lost, and the log cannot be read; the heartbeats of the server go on."""
    with redis_process() as redis:
        async with (
            faulty_link(redis.socket) as link,
            Deployment(link.url).server() as url,
            racing_players(url) as (first, _),
        ):
            log, room = keys.log(first.room), first.room.encode()
            before = redis.call("LLEN", log)

            async def is_stored() -> bool:
                return redis.call("LLEN", log) != before

            link.muted = room
            await first.send(Play(number=1, move=MOVES["sa"]))
            await until(is_stored, "Redis has stored the move")
            link.is_closed = True
            link.reset(said=room)
            return await first.receive_a(Refused)


async def open_round(host: WireClient, other: WireClient) -> bytes:
    """Let two players enter a room; return the id of the round that is opened."""
    await other.enter(Join(room=(await host.enter(Create(options=QUICK))).room))
    scene = await host.receive_until(lambda seen: seen.phase is Phase.READY)
    assert scene.round is not None
    return scene.round
