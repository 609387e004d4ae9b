"""The house: which rooms it sends a rival to, and its rivals on a real server."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fairest_cli.bots.house import House, Programs, Waiting, keep_house, nearest_level
from fairest_cli.bots.levels import PROFILES, Level
from fairest_cli.session.websocket import Rejected, fit_request
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Leave
from fairest_protocol.messages.from_server import LobbyPage
from fairest_protocol.messages.options import RoomOptions
from tests.support.house import Clients, second_name
from tests.support.races import make_listed_room

LISTED = RoomOptions(listed=True, countdown_seconds=0)
LEARNERS = House((Level.LEARNER,))


def due(house: House, *, at: tuple[float, ...], **room: Any) -> list[Level]:
    """Return the levels that are sent into a room of the lobby at the last of these times, seen at all of them."""
    page = LobbyPage(page=0, pages=1, total=1, rooms=(make_listed_room(**room),))
    waiting = Waiting()
    seen = [list(waiting.due(page, house, now)) for now in at]
    return [level for _, level in seen[-1]]


def test_a_room_gets_a_rival_once_it_has_waited_as_long_as_it_asked_for() -> None:
    assert due(LEARNERS, at=(100, 119.9), rival_after_seconds=20) == []
    assert due(LEARNERS, at=(100, 120), rival_after_seconds=20) == [Level.LEARNER]


def test_a_house_may_wait_longer_than_rooms_ask_for() -> None:
    assert due(House((Level.LEARNER,), wait_seconds=60), at=(100, 130), rival_after_seconds=20) == []


@pytest.mark.parametrize(
    "room",
    [
        {"rival_after_seconds": None},
        {"rival_after_seconds": 0, "phase": Phase.RACING},
        {"rival_after_seconds": 0, "names": ("bot-club", None)},
    ],
    ids=("no wish", "racing", "a bot waits there"),
)
def test_a_room_gets_no_rival_without_a_person_who_waits_for_one(room: dict[str, Any]) -> None:
    assert due(LEARNERS, at=(100, 1000), **room) == []


def test_a_room_that_began_to_wait_again_waits_its_whole_time() -> None:
    waiting = Waiting()
    first, again = (
        LobbyPage(page=0, pages=1, total=1, rooms=(make_listed_room(since_ms=since, rival_after_seconds=20),))
        for since in (1, 2)
    )
    list(waiting.due(first, LEARNERS, 100))
    assert list(waiting.due(again, LEARNERS, 125)) == []


@pytest.mark.parametrize(
    ("wished", "offered", "level"),
    [
        ("club", (Level.LEARNER, Level.CLUB), Level.CLUB),
        ("expert", (Level.LEARNER, Level.CLUB), Level.CLUB),
        ("careless", (Level.CLUB, Level.STRONG), Level.CLUB),
        (None, (Level.STRONG, Level.LEARNER), Level.LEARNER),
        ("grandmaster", (Level.STRONG, Level.LEARNER), Level.LEARNER),
    ],
)
def test_the_nearest_level_that_is_offered_is_sent(
    wished: str | None, offered: tuple[Level, ...], level: Level
) -> None:
    assert nearest_level(wished, offered) is level


def test_a_program_that_has_left_a_room_plays_in_the_next_one_of_its_level() -> None:
    programs = Programs(random.Random(1))
    first = programs.take(Level.CLUB)
    programs.give_back(first)
    assert programs.take(Level.STRONG).name.startswith("bot-strong-")
    assert programs.take(Level.CLUB) is first


def test_two_programs_at_the_same_time_have_two_names() -> None:
    programs = Programs(random.Random(1))
    assert programs.take(Level.CLUB).name != programs.take(Level.CLUB).name


def test_a_wish_is_not_sent_to_a_server_that_does_not_know_rivals() -> None:
    with pytest.raises(Rejected, match="does not know rivals"):
        fit_request(Create(rival_after_seconds=5), ())


@pytest.fixture
async def clients(server_url: str) -> AsyncIterator[Clients]:
    clients = Clients(server_url)
    yield clients
    await clients.end()


async def test_a_rival_takes_the_seat_that_nobody_takes_and_says_that_it_is_a_program(clients: Clients) -> None:
    clients.open_house()
    alone = await clients.enter(Create(options=LISTED, rival_after_seconds=0, rival_level="careless"))
    await clients.until(lambda: second_name(alone).startswith("bot-careless-"))


async def test_a_room_without_the_wish_is_left_alone(clients: Clients) -> None:
    unwilling = await clients.enter(Create(options=LISTED))
    wishing = await clients.enter(Create(options=LISTED, rival_after_seconds=0))
    clients.open_house()
    await clients.until(lambda: bool(second_name(wishing)))
    assert not second_name(unwilling)


async def test_a_person_who_comes_before_the_race_gets_the_seat_of_the_rival(clients: Clients) -> None:
    host = await clients.enter(Create(options=LISTED, rival_after_seconds=600))
    room = host.model.room
    assert room is not None
    await clients.enter(Join(room=room), "bot-club-0001")
    await clients.enter(Join(room=room), "bea")
    await clients.until(lambda: second_name(host) == "bea")


async def test_a_rival_that_is_left_alone_leaves(clients: Clients) -> None:
    clients.open_house()
    host = await clients.enter(Create(options=LISTED, rival_after_seconds=0))
    await clients.until(lambda: bool(second_name(host)))
    await host.request(Leave())
    await clients.until(lambda: clients.lines[-1].endswith("it was left alone."))


async def test_a_rival_that_ends_by_a_fault_is_printed_with_its_room_and_its_reason(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A level without a profile is a fault of the program: its rival knows no pace.
    monkeypatch.delitem(PROFILES, Level.CARELESS)
    clients.open_house()
    host = await clients.enter(Create(options=LISTED, rival_after_seconds=0))
    said = f"A rival in {host.model.room} ended by a fault: KeyError("
    await clients.until(lambda: any(line.startswith(said) for line in clients.lines))


async def test_a_fault_just_before_the_house_ends_is_printed(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PROFILES, Level.CARELESS)
    clients.open_house()
    await clients.enter(Create(options=LISTED, rival_after_seconds=0))
    await clients.until(lambda: " joins " in clients.lines[-1])
    await clients.end()
    assert "ended by a fault" in clients.lines[-1]


async def test_a_house_outlives_a_time_without_its_server() -> None:
    lines: list[str] = []
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await keep_house("ws://127.0.0.1:1", LEARNERS, lines.append)
