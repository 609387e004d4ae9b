"""Redis executes an append and its reply is lost: nothing that is stored is refused, and a doubt is called a doubt."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from prometheus_client import REGISTRY

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Create, Join, Leave, Play, Ready, Rematch
from fairest_protocol.messages.from_server import Accepted, FromServer, Left, Refused, Snapshot, View
from fairest_protocol.messages.refusals import Refusal
from fairest_server.app import running
from fairest_server.live.doubt import IN_DOUBT_SECONDS
from fairest_server.membership.heartbeat import SILENCE_SECONDS
from fairest_server.room.events import MatchPublished, RoomCreated, SeatTaken
from fairest_server.room.steps import LogEntry
from fairest_server.settings import Settings
from fairest_server.store.log import Log
from fairest_server.store.redis.clients import make_client
from fairest_server.store.room_openings import RoomOpenings
from tests.support.faulty_link import FaultyLink, faulty_link
from tests.support.processes import RedisProcess, redis_process, serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players

CREATE = Create(options=QUICK, key="k")
ROOM = "amber-quiet-lynx"


@dataclass
class Link:
    """The link between a server and its Redis, and the Redis itself."""

    link: FaultyLink
    redis: RedisProcess

    async def lose_reply(self, room: str, act: Callable[[], Awaitable[None]], said: str = "") -> None:
        """Let Redis store what follows from `act` in this room's log, lose its reply, and keep the link closed.

        The reply is lost on each connection over which the code of the room, or `said`, was sent.

        The heartbeats of the server go on over their own connection, so it does not send its clients away. Returns when
        the server has given up sending the append again.
        """
        before, unknown = await self.length(room), unknown_appends()
        self.link.muted = (said or room).encode()
        await act()

        async def is_stored() -> bool:
            return await self.length(room) > before

        await until(is_stored, "Redis has stored it")
        self.link.is_closed = True
        self.link.reset(said=room.encode())
        self.link.muted = b""

        async def is_given_up() -> bool:
            return unknown_appends() > unknown

        await until(is_given_up, "the server has given up the append")

    def heal(self) -> None:
        """Let new connections pass."""
        self.link.is_closed = False

    async def is_recorded(self, room: str) -> bool:
        return isinstance((await self.read(room))[-1].event, MatchPublished)

    async def choose_code(self, client: WireClient) -> None:
        """Let this player's CREATE make the room ROOM, on a Redis that knows the script of appends."""
        await client.enter(Create())
        await client.send(Leave())
        await client.receive_a(Left)
        redis = make_client(self.redis.url)
        player_id = hashlib.sha256(client.token.encode()).hexdigest()
        await RoomOpenings(redis).open(player_id, CREATE.key, ROOM, 2)
        await redis.aclose()

    async def length(self, room: str) -> int:
        return len(await self.read(room))

    async def read(self, room: str) -> list[LogEntry]:
        redis = make_client(self.redis.url)
        entries = await Log(redis).read(room)
        await redis.aclose()
        return entries


def unknown_appends() -> float:
    return REGISTRY.get_sample_value("fairest_appends_total", {"answer": "unknown"}) or 0.0


@pytest.fixture
async def link() -> AsyncIterator[Link]:
    with redis_process() as redis:
        async with faulty_link(redis.socket) as faulty:
            yield Link(faulty, redis)


@pytest.fixture
async def url(link: Link) -> AsyncIterator[str]:
    async with running(Settings(port=0, redis_url=link.link.url)) as server_url:
        yield server_url


async def lose_reply(link: Link, client: WireClient, message: Message) -> None:
    """Send a message that Redis stores, and whose reply is lost."""
    await link.lose_reply(client.room, lambda: client.send(message))


async def next_answer(client: WireClient) -> FromServer:
    """Return the next message that may answer a request."""
    while True:
        message = await client.receive()
        if isinstance(message, (Refused, Accepted, Left, Snapshot)) or (isinstance(message, View) and message.entries):
            return message


@pytest.mark.parametrize("move", ["sa", "stop", "resign"])
async def test_a_move_that_redis_stored_is_shown_and_not_refused(link: Link, url: str, move: str) -> None:
    async with racing_players(url) as (first, _):
        await lose_reply(link, first, Play(number=1, move=MOVES[move]))
        link.heal()
        answer = await next_answer(first)
        assert isinstance(answer, View)
        assert answer.entries[0].type in ("moved", "stopped")


async def test_a_leave_that_redis_stored_is_answered_by_left(link: Link, url: str) -> None:
    async with racing_players(url) as (first, _):
        await lose_reply(link, first, Leave())
        link.heal()
        await first.receive_a(Left)
        assert not any(isinstance(message, Refused) for message in first.received)


async def test_a_ready_that_redis_stored_is_shown(link: Link, url: str) -> None:
    async with open_client(url) as first, open_client(url) as second:
        room = (await first.enter(Create(options=QUICK))).room
        await second.enter(Join(room=room))
        scene = await first.receive_until(lambda seen: seen.phase is Phase.READY)
        assert scene.round is not None
        await lose_reply(link, first, Ready(round=scene.round, entropy_hash=commit_entropy(scene.round, 0, bytes(32))))
        link.heal()
        await first.receive_until(lambda seen: seen.seats[0].entropy_hash is not None)
        assert not any(isinstance(message, Refused) for message in first.received)


async def test_a_rematch_that_redis_stored_is_shown(link: Link, url: str) -> None:
    async with racing_players(url) as (first, second):
        for client in (first, second):
            await client.play("stop")
        await first.receive_until(lambda seen: seen.phase is Phase.FINISHED)
        await until(lambda: link.is_recorded(first.room), "the record of the match is stored")
        await lose_reply(link, first, Rematch())
        link.heal()
        await first.receive_until(lambda seen: seen.seats[0].wants_rematch)
        assert [message for message in first.received if isinstance(message, Refused)] == []


async def test_a_join_that_redis_stored_is_answered_by_a_snapshot(link: Link, url: str) -> None:
    async with open_client(url) as first, open_client(url) as second:
        room = (await first.enter(Create(options=QUICK))).room
        await link.lose_reply(room, lambda: second.send(Join(room=room)))
        link.heal()
        assert isinstance(await next_answer(second), Snapshot)


async def test_a_move_that_redis_stored_is_in_doubt_while_its_log_cannot_be_read(link: Link, url: str) -> None:
    async with racing_players(url) as (first, _):
        await lose_reply(link, first, Play(number=1, move=MOVES["sa"]))
        answer = await next_answer(first)
        assert isinstance(answer, Refused)
        assert (answer.code, answer.number) == (Refusal.IN_DOUBT, 1)


async def test_a_move_in_doubt_that_is_sent_again_is_made_once(link: Link, url: str) -> None:
    async with racing_players(url) as (first, _):
        await lose_reply(link, first, Play(number=1, move=MOVES["sa"]))
        await first.receive_a(Refused)
        link.heal()
        await first.send(Play(number=1, move=MOVES["sa"]))
        await first.receive_a(Accepted)
        scene = await first.play("sb")
        assert scene.seats[0].moves == 2


async def test_moves_behind_one_that_redis_stored_are_made_in_order(link: Link, url: str) -> None:
    async with racing_players(url) as (first, _):
        await lose_reply(link, first, Play(number=1, move=MOVES["sa"]))
        for number, move in ((2, "sb"), (3, "sc")):
            await first.send(Play(number=number, move=MOVES[move]))
        link.heal()
        await first.receive_until(lambda seen: seen.seats[0].moves == 3)
        assert not any(isinstance(message, Refused) for message in first.received)


async def test_a_doubt_ends_while_redis_stays_away(link: Link, url: str) -> None:
    async with racing_players(url) as (first, _):
        await lose_reply(link, first, Play(number=1, move=MOVES["sa"]))
        assert (await first.receive_a(Refused)).code is Refusal.IN_DOUBT


def test_a_doubt_ends_before_clients_are_sent_away() -> None:
    """By the two times, since a busy machine adds to what a client measures."""
    assert IN_DOUBT_SECONDS <= SILENCE_SECONDS / 2


async def lose_reply_to_create(link: Link, client: WireClient) -> None:
    """Send CREATE; Redis stores it, under a code that is known beforehand, and its reply is lost."""
    await link.choose_code(client)
    await link.lose_reply(ROOM, lambda: client.send(CREATE), said="room_created")


async def test_a_create_in_doubt_that_is_sent_again_leads_to_the_room_of_the_first(link: Link, url: str) -> None:
    async with open_client(url) as client:
        await lose_reply_to_create(link, client)
        assert (await client.receive_a(Refused)).code is Refusal.IN_DOUBT
        link.heal()
        snapshot = await client.enter(CREATE)
        assert (snapshot.room, snapshot.seat) == (ROOM, 0)


async def test_a_create_in_doubt_that_is_sent_again_makes_no_second_room(link: Link, url: str) -> None:
    async with open_client(url) as client:
        await lose_reply_to_create(link, client)
        await client.receive_a(Refused)
        link.heal()
        await client.enter(CREATE)
        kinds = [type(entry.event) for entry in await link.read(ROOM)]
        assert (kinds.count(RoomCreated), kinds.count(SeatTaken)) == (1, 1)


@pytest.mark.long
async def test_a_create_whose_process_was_killed_before_it_answered_leads_to_the_same_room(link: Link) -> None:
    async with serving_fleet(link.link.url) as fleet:
        here = await fleet.start()
        async with open_client(here) as client:
            await link.choose_code(client)
            link.link.muted = b"room_created"
            await client.send(CREATE)

            async def is_stored() -> bool:
                return await link.length(ROOM) > 0

            await until(is_stored, "Redis has stored the room")
            await fleet.kill(here)
        link.link.muted = b""
        async with open_client(await fleet.start(), token=client.token) as again:
            snapshot = await again.enter(CREATE)
            assert (snapshot.room, snapshot.seat) == (ROOM, 0)
