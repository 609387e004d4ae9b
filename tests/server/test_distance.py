"""Credit for distance over real sockets: what is measured, what a late pong changes, and what outlives a process."""

import asyncio
from urllib.parse import urlsplit

import pytest

from benchmarks.distant_bots import OPTIONS as DISTANT
from benchmarks.distant_bots import Player, race
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Join, Watch
from fairest_protocol.messages.from_server import MatchRecord, Refused, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.events import RoundTripMeasured
from tests.support.history import read_steps
from tests.support.processes import serving_fleet
from tests.support.races_apart import choose
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_client

CREDITED = RoomOptions.model_validate({**DISTANT, "credit": 1})
LATE = 0.06
"""Seconds by which a client answers pings late; a round trip on this machine takes less, whatever its load."""
THINKING = 0.02
LOOPBACK = "127.0.0.1"


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


async def play_on(client: WireClient, moves: int = 1_000) -> None:
    """Race by the policy until the race has ended, or for so many moves."""
    for _ in range(moves):
        seat = client.scene.seats[client.seat or 0] if client.scene else None
        assert client.scene is not None and seat is not None and seat.board is not None
        if client.scene.phase is not Phase.RACING or seat.board.is_won or not any(seat.board.legal_moves()):
            return
        await client.play(choose(seat.board).text)


async def start(ann: WireClient, bob: WireClient) -> str:
    room = (await ann.enter(Create(options=CREDITED))).room
    await bob.enter(Join(room=room))
    await asyncio.gather(ann.take_part_in_deal(), bob.take_part_in_deal())
    await asyncio.gather(*(each.receive_until(lambda seen: seen.phase is Phase.RACING) for each in (ann, bob)))
    return room


async def record_of(client: WireClient) -> Record:
    """Return the record of the match that is over, once it is stored."""
    while True:
        await client.send(GetRecord())
        answer = await client.receive_a(MatchRecord | Refused)  # type: ignore[arg-type]
        if isinstance(answer, MatchRecord):
            return read_record(list(answer.lines))


async def test_a_server_says_that_it_credits_distance(server_url: str) -> None:
    async with open_client(server_url) as client:
        [welcome] = [message for message in client.received if isinstance(message, Welcome)]
    assert "credit" in welcome.capabilities


@pytest.mark.parametrize("request_of", [lambda room: Join(room=room), lambda room: Watch(room=room)])
async def test_a_client_that_does_not_know_credit_is_refused_by_such_a_room(
    server_url: str, request_of: object
) -> None:
    async with open_client(server_url) as ann, open_client(server_url, capabilities=()) as old:
        room = (await ann.enter(Create(options=CREDITED))).room
        refused = await old.expect_refusal(request_of(room))  # type: ignore[operator]
    assert refused.code == Refusal.MISSING_CAPABILITY
    assert "credits distance" in refused.sentence


async def test_both_round_trips_are_in_the_log_before_the_race_ends(server_url: str, redis_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        room = await start(ann, bob)

        async def are_measured() -> bool:
            steps = await read_steps(redis_url, room)
            return {step.event.seat for step in steps if isinstance(step.event, RoundTripMeasured)} == {0, 1}

        await until(are_measured, "both seats are measured")


async def test_a_result_has_its_ledger_and_the_record_the_same(server_url: str) -> None:
    async with open_client(server_url) as ann, open_client(server_url) as bob:
        await start(ann, bob)
        await play_on(ann)
        scene = await ann.receive_until(lambda seen: seen.phase is Phase.FINISHED)
        record = await record_of(ann)
    assert scene.outcome is not None and scene.outcome.ledger is not None
    assert record.rounds[0].outcome == scene.outcome


async def test_a_pong_that_is_late_is_not_credited_on_a_direct_socket(server_url: str) -> None:
    players = Player(LOOPBACK, pong_delay=LATE, think=0.0), Player(LOOPBACK, think=0.0)
    outcome = (await race(players, port_of(server_url), "late pongs")).outcome
    assert outcome["ledger"][0]["rtt_us"] < LATE * 1_000_000


@pytest.mark.long
async def test_a_late_pong_behind_a_proxy_is_credited_no_more_than_the_fastest_card(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start("--trusted-proxies", "127.0.0.0/8")
        # The race has to last longer than a pong that is late, or nothing is measured in it.
        players = Player(LOOPBACK, pong_delay=LATE, think=THINKING), Player(LOOPBACK, think=THINKING)
        found = await race(players, port_of(url), "late pongs", wants_record=True)
    [late, _] = found.outcome["ledger"]
    cards = found.outcome["scores"][0]["cards_turned"]
    assert late["rtt_us"] >= LATE * 1_000_000
    assert late["credit_ms"] < cards * LATE * 1_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("trusted", "stated_us"), [("127.0.0.0/8", 1_000), ("10.0.0.0/8", 10_000_000)], ids=("a trusted proxy", "a client")
)
async def test_a_late_pong_is_not_credited_whatever_is_stated_about_the_client(
    redis_url: str, trusted: str, stated_us: int
) -> None:
    """A trusted proxy states the client's round trip. A statement of a client on a direct socket is passed over."""
    late = Player(LOOPBACK, pong_delay=LATE, think=THINKING, at_once=0.0, stated_us=stated_us)
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start("--trusted-proxies", trusted)
        outcome = (await race((late, Player(LOOPBACK, think=THINKING)), port_of(url), "late pongs")).outcome
    assert outcome["ledger"][0]["rtt_us"] < LATE * 1_000_000


@pytest.mark.long
async def test_a_measurement_outlives_the_process_that_made_it(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        url, other_url = await fleet.start(), await fleet.start()
        async with open_client(url) as ann, open_client(other_url) as bob:
            room = await start(ann, bob)

            async def is_measured() -> bool:
                return all(times.rtt_us is not None for times in (await read_steps(redis_url, room))[-1].after.times)

            await until(is_measured, "both seats are measured")
            await play_on(ann, moves=5)
            measured = [times.rtt_us for times in (await read_steps(redis_url, room))[-1].after.times]
            await fleet.kill(url)
            async with open_client(other_url, token=ann.token) as again:
                await again.resume(room)
                await again.receive_until(lambda seen: seen.phase is Phase.RACING)
                await play_on(again)
                scene = await again.receive_until(lambda seen: seen.phase is Phase.FINISHED)
                record = await record_of(again)
    assert scene.outcome is not None and scene.outcome.ledger is not None
    assert record.rounds[0].outcome == scene.outcome
    assert all(row.rtt_us <= (known or 0) for row, known in zip(scene.outcome.ledger, measured, strict=True)), (
        "the shortest of the race counts, that of the process that was killed as well"
    )
