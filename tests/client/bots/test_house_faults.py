"""A house of rivals as a real process, while servers are killed, Redis stands still, and the house itself dies."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest

from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.session.connection import Connection
from fairest_cli.session.http_pages import fetch_page
from fairest_protocol.calculation.moves import MOVES, RESIGN, STOP
from fairest_protocol.calculation.race import Ending, Outcome
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Leave, Rematch
from fairest_protocol.messages.from_server import LobbyPage
from fairest_protocol.messages.options import RoomOptions
from tests.support.house import Clients, house_process, second_name
from tests.support.operator import operate
from tests.support.ports import free_port
from tests.support.processes import Fleet, redis_process, serving_fleet
from tests.support.waiting import until as wait_until

pytestmark = pytest.mark.long

PATIENT = RoomOptions(listed=True, countdown_seconds=0)
HASTY = RoomOptions(listed=True, countdown_seconds=0, grace_seconds=1)
"""A seat waits for its player for a second only."""


@pytest.fixture
async def url(fleet: Fleet) -> str:
    return await fleet.start(port=free_port())


@pytest.fixture
async def clients(url: str) -> AsyncIterator[Clients]:
    clients = Clients(url)
    yield clients
    await clients.end()


async def wait_alone(clients: Clients, options: RoomOptions = PATIENT) -> Connection:
    return await clients.enter(Create(options=options, rival_after_seconds=0))


async def race(clients: Clients, person: Connection) -> None:
    """Let a person who waits alone, or who has asked for a rematch, race against the rival that comes."""
    await clients.until(lambda: person.model.phase is Phase.READY and second_name(person).startswith("bot-"))
    await person.get_ready()
    await clients.until(lambda: person.model.phase is Phase.RACING)


def outcome_of(person: Connection) -> Outcome | None:
    return person.model.scene.outcome if person.model.scene is not None else None


def moves_of_rival(person: Connection) -> int:
    scene = person.model.scene
    return scene.seats[1].moves if scene is not None else 0


def has_rival_moved(person: Connection, before: int) -> bool:
    """Return whether the rival has made more moves than before, or its whole race."""
    scene = person.model.scene
    is_over = scene is not None and scene.seats[1].has_stopped and scene.seats[1].until_ms is None
    return is_over or moves_of_rival(person) > before


async def look_ahead(person: Connection) -> None:
    """Make forty moves, so that as many of the rival's can be seen, however long it has raced."""
    for _ in range(40):
        await person.play(MOVES["sa"])


async def kill_and_start_again(fleet: Fleet, clients: Clients, person: Connection) -> None:
    """Kill the server, start another one on its port, and wait until the person is back in the room."""
    await fleet.kill(clients.url)
    await clients.until(lambda: person.model.status is ConnectionStatus.LOST)
    await fleet.start(port=int(clients.url.rpartition(":")[2]))
    await clients.until(lambda: person.model.status is ConnectionStatus.CONNECTED)


async def test_a_race_goes_on_after_the_server_was_killed(fleet: Fleet, clients: Clients, tmp_path: Path) -> None:
    async with house_process(clients.url, tmp_path / "house"):
        person = await wait_alone(clients)
        await race(clients, person)
        await look_ahead(person)
        await clients.until(lambda: moves_of_rival(person) >= 1)
        before = moves_of_rival(person)
        await kill_and_start_again(fleet, clients, person)
        await clients.until(lambda: has_rival_moved(person, before))
        await person.play(RESIGN)
        await clients.until(lambda: person.model.phase is Phase.FINISHED)


async def test_a_seat_before_the_race_outlives_the_server(fleet: Fleet, clients: Clients, tmp_path: Path) -> None:
    async with house_process(clients.url, tmp_path / "house"):
        person = await wait_alone(clients)
        await clients.until(lambda: bool(second_name(person)))
        rival = second_name(person)
        await kill_and_start_again(fleet, clients, person)
        await race(clients, person)
        assert second_name(person) == rival


async def test_a_rival_plays_a_rematch(clients: Clients, tmp_path: Path) -> None:
    async with house_process(clients.url, tmp_path / "house"):
        person = await wait_alone(clients)
        matches = []
        for _ in range(2):
            await race(clients, person)
            matches.append(person.model.scene.match if person.model.scene else None)
            await person.play(RESIGN)
            await clients.until(lambda: person.model.phase is Phase.FINISHED)
            await person.request(Rematch())
        await clients.until(lambda: person.model.phase is Phase.READY)
        assert matches[0] != matches[1]


async def test_a_house_plays_in_no_more_rooms_than_it_may(clients: Clients, tmp_path: Path) -> None:
    async with house_process(clients.url, tmp_path / "house", "--rooms", "1"):
        people = [await wait_alone(clients), await wait_alone(clients)]
        await clients.until(lambda: any(map(second_name, people)))
        served, waiting = sorted(people, key=second_name, reverse=True)
        rival = second_name(served)
        assert not second_name(waiting)
        await served.request(Leave())
        # The only rival of the house has left the first room, and plays in the second one under the same name.
        await clients.until(lambda: second_name(waiting) == rival)


async def test_a_race_goes_on_after_redis_stood_still(tmp_path: Path) -> None:
    with redis_process() as redis:
        async with serving_fleet(redis.url) as fleet:
            clients = Clients(await fleet.start())
            try:
                async with house_process(clients.url, tmp_path / "house"):
                    person = await wait_alone(clients)
                    await race(clients, person)
                    await look_ahead(person)
                    await clients.until(lambda: moves_of_rival(person) >= 1)
                    redis.freeze()
                    try:
                        await person.play(MOVES["sb"])
                        await clients.until(lambda: bool(clients.refusals))
                    finally:
                        redis.thaw()
                    before = moves_of_rival(person)
                    await clients.until(lambda: has_rival_moved(person, before) and not person.model.sent)
            finally:
                await clients.end()


async def test_of_a_person_and_a_rival_who_come_at_once_the_person_plays(clients: Clients, tmp_path: Path) -> None:
    async with house_process(clients.url, tmp_path / "house"):
        hosts = [await wait_alone(clients) for _ in range(3)]
        await clients.until(lambda: any(map(second_name, hosts)))
        rooms = [host.model.room for host in hosts]
        await asyncio.gather(
            *(clients.enter(Join(room=room), f"person-{at}") for at, room in enumerate(rooms) if room is not None)
        )
        await clients.until(lambda: [second_name(host) for host in hosts] == ["person-0", "person-1", "person-2"])


async def test_a_race_against_a_house_that_is_killed_ends_after_the_grace(clients: Clients, tmp_path: Path) -> None:
    async with house_process(clients.url, tmp_path / "house") as house:
        person = await wait_alone(clients, HASTY)
        await race(clients, person)
        house.kill()
        await clients.until(lambda: person.model.scene is not None and person.model.scene.seats[1].has_stopped)
        await person.play(STOP)
        # The room waits for a player at once, since the seat of the killed house is freed; the result stays.
        await clients.until(lambda: outcome_of(person) is not None)
        outcome = outcome_of(person)
        assert outcome is not None and outcome.scores[1].ending is Ending.AWAY
        await person.request(Leave())
        await clients.until(lambda: person.model.seat is None or person.model.phase is Phase.CLOSED)
    await wait_until(partial(is_lobby_empty, clients.url), "the lobby is empty")


async def test_a_house_that_starts_again_serves_the_room_that_its_predecessor_left(
    clients: Clients, tmp_path: Path
) -> None:
    person = await wait_alone(clients, HASTY)
    async with house_process(clients.url, tmp_path / "house"):
        await clients.until(lambda: bool(second_name(person)))
        first = second_name(person)
    async with house_process(clients.url, tmp_path / "house"):
        await clients.until(lambda: second_name(person) not in ("", first))
        await race(clients, person)


async def test_a_rival_that_is_banned_is_replaced_by_another_one(
    redis_url: str, clients: Clients, tmp_path: Path
) -> None:
    async with house_process(clients.url, tmp_path / "house"):
        person = await wait_alone(clients, HASTY)
        await clients.until(lambda: bool(second_name(person)))
        banned = second_name(person)
        assert (await operate(redis_url, "ban", banned)).code == 0
        await clients.until(lambda: second_name(person) not in ("", banned))


async def is_lobby_empty(url: str) -> bool:
    status, text = await asyncio.to_thread(fetch_page, url, "/lobby?page=0")
    return status == HTTPStatus.OK and LobbyPage.model_validate_json(text).total == 0
