"""A player waits for an opponent on the full screen, sees how it goes, and gets into the room or home again."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_cli.tui.launch import AtHome, InRoom
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.queue import QueueScreen
from fairest_cli.tui.screens.queue_form import QueueForm
from fairest_cli.tui.screens.waiting import WaitingScreen
from fairest_protocol.messages.from_client import Queue
from fairest_protocol.messages.from_server import Queued, Snapshot
from fairest_server.store import keys
from tests.support.full_screen import terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.waiting import until
from tests.support.wire_client import open_client

pytestmark = pytest.mark.usefixtures("home")


@parametrize_with_long(("columns", "lines"), [(50, 16), (80, 24), (120, 40)], quick=1)
async def test_the_screen_says_what_the_player_waits_for(server_url: str, home: Path, columns: int, lines: int) -> None:
    async with terminal(InRoom(Queue(rules="easy"), server_url), home, columns=columns, lines=lines) as player:
        await player.is_on(QueueScreen)
        await player.sees("Looking for an opponent in easy ...")
        await player.sees("nobody else waits yet")


async def test_an_opponent_leads_both_into_one_room(server_url: str, home: Path) -> None:
    async with terminal(AtHome(server_url), home, columns=80, lines=24) as player, open_client(server_url) as rival:
        await player.press("f")
        await player.is_on(QueueForm)
        await player.press("enter")
        await player.is_on(QueueScreen)
        await rival.send(Queue())
        room = (await rival.receive_a(Snapshot)).room
        await player.is_on(WaitingScreen)
        assert player.session.model.room == room


async def test_escape_leaves_the_queue(server_url: str, home: Path, redis: Redis) -> None:
    async with terminal(InRoom(Queue(), server_url), home, columns=80, lines=24) as player:
        await player.is_on(QueueScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)

        async def is_empty() -> bool:
            return await redis.hlen(keys.TICKETS) == 0

        await until(is_empty, "the ticket is gone")


@pytest.mark.long
async def test_another_variant_is_another_queue(server_url: str, home: Path) -> None:
    async with terminal(AtHome(server_url), home, columns=80, lines=24) as player, open_client(server_url) as other:
        await other.send(Queue())
        await other.receive_a(Queued)
        await player.press("f")
        await player.is_on(QueueForm)
        await player.press("down", "right", "up", "enter")
        await player.is_on(QueueScreen)
        await player.sees("nobody else waits yet")


@pytest.mark.long
async def test_a_player_whom_no_program_joins_gets_from_its_room_to_the_next_who_waits(
    server_url: str, home: Path
) -> None:
    start = InRoom(Queue(rival_after_seconds=0), server_url)
    async with terminal(start, home, columns=80, lines=24) as player, open_client(server_url) as other:
        await player.is_on(WaitingScreen)
        await other.send(Queue())
        room = (await other.receive_a(Snapshot)).room

        async def is_there() -> bool:
            return player.session.model.room == room

        await until(is_there, "the player is in the room of the two")
        await player.is_on(WaitingScreen)
