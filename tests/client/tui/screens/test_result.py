"""The way from the result of a quick race to the next opponent, on the full screen and against a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.tui.launch import InRoom
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.queue import QueueScreen
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.screens.waiting import WaitingScreen
from fairest_protocol.messages.from_client import Create, Join, Leave, Queue
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions
from tests.support.faulty_link import FaultyLink, faulty_link
from tests.support.full_screen import Terminal, terminal
from tests.support.wire_client import WireClient, open_client

pytestmark = pytest.mark.usefixtures("home")
WISH = Queue(rules="easy", rival_after_seconds=300, rival_level="club")
"""A request with everything that the next one has to repeat."""


@asynccontextmanager
async def at_result(
    url: str, home: Path, wish: Queue = WISH, link: FaultyLink | None = None
) -> AsyncIterator[tuple[Terminal, WireClient]]:
    """Bring a player of the queue to the result of a race against a rival on the wire, who has resigned."""
    own_url = url if link is None else f"ws://127.0.0.1:{link.port}"
    async with terminal(InRoom(wish, own_url), home) as player, open_client(url) as rival:
        await player.is_on(QueueScreen)
        await rival.send(Queue(rules=wish.rules))
        await rival.receive_a(Snapshot)
        await player.is_on(WaitingScreen)
        await player.press("enter")
        await rival.take_part_in_deal()
        await player.is_on(RaceScreen)
        await rival.play("resign")
        await player.is_on(ResultScreen)
        yield player, rival


@pytest.mark.long
async def test_one_key_leads_from_the_result_to_the_next_race(server_url: str, home: Path) -> None:
    async with at_result(server_url, home) as (player, _), open_client(server_url) as next_rival:
        first = player.session.model.room
        await player.sees("next opponent")
        await player.press("f")
        await player.is_on(QueueScreen)
        await next_rival.send(Queue(rules="easy"))
        room = (await next_rival.receive_a(Snapshot)).room
        await player.is_on(WaitingScreen)
        assert player.session.model.room == room != first


@pytest.mark.long
async def test_the_next_wait_has_the_wishes_of_the_first_one(server_url: str, home: Path) -> None:
    async with at_result(server_url, home) as (player, _):
        await player.press("f")
        await player.is_on(QueueScreen)
        await player.sees("Looking for an opponent in easy")
        assert player.session.queueing == WISH


@pytest.mark.long
async def test_the_seat_is_given_up_for_the_next_opponent(server_url: str, home: Path) -> None:
    async with at_result(server_url, home) as (player, rival):
        await player.press("f")
        scene = await rival.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
        assert scene.seats[rival.seat or 0].name is not None


@pytest.mark.long
async def test_the_next_opponent_is_found_after_the_rival_has_left(server_url: str, home: Path) -> None:
    async with at_result(server_url, home) as (player, rival):
        await rival.send(Leave())
        await player.sees("The other player has left")
        await player.sees("next opponent")
        await player.press("f")
        await player.is_on(QueueScreen)


@pytest.mark.long
async def test_the_key_that_is_pressed_twice_leaves_once(server_url: str, home: Path) -> None:
    async with at_result(server_url, home) as (player, _):
        await player.press("f", "f")
        await player.is_on(QueueScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
async def test_a_player_whose_connection_drops_while_leaving_finds_the_next_opponent(
    server_url: str, home: Path
) -> None:
    address = urlsplit(server_url)
    async with (
        faulty_link((address.hostname or "", address.port or 0)) as link,
        at_result(server_url, home, link=link) as (player, rival),
    ):
        link.stall()
        await player.press("f")
        await player.sees("Leaving for the next opponent")
        # The request is lost with the connection, so the seat is still ours.
        link.reset()
        link.flow()
        await rival.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
        await player.is_on(QueueScreen)


@pytest.mark.long
async def test_a_player_whose_seat_is_gone_after_a_drop_finds_the_next_opponent(server_url: str, home: Path) -> None:
    address = urlsplit(server_url)
    async with (
        faulty_link((address.hostname or "", address.port or 0)) as link,
        at_result(server_url, home, link=link) as (player, rival),
    ):
        # The server hears the request, and its answer is lost, as all answers to one who has sent a frame of text.
        link.muted = b"\x81"
        session = player.session
        await player.press("f")
        await rival.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
        link.muted = b""
        link.reset()
        await player.is_on(QueueScreen)
        assert player.session is not session


@pytest.mark.long
async def test_escape_goes_home_from_a_player_who_leaves_while_the_server_is_away(server_url: str, home: Path) -> None:
    address = urlsplit(server_url)
    async with (
        faulty_link((address.hostname or "", address.port or 0)) as link,
        at_result(server_url, home, link=link) as (player, _),
    ):
        link.is_closed = True
        link.reset()
        await player.until(lambda: player.session.model.status is ConnectionStatus.LOST)
        await player.press("f")
        await player.sees("Leaving for the next opponent")
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
async def test_a_race_in_a_room_of_its_own_offers_no_next_opponent(server_url: str, home: Path) -> None:
    options = RoomOptions(countdown_seconds=0)
    async with terminal(InRoom(Create(options=options), server_url), home) as player, open_client(server_url) as rival:
        await player.is_on(WaitingScreen)
        await rival.enter(Join(room=player.session.model.room or ""))
        await player.sees("Press Enter when you are ready")
        await player.press("enter")
        await rival.take_part_in_deal()
        await player.is_on(RaceScreen)
        await rival.play("resign")
        await player.is_on(ResultScreen)
        await player.sees("rematch")
        await player.press("f")
        assert "next opponent" not in player.text and player.session.model.own is not None
