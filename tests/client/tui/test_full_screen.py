"""The full-screen client against a real server: each screen, by keys and by mouse, through faults and resizes."""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.server import ServerConnection

from fairest_cli.bots.levels import Level
from fairest_cli.bots.policies import choose_greedy
from fairest_cli.exit_codes import FAULT
from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.records.files import load_record, records_folder
from fairest_cli.session.connection import Update
from fairest_cli.tui.board.optimistic_board import optimistic_board
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.launch import AgainstBot, AtHome, AtReplay, InLobby, InRoom, OnTv
from fairest_cli.tui.screens.cheat_alert import CheatAlert
from fairest_cli.tui.screens.countdown import CountdownScreen
from fairest_cli.tui.screens.help import HelpScreen
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.screens.settings import SettingsScreen
from fairest_cli.tui.screens.waiting import WaitingScreen
from fairest_cli.tui.screens.watch import WatchScreen
from fairest_cli.tui.settings import Colours, load_settings
from fairest_cli.tui.widgets.timeline_view import TimelineView
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank, rank_name
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Leave, Rematch, Watch
from fairest_protocol.messages.from_server import Announcement, Refused, Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import replace
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.client.test_hostile_text import ROOM, output_against, welcome_client
from tests.server.test_drain import drain, workers_of
from tests.support.faulty_link import FaultyLink, faulty_link
from tests.support.full_screen import Terminal, terminal
from tests.support.ports import free_port
from tests.support.processes import serving_fleet
from tests.support.races import raced
from tests.support.records import signed_record, text_of, unsigned_record
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players

CALM = RoomOptions(countdown_seconds=0, limit_seconds=7200)
Mover = Callable[[Terminal, Move], Awaitable[None]]

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
async def link(server_url: str) -> AsyncIterator[FaultyLink]:
    address = urlsplit(server_url)
    async with faulty_link((address.hostname or "", address.port or 0)) as made:
        yield made


def through(link: FaultyLink) -> str:
    return f"ws://127.0.0.1:{link.port}"


async def sit_down(player: Terminal, rival: WireClient) -> None:
    """Bring the player from a new room into a race against `rival`."""
    await player.is_on(WaitingScreen)
    room = player.session.model.room
    assert room is not None
    await rival.enter(Join(room=room))
    await player.sees("Press Enter when you are ready")
    await player.press("enter")
    await rival.take_part_in_deal()
    await player.is_on(RaceScreen)


@asynccontextmanager
async def racing(
    url: str, home: Path, options: RoomOptions = CALM, name: str | None = None, by: str | None = None
) -> AsyncIterator[tuple[Terminal, WireClient]]:
    """Start a race between a player at a terminal, connected to `by` if given, and a rival connected to `url`."""
    async with open_client(url) as rival, terminal(InRoom(Create(options=options), by or url, name), home) as player:
        await sit_down(player, rival)
        yield player, rival


async def play_to_the_end(player: Terminal, make: Mover) -> None:
    """Play the greedy policy until the player's race is over."""
    chance = random.Random(1)
    while player.session.is_racing:
        seen = optimistic_board(player.session.model)
        assert seen is not None
        moves = list(seen.board.legal_moves())
        if moves:
            await make(player, choose_greedy(seen.board, chance))
            if isinstance(player.app.screen, RaceScreen) and player.app.screen._picked is not None:
                await player.press(str(choose_greedy(seen.board, chance).target + 1))
        await player.until(lambda: not player.session.model.sent or not player.session.is_racing)
        await player.until(lambda: has_a_move_or_is_over(player))


def has_a_move_or_is_over(player: Terminal) -> bool:
    board = player.session.model.board
    return not player.session.is_racing or (board is not None and any(board.legal_moves()))


@pytest.mark.parametrize(
    "make",
    [pytest.param(Terminal.make, id="keys"), pytest.param(Terminal.click, id="mouse", marks=pytest.mark.long)],
)
async def test_a_whole_race_is_played(server_url: str, home: Path, make: Mover) -> None:
    async with racing(server_url, home, options=QUICK, name="ann") as (player, rival):
        await rival.play("stop")
        await play_to_the_end(player, make)
        await player.is_on(ResultScreen)
        await player.sees("all 48 cards match their envelopes")
        await player.sees("You win")
        await player.until(lambda: player.session.record is not None)
        assert player.session.record_path is not None
        assert load_record(player.session.record_path).names[0] == "ann"


async def test_the_waiting_screen_shows_the_commands_to_join_and_to_watch(server_url: str, home: Path) -> None:
    async with terminal(InRoom(Create(options=QUICK), server_url), home, columns=120) as player:
        await player.is_on(WaitingScreen)
        await player.sees(f"fairest join {player.session.model.room} --server {server_url}")
        await player.sees(f"fairest watch {player.session.model.room} --server {server_url}")


@pytest.mark.long
async def test_the_waiting_screen_marks_a_player_who_is_ready(server_url: str, home: Path) -> None:
    async with (
        open_client(server_url, name="bob") as rival,
        terminal(InRoom(Create(options=QUICK), server_url), home) as player,
    ):
        await player.is_on(WaitingScreen)
        await rival.enter(Join(room=player.session.model.room or ""))
        await player.sees("[ ]  bob")
        await rival.get_ready_without_revealing()
        await player.sees("[x]  bob")


async def test_the_countdown_shows_the_check_words(server_url: str, home: Path) -> None:
    options = RoomOptions(countdown_seconds=10)
    async with (
        open_client(server_url) as rival,
        terminal(InRoom(Create(options=options), server_url), home) as player,
    ):
        await player.is_on(WaitingScreen)
        await rival.enter(Join(room=player.session.model.room or ""))
        await player.sees("Press Enter")
        await player.press("enter")
        dealing = asyncio.create_task(rival.take_part_in_deal())
        await player.is_on(CountdownScreen)
        await player.sees(" ".join(player.session.model.seal_check.check_words))
        await player.press("escape")
        assert isinstance(player.app.screen, CountdownScreen)
        dealing.cancel()


async def test_a_move_is_shown_before_the_server_answers(link: FaultyLink, server_url: str, home: Path) -> None:
    async with racing(server_url, home, by=through(link)) as (player, _rival):
        board = player.session.model.board
        assert board is not None and board.turned is not None
        link.stall()
        await player.press("c")
        assert rank_name(rank(board.turned)) in player.read("pile-2")
        assert player.session.model.board == board
        link.flow()
        await player.until(lambda: not player.session.model.sent)
        assert rank_name(rank(board.turned)) in player.read("pile-2")


async def test_a_refused_move_is_taken_back_with_the_reason(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        before = player.session.model.with_sent(player.session.model.next_play(next(legal(player))))
        refused = Refused(to="play", code=Refusal.RACE_OVER, sentence="The race is over.", number=before.sent[0].number)
        screen = await player.is_on(RaceScreen)
        screen.show_update(before, Update(before.after(refused, 0), refused))
        assert player.read("notice") == f" Taken back: {before.sent[0].move}. The race is over."


@pytest.mark.long
async def test_an_announcement_is_shown_over_the_screen_as_it_is(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        model, text = player.session.model, "We restart at 20:00 [bold]UTC[/bold]."
        await player.app.show_update(player.session, model, Update(model, Announcement(text=text)))
        await player.until(lambda: any(note.message == text for note in player.app._notifications))
        assert [note.markup for note in player.app._notifications if note.message == text] == [False]


def legal(player: Terminal) -> Iterator[Move]:
    board = player.session.model.board
    assert board is not None
    return board.legal_moves()


@pytest.mark.long
async def test_shift_works_in_terminals_that_report_it_as_a_key(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.press("shift+a")
        assert player.read("notice") == " This waste pile is empty."


@pytest.mark.long
async def test_a_race_goes_on_over_a_network_with_jitter(link: FaultyLink, server_url: str, home: Path) -> None:
    chance = random.Random(3)
    async with racing(server_url, home, by=through(link)) as (player, _rival):
        for number in range(8):
            link.latency_seconds = chance.uniform(0, 0.2)
            await player.press("abcd"[number % 4])
            await player.until(lambda: not player.session.model.sent)
            await player.until(lambda: has_a_move_or_is_over(player))
        assert player.session.model.own is not None
        assert player.session.model.own.moves == 8


async def test_a_lost_connection_freezes_the_board_and_comes_back_by_itself(
    link: FaultyLink, server_url: str, home: Path
) -> None:
    async with racing(server_url, home, by=through(link)) as (player, _rival):
        link.is_closed = True
        link.reset()
        await player.sees("Connection lost")
        await player.press("a")
        assert player.read("notice") == " Wait until the server is back."
        link.is_closed = False
        await player.until(
            lambda: player.session.model.status is ConnectionStatus.CONNECTED and player.session.accepts_moves
        )
        await player.press("a")
        await player.until(lambda: player.session.model.own is not None and player.session.model.own.moves == 1)
        assert "Connection lost" not in player.text


@pytest.mark.long
async def test_a_spectator_without_a_connection_is_not_told_of_a_seat(
    link: FaultyLink, server_url: str, home: Path
) -> None:
    async with (
        racing_players(server_url) as (first, _second),
        terminal(InRoom(Watch(room=first.room), through(link)), home) as spectator,
    ):
        await spectator.is_on(WatchScreen)
        link.is_closed = True
        link.reset()
        await spectator.sees("Connection lost. The race goes on without you; reconnecting")
        assert "seat" not in spectator.read("banner")


@pytest.mark.long
async def test_a_spectator_is_told_how_many_watch(server_url: str, home: Path) -> None:
    async with (
        racing_players(server_url) as (first, _second),
        open_client(server_url) as other,
        terminal(InRoom(Watch(room=first.room), server_url), home, columns=120) as spectator,
    ):
        await other.enter(Watch(room=first.room))
        await spectator.sees(", 2 watching")


@pytest.mark.long
async def test_a_race_goes_on_after_its_server_is_killed_and_started_again(redis_url: str, home: Path) -> None:
    port = free_port()
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start(port=port)
        async with racing(url, home) as (player, _rival):
            await player.press("a")
            await player.until(lambda: not player.session.model.sent)
            await fleet.kill(url)
            await player.sees("Connection lost")
            await fleet.start(port=port)
            await player.until(lambda: player.session.accepts_moves)
            await player.press("b")
            await player.until(lambda: player.session.model.own is not None and player.session.model.own.moves == 2)
            assert isinstance(player.app.screen, RaceScreen)


async def test_escape_never_loses_a_race(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.press("escape")
        await player.is_on(RaceMenu)
        await player.press("escape")
        await player.is_on(RaceScreen)
        await player.press("escape", "enter")
        await player.is_on(RaceScreen)
        assert player.session.is_racing


async def test_quitting_in_a_race_asks_first_and_says_how_to_come_back(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.press("ctrl+q")
        await player.is_on(RaceMenu)
        invitation = player.session.model.invitation
        await player.press("ctrl+q")
        assert player.app.last_words == ["Your seat waits 60 seconds. Come back to it with:", f"  {invitation}"]


@pytest.mark.long
async def test_stop_in_the_menu_ends_the_race_with_what_is_placed(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, rival):
        await player.press("escape", "down", "enter")
        await player.sees("You placed 4")
        await rival.play("stop")
        await player.is_on(ResultScreen)
        await player.sees("A draw")


@pytest.mark.long
async def test_the_keys_of_moves_are_not_shown_once_our_race_has_ended(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.press("escape", "down", "enter")
        await player.sees("You placed 4")
        await player.until(lambda: player.read("key-line").endswith(" to finish now  ? help  Esc menu"))


@pytest.mark.long
async def test_a_terminal_that_shrinks_in_a_race_says_what_it_needs(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.pilot.resize_terminal(50, 12)
        await player.sees("50 columns and 16 lines")
        await player.press("a")
        assert not player.session.model.sent
        await player.pilot.resize_terminal(120, 40)
        await player.sees("Build these up")
        assert player.session.model.own is not None
        assert player.session.model.own.moves == 0


@pytest.mark.long
async def test_the_keys_page_covers_the_race_until_it_is_closed(server_url: str, home: Path) -> None:
    async with racing(server_url, home) as (player, _rival):
        await player.press("question_mark")
        await player.is_on(HelpScreen)
        await player.sees("the turned card onto that waste pile")
        await player.press("a")
        assert not player.session.model.sent
        await player.press("escape")
        await player.is_on(RaceScreen)


async def test_a_rematch_starts_from_the_result(server_url: str, home: Path) -> None:
    async with racing(server_url, home, options=QUICK) as (player, rival):
        await rival.play("resign")
        await player.is_on(ResultScreen)
        await player.press("r")
        await player.sees("You want a rematch")
        await rival.send('{"type":"rematch"}')
        await player.sees("The next round is open")
        await player.press("enter")
        await rival.take_part_in_deal()
        await player.is_on(RaceScreen)


@pytest.mark.long
async def test_the_result_of_a_rematch_has_the_matches_won_in_the_room(server_url: str, home: Path) -> None:
    async with racing(server_url, home, options=QUICK, name="ann") as (player, rival):
        await rival.play("resign")
        await player.is_on(ResultScreen)
        await player.press("r")
        await rival.send(Rematch())
        await player.sees("The next round is open")
        await player.press("enter")
        await rival.take_part_in_deal()
        await player.is_on(RaceScreen)
        await rival.play("resign")
        await player.is_on(ResultScreen)
        await player.sees("Matches in this room: ann 2")


@pytest.mark.long
async def test_the_result_of_a_round_stays_after_the_next_one_has_opened(server_url: str, home: Path) -> None:
    options = RoomOptions(countdown_seconds=0, best_of=3)
    async with racing(server_url, home, options=options, name="ann") as (player, rival):
        await rival.play("resign")
        await player.is_on(ResultScreen)
        await player.until(lambda: player.session.model.phase is Phase.READY)
        await player.sees("Round 1 of at most 3: ann 1")
        await player.sees("match their envelopes")
        await player.press("escape")
        await player.sees("Leaving now gives up the match")
        assert player.session.model.room is not None


@pytest.mark.long
async def test_the_second_round_does_not_open_with_the_counts_of_the_first(server_url: str, home: Path) -> None:
    options = RoomOptions(countdown_seconds=0, best_of=3)
    async with racing(server_url, home, options=options) as (player, rival):
        player.session._connection.model = replace(player.session.model, placed=(31, 33))
        await player.until(lambda: re.search(r"\b33\b", player.read("head")))
        await rival.play("resign")
        await player.sees("The next round is open")
        await player.press("enter")
        await rival.take_part_in_deal()
        await player.is_on(RaceScreen)
        assert not re.search(r"\b33\b", player.read("head")) and " 4 " in player.read("head")


@pytest.mark.long
async def test_the_result_stays_when_the_other_player_leaves(server_url: str, home: Path) -> None:
    async with racing(server_url, home, options=QUICK) as (player, rival):
        await rival.play("resign")
        await player.is_on(ResultScreen)
        await rival.send(Leave())
        await player.sees("The other player has left")
        assert isinstance(player.app.screen, ResultScreen)


@pytest.mark.long
async def test_the_result_stays_when_the_process_of_the_race_has_drained(
    redis_url: str, redis: BatchingRedis, home: Path
) -> None:
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start("--workers", "2")
        supervisor = fleet.processes[url].pid
        old = workers_of(supervisor)

        async def are_replaced() -> bool:
            return len(workers_of(supervisor) - old) == len(old)

        async def have_ended() -> bool:
            return not workers_of(supervisor) & old

        async with racing(url, home, options=QUICK) as (player, rival):
            for worker in old:
                await drain(redis, worker)
            await until(are_replaced, "new workers serve beside the old ones")
            await rival.play("resign")
            await player.is_on(ResultScreen)
            await until(have_ended, "the old workers have ended")
            await player.until(lambda: player.session.model.status is ConnectionStatus.CONNECTED)
            await player.press("r")
            await player.sees("You want a rematch")
            await player.is_on(ResultScreen)


@asynccontextmanager
async def watched_race(url: str, home: Path) -> AsyncIterator[tuple[WireClient, WireClient, Terminal, TimelineView]]:
    async with (
        racing_players(url) as (first, second),
        terminal(InRoom(Watch(room=first.room), url), home) as spectator,
    ):
        yield first, second, spectator, (await spectator.is_on(WatchScreen)).query_one(TimelineView)


def shown(view: TimelineView, seat: int) -> Board:
    """Return the board of `seat` that the timeline shows."""
    board = view.timeline.shown.boards[seat] if view.timeline.shown else None
    assert board is not None
    return board


async def test_a_spectator_sees_cards_that_both_players_turned_and_can_step_back(server_url: str, home: Path) -> None:
    async with watched_race(server_url, home) as (first, second, spectator, view):
        await first.play("sa")
        await second.play("sb")
        await spectator.until(lambda: shown(view, 0).piles[0] and shown(view, 1).piles[1])
        await spectator.press("home")
        assert shown(view, 0).piles[0] == ()
        await spectator.press("end")
        await spectator.sees(" live ")


async def test_a_spectator_sees_no_card_that_one_player_has_not_turned(server_url: str, home: Path) -> None:
    async with watched_race(server_url, home) as (first, _, spectator, view):
        for _ in range(3):
            await first.play("sa")
        await first.play("stop")
        await spectator.until(lambda: "has stopped" in spectator.read("label"))
        assert shown(view, 0).piles[0] == ()


@pytest.mark.long
async def test_the_lobby_leads_into_a_room(server_url: str, home: Path) -> None:
    async with open_client(server_url, name="bob") as other:
        await other.enter(Create(options=RoomOptions(listed=True)))
        async with terminal(InLobby(server_url), home) as player:
            await player.is_on(LobbyScreen)
            await player.sees("bob waits")
            await player.press("enter")
            await player.is_on(WaitingScreen)
            await player.sees("[ ]  bob")


@pytest.mark.long
async def test_tv_watches_one_match_after_the_other(
    server_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_cli.tui.room_runner.RESULT_SECONDS", 0.2)
    monkeypatch.setattr("fairest_cli.tui.room_runner.SEARCH_SECONDS", 0.05)
    async with terminal(OnTv(server_url), home) as player:
        await player.sees("Looking for a race that may be watched")
        for _ in range(2):
            async with racing_players(server_url, options=QUICK.model_copy(update={"listed": True})) as (first, _other):
                await player.is_on(WatchScreen)
                assert player.session.model.room == first.room
                await first.play("resign")
                await player.is_on(HomeScreen)


async def test_a_notice_that_comes_while_the_program_ends_changes_nothing(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        ending = asyncio.create_task(player.app._shutdown())
        while not ending.done():
            await asyncio.sleep(0)
            player.app.show_notice("Looking for a race that may be watched.")
        await ending


@pytest.mark.long
async def test_whoever_leaves_a_match_on_tv_has_left_tv(
    server_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_cli.tui.room_runner.SEARCH_SECONDS", 0.05)
    async with (
        terminal(OnTv(server_url), home) as player,
        racing_players(server_url, options=QUICK.model_copy(update={"listed": True})),
    ):
        await player.is_on(WatchScreen)
        await player.press("escape")
        await player.is_on(HomeScreen)
        await player.until(lambda: player.app.rooms.session is None)
        assert "Looking" not in player.text


async def test_a_room_is_created_from_the_home_screen(server_url: str, home: Path) -> None:
    async with terminal(AtHome(server_url), home) as player:
        await player.is_on(HomeScreen)
        await player.press("c", "down", "right", "up", "enter")
        await player.is_on(WaitingScreen)
        await player.sees("easy, 5 waste piles")
        await player.press("escape")
        await player.is_on(HomeScreen)


async def test_a_room_is_joined_by_its_code_from_the_home_screen(server_url: str, home: Path) -> None:
    async with open_client(server_url, name="bob") as other:
        room = (await other.enter(Create(options=QUICK))).room
        async with terminal(AtHome(server_url), home) as player:
            await player.is_on(HomeScreen)
            await player.press("j", *(letter if letter != "-" else "minus" for letter in room), "enter")
            await player.sees("[ ]  bob")


async def test_the_code_of_an_unknown_room_leads_home_with_a_sentence(server_url: str, home: Path) -> None:
    async with terminal(AtHome(server_url), home) as player:
        player.app.rooms.join("no-such-room")
        await player.sees("There is no room with this code")
        await player.is_on(HomeScreen)


async def test_a_command_for_an_unknown_room_ends_with_a_sentence(server_url: str, home: Path) -> None:
    async with terminal(InRoom(Watch(room="no-such-room"), server_url), home) as player:
        await player.until(lambda: not player.app.is_running)
        assert player.app.last_words[0].startswith("fairest: There is no room with this code")


async def test_a_command_for_an_unknown_room_fails(server_url: str, home: Path) -> None:
    async with terminal(InRoom(Join(room="no-such-room"), server_url), home) as player:
        await player.until(lambda: not player.app.is_running)
        assert player.app.return_code == FAULT


async def test_a_bot_is_raced_from_the_home_screen(home: Path) -> None:
    async with terminal(AgainstBot(Level.CARELESS, QUICK), home) as player:
        await player.is_on(WaitingScreen)
        await player.sees("[x]  bot-careless")
        await player.press("enter")
        await player.is_on(RaceScreen)
        await player.sees("bot-careless 4 of 52")
        await player.app.rooms.close_local_server()


@pytest.mark.long
async def test_a_bot_takes_the_free_seat_on_request(server_url: str, home: Path) -> None:
    async with terminal(InRoom(Create(options=QUICK), server_url), home) as player:
        await player.is_on(WaitingScreen)
        await player.press("b")
        await player.sees("[x]  bot-")


@pytest.mark.long
async def test_two_bots_on_one_server_have_different_names(server_url: str, home: Path) -> None:
    names = set()
    for _ in range(2):
        async with terminal(InRoom(Create(options=QUICK), server_url), home) as player:
            await player.is_on(WaitingScreen)
            await player.press("b")
            await player.sees("[x]  bot-")
            scene = player.session.model.scene
            assert scene is not None
            names.add(scene.seats[1].name)
    assert len(names) == 2


@pytest.mark.long
async def test_a_bot_plays_its_rest_at_once_when_the_player_has_stopped(home: Path) -> None:
    async with terminal(AgainstBot(Level.CARELESS, QUICK), home) as player:
        await player.is_on(WaitingScreen)
        await player.sees("[x]  ")
        await player.press("enter")
        await player.is_on(RaceScreen)
        assert "finish now" not in player.read("key-line")
        await player.session.play(STOP)
        await player.sees("f ask bot-careless to finish now")
        await player.press("f")
        await player.is_on(ResultScreen)
        await player.app.rooms.close_local_server()


@pytest.mark.long
async def test_settings_are_saved_and_applied_at_once(home: Path) -> None:
    async with terminal(AtHome(), home) as player:
        await player.press("s")
        await player.is_on(SettingsScreen)
        await player.press("down", "down", "down", "down", "right", "down", "right")
        await player.sees("KC")
        kept, complaint = load_settings(home / "settings.json")
        assert (kept.colours, kept.ascii_cards, complaint) == (Colours.FOUR, True, "")
        assert (home / "settings.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.long
async def test_past_matches_are_listed_and_shown_again(home: Path) -> None:
    records_folder().mkdir(parents=True)
    (records_folder() / "race.jsonl").write_text(text_of(signed_record(raced(4))))
    async with terminal(AtHome(), home) as player:
        await player.press("m")
        await player.is_on(HistoryScreen)
        await player.sees("ann against bob")
        await player.press("enter")
        await player.is_on(ReplayScreen)


async def test_a_replay_can_be_stepped_and_sought(home: Path) -> None:
    async with terminal(AtReplay(unsigned_record(raced(4))), home) as player:
        view = (await player.is_on(ReplayScreen)).query_one(TimelineView)
        await player.press("right", "right")
        assert view.timeline.index == 2
        await player.press("9")
        assert view.timeline.is_at_end
        await player.press("plus")
        assert view.timeline.speed == 2.0
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
async def test_a_replay_is_played_and_stopped_by_the_same_key(home: Path) -> None:
    timeline = timeline_of(unsigned_record(raced(4)))
    # It comes to no end by itself, however late the second key is pressed.
    times = [0, 1, 2, *(10**9 for _ in timeline.moments[3:])]
    long = tuple(replace(moment, at_ms=at_ms) for moment, at_ms in zip(timeline.moments, times, strict=True))
    async with terminal(AtHome(), home) as player:
        await player.app.push_screen(ReplayScreen(unsigned_record(raced(4)), replace(timeline, moments=long)))
        view = (await player.is_on(ReplayScreen)).query_one(TimelineView)
        await player.press("space")
        await player.until(lambda: view.timeline.index == 2)
        await player.press("space")
        assert not view.timeline.is_playing


@pytest.mark.long
async def test_a_replay_of_moves_at_the_same_time_plays_to_its_end(home: Path) -> None:
    timeline = timeline_of(unsigned_record(raced(4)))
    at_once = replace(timeline, moments=tuple(replace(moment, at_ms=0) for moment in timeline.moments[:9]))
    async with terminal(AtHome(), home) as player:
        await player.app.push_screen(ReplayScreen(unsigned_record(raced(4)), at_once))
        view = (await player.is_on(ReplayScreen)).query_one(TimelineView)
        await player.press("space")
        await player.until(lambda: view.timeline.is_at_end)
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
async def test_leaving_while_the_server_is_away_ends_the_session(link: FaultyLink, home: Path) -> None:
    async with terminal(InRoom(Create(options=QUICK), through(link)), home) as player:
        await player.is_on(WaitingScreen)
        link.is_closed = True
        link.reset()
        await player.sees("Connection lost")
        await player.press("escape")
        await player.is_on(HomeScreen)
        await player.until(lambda: not any(worker.is_running for worker in player.app.workers))


async def test_an_alert_about_a_cheating_server_comes_first_and_sets_the_exit_code(home: Path) -> None:
    async def cheat(websocket: ServerConnection, _: int) -> None:
        await welcome_client(websocket)
        scene = Scene(
            options=RoomOptions().resolved(),
            phase=Phase.READY,
            seats=(SeatScene(name="ann"), SeatScene(name="bob")),
            round=bytes(16),
            commitment=bytes(32),
            signature=bytes(64),
        )
        snapshot = Snapshot(room=ROOM, seat=0, position=0, tag="00000000", now_ms=0, scene=scene)
        await websocket.send(encode(snapshot).decode())

    async def play(url: str) -> bytes:
        async with terminal(InRoom(Join(room=ROOM), url), home) as player:
            await player.is_on(CheatAlert)
            await player.sees("THE SEAL IS BROKEN")
            await player.press("enter")
            await player.is_on(HomeScreen)
            await player.press("q")
            return str(player.app.return_code).encode()

    assert await output_against(cheat, play) == b"3"


async def test_a_sentence_of_a_server_is_not_taken_as_markup(home: Path) -> None:
    sentence = "[@click=app.exit]click[/] [bold]me[/nothing] \x1b[2J"

    async def refuse(websocket: ServerConnection, _: int) -> None:
        request = await welcome_client(websocket)
        refused = Refused(to=request["type"], code=Refusal.ROOM_FULL, sentence=sentence)
        await websocket.send(encode(refused).decode())

    async def play(url: str) -> bytes:
        async with terminal(AtHome(url), home) as player:
            player.app.rooms.join(ROOM)
            await player.sees("[@click=app.exit]click[/] [bold]me[/nothing] ?[2J")
            await player.pilot.click("#home-notice")
            return b"open" if player.app.is_running else b"closed"

    assert await output_against(refuse, play) == b"open"
