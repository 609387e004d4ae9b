"""A player in the waiting room presses Enter at any moment: before the opponent comes, and while the server is away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.session.own_clock import now_ms
from fairest_cli.tui.launch import AtHome, InRoom
from fairest_cli.tui.screens.waiting import READY_MS, WaitingScreen
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join
from tests.support import staged
from tests.support.faulty_link import faulty_link
from tests.support.full_screen import Terminal, terminal
from tests.support.wire_client import QUICK, WireClient, open_client

pytestmark = pytest.mark.usefixtures("home")


class MovableClock:
    """The client's own clock, which a test moves on."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def __call__(self) -> int:
        """Return milliseconds."""
        return now_ms() + self.ahead_ms


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@asynccontextmanager
async def waiting(url: str, home: Path, clock: MovableClock) -> AsyncIterator[Terminal]:
    async with terminal(InRoom(Create(options=QUICK), url), home, clock=clock) as player:
        await player.is_on(WaitingScreen)
        yield player


async def sit_opposite(player: Terminal, rival: WireClient) -> None:
    """Let `rival` take the free seat, and wait until the player is shown that."""
    await rival.enter(Join(room=player.session.model.room or ""))
    await player.until(lambda: player.session.model.phase is Phase.READY)


async def test_enter_before_the_opponent_comes_counts_when_the_opponent_comes(
    server_url: str, home: Path, clock: MovableClock
) -> None:
    async with open_client(server_url) as rival, waiting(server_url, home, clock) as player:
        await player.press("enter")
        await sit_opposite(player, rival)
        await player.sees("You are ready. Waiting for the other player")


async def test_the_screen_says_for_how_long_an_early_enter_holds(
    server_url: str, home: Path, clock: MovableClock
) -> None:
    async with waiting(server_url, home, clock) as player:
        await player.press("enter")
        await player.sees("You are ready, if the other player comes within 0:")


@pytest.mark.long
async def test_an_early_enter_lapses(server_url: str, home: Path, clock: MovableClock) -> None:
    async with open_client(server_url) as rival, waiting(server_url, home, clock) as player:
        await player.press("enter")
        clock.ahead_ms = READY_MS
        await sit_opposite(player, rival)
        await player.sees("Press Enter when you are ready.")


async def test_enter_while_the_server_is_away_counts_when_it_is_back(
    server_url: str, home: Path, clock: MovableClock
) -> None:
    address = urlsplit(server_url)
    async with (
        open_client(server_url) as rival,
        faulty_link((address.hostname or "", address.port or 0)) as link,
        waiting(f"ws://127.0.0.1:{link.port}", home, clock) as player,
    ):
        await sit_opposite(player, rival)
        link.is_closed = True
        link.reset()
        await player.until(lambda: player.session.model.status is ConnectionStatus.LOST)
        await player.press("enter")
        await player.sees("Getting ready ...")
        link.is_closed = False
        await player.sees("You are ready. Waiting for the other player")


async def test_before_a_race_against_a_bot_a_low_terminal_shows_the_seats_instead_of_the_rules(home: Path) -> None:
    async with terminal(AtHome(), home, columns=50, lines=16) as player:
        player.app.rooms.uses_local_server = True
        session = staged.getting_ready().session()
        await player.app.push_screen(WaitingScreen(session))
        await player.is_on(WaitingScreen)
        await player.sees("[x]  bob  ready")
