"""The home screen offers the seats that our player has on the server, and is the same without an answer."""

from pathlib import Path

import pytest

from fairest_cli.session.identity import open_identity
from fairest_cli.session.seats import Seats
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.home_entries import ENTRIES
from fairest_cli.tui.screens.home_seats import HomeSeats
from fairest_cli.tui.screens.seat_choice import SeatChoice
from fairest_cli.tui.screens.tournament import TournamentScreen
from fairest_cli.tui.screens.waiting import WaitingScreen
from fairest_protocol.messages.from_client import Create, Hello
from fairest_protocol.messages.from_server import Welcome
from fairest_protocol.messages.tournaments import CreateTournament
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.ports import free_port
from tests.support.races import KEY
from tests.support.scripted_server import LATER, Script, scripted_server
from tests.support.wire_client import QUICK, open_client

pytestmark = pytest.mark.usefixtures("home")


async def seat_ann(url: str, count: int = 1) -> list[str]:
    """Let a player of this machine called ann take seats in new rooms, and drop; return the codes, newest first."""
    rooms, token = [], None
    for _ in range(count):
        async with open_client(url, **({"name": "ann"} if token is None else {"token": token})) as client:
            token = client.token
            rooms.append((await client.enter(Create(options=QUICK))).room)
    assert token is not None
    keep_ann(url, token)
    return rooms[::-1]


def keep_ann(url: str, token: str) -> None:
    with open_identity(url, "ann") as identity:
        identity.keep_token(token)


def offered(player: Terminal) -> tuple[str, ...]:
    return player.app.screen.query_one(HomeSeats).seats.codes


@parametrize_with_long(("columns", "lines"), [(80, 24), (50, 16)], quick=1)
async def test_a_seat_is_offered_and_taken_by_one_key(
    server_url: str, tmp_path: Path, columns: int, lines: int
) -> None:
    [room] = await seat_ann(server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path, columns=columns, lines=lines) as player:
        await player.sees(f"z takes your seat in {room}"[: columns - 4])
        await player.press("z")
        await player.is_on(WaitingScreen)
        assert (player.session.model.room, player.session.model.seat) == (room, 0)


async def test_one_of_several_seats_is_chosen(server_url: str, tmp_path: Path) -> None:
    rooms = await seat_ann(server_url, 2)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.sees("z shows your seats in 2 rooms")
        await player.press("z")
        await player.is_on(SeatChoice)
        await player.press("down", "enter")
        await player.is_on(WaitingScreen)
        assert player.session.model.room == rooms[1]


@pytest.mark.long
async def test_all_entries_stay_there_beside_a_seat_in_80_by_24(server_url: str, tmp_path: Path) -> None:
    await seat_ann(server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.sees("z takes your seat")
        assert [entry.name for entry in ENTRIES if entry.label not in player.text] == []
        assert "rooms are on" in player.text


@pytest.mark.long
async def test_a_seat_that_was_given_up_is_offered_no_longer(server_url: str, tmp_path: Path) -> None:
    await seat_ann(server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.sees("z takes your seat")
        await player.press("z")
        await player.is_on(WaitingScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)
        await player.until(lambda: offered(player) == ())
        assert "z takes your seat" not in player.text


async def enter_tournament(url: str) -> str:
    """Let a player of this machine called ann create a tournament; return its code."""
    with open_identity(url, "ann") as identity:
        connection = TournamentConnection(url, identity, "ann")
        code = (await connection.enter(CreateTournament())).code
        await connection.close()
    return code


@parametrize_with_long(("columns", "lines"), [(50, 16), (80, 24)], quick=1)
async def test_a_tournament_is_offered_and_gone_on_with_by_one_key(
    server_url: str, tmp_path: Path, columns: int, lines: int
) -> None:
    code = await enter_tournament(server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path, columns=columns, lines=lines) as player:
        await player.sees(f"z: your tournament goes on, {code}"[: columns - 4])
        await player.press("z")
        screen = await player.is_on(TournamentScreen)
        await player.until(lambda: screen.known is not None and screen.known.has_entered)


@pytest.mark.long
async def test_a_tournament_is_chosen_among_seats(server_url: str, tmp_path: Path) -> None:
    code = await enter_tournament(server_url)
    with open_identity(server_url, "ann") as identity:
        token = identity.token
    async with open_client(server_url, token=token) as client:
        await client.enter(Create(options=QUICK))
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.sees("z shows your seats in 2 rooms and tournaments")
        await player.press("z")
        await player.is_on(SeatChoice)
        await player.press("down", "enter")
        screen = await player.is_on(TournamentScreen)
        await player.until(lambda: screen.known is not None and screen.known.shown.code == code)


@pytest.mark.long
async def test_a_tournament_that_a_server_has_invented_is_named(server_url: str, tmp_path: Path) -> None:
    await seat_ann(server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.sees("z takes your seat")
        player.app.screen.query_one(HomeSeats).seats = Seats(tournaments=("no-such-cup",))
        await player.press("z")
        await player.sees("There is no tournament with this code")


def test_a_code_that_a_server_tells_twice_is_offered_once() -> None:
    assert Seats(("a-b", "c-d"), ("c-d", "a-b")).codes == ("a-b", "c-d")


@pytest.mark.long
async def test_a_player_that_is_not_stored_asks_nothing(tmp_path: Path) -> None:
    asked = []

    async def note(script: Script) -> None:
        asked.append(script)

    async with scripted_server(note) as url, terminal(AtHome(url, "ann"), tmp_path) as player:
        await player.press("z")
        await player.is_on(HomeScreen)
        await player.pilot.pause(0.5)
        assert asked == []


async def test_without_a_server_the_home_screen_is_as_ever(tmp_path: Path) -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    keep_ann(url, "s" * 43)
    async with terminal(AtHome(url, "ann"), tmp_path) as player:
        await player.press("z", "c", "escape")
        await player.is_on(HomeScreen)
        assert offered(player) == ()


async def test_a_seat_that_a_server_has_invented_leads_home_with_a_sentence(server_url: str, tmp_path: Path) -> None:
    await seat_ann(server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.sees("z takes your seat")
        player.app.screen.query_one(HomeSeats).seats = Seats(("no-such-room",))
        await player.press("z")
        await player.sees("There is no room with this code")


@parametrize_with_long("room", ["\x1b[2Jx", "[bold]x[/bold]", "Quiet-Otter", "x"], quick=2)
async def test_the_name_of_a_room_that_is_no_code_is_not_shown(tmp_path: Path, room: str) -> None:
    answered = []

    async def lie(script: Script) -> None:
        await script.receive(Hello)
        welcome = Welcome(name="ann", token=None, key=KEY.public, now_ms=LATER, version="0.2.0", rooms=("a-b",))
        await script.websocket.send(welcome.model_dump_json().replace('"a-b"', f'"{room}"'))
        answered.append(room)

    async with scripted_server(lie) as url:
        keep_ann(url, "s" * 43)
        async with terminal(AtHome(url, "ann"), tmp_path) as player:
            await player.until(lambda: answered)
            await player.pilot.pause()
            assert offered(player) == ()
