"""A dropped connection costs nothing: the same seat, nothing lost, nothing doubled."""

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from websockets.asyncio.client import connect as connect_socket
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Leave, Play, Resume, Watch
from fairest_protocol.messages.from_server import Accepted, Error, FromServer, Left, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Breach, CloseCode
from fairest_server.app import running
from fairest_server.room.commands import Command, TakeSeat
from fairest_server.room.decide import decide
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.appends import Answer, Append
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.appending import append_once
from tests.support.history import read_room, read_steps
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import CLIENT_COMMAND, end_process
from tests.support.races import KEY
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players


async def test_resuming_gives_what_follows_the_position(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("sa")
        position, tag = first.position, first.tag
        await first.socket.close()
        await second.play("sb")
        async with open_client(server_url, token=first.token) as again:
            await again.send(Resume(room=first.room, position=position, tag=tag))
            view = await receive_first_view(again, first)
            assert view.first == position + 1
            assert "moved" in [entry.type for entry in view.entries]


async def receive_first_view(again: WireClient, before: WireClient) -> View:
    """Return the first view of a resumed connection, folded into the scene of the dropped one."""
    again.scene, again.position, again.seat = before.scene, before.position, before.seat
    message = await again.receive()
    assert isinstance(message, View)
    return message


async def test_resuming_from_position_zero_gives_a_snapshot(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        await first.socket.close()
        async with open_client(server_url, token=first.token) as again:
            await again.send(Resume(room=first.room, position=0))
            snapshot = await again.receive_a(Snapshot)
        assert snapshot.seat == 0
        assert snapshot.scene.seats[0].moves == 1


async def test_resuming_without_a_tag_gives_a_snapshot(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        await first.socket.close()
        async with open_client(server_url, token=first.token) as again:
            await again.send(Resume(room=first.room, position=first.position))
            assert (await again.receive_a(Snapshot)).scene.seats[0].moves == 1


async def test_a_position_that_never_was_gives_a_snapshot(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.socket.close()
        async with open_client(server_url, token=first.token) as again:
            await again.send(Resume(room=first.room, position=9999, tag=first.tag))
            assert (await again.receive_a(Snapshot)).seat == 0


async def test_a_move_whose_answer_was_lost_is_made_once(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.send(Play(number=1, move=MOVES["sa"]))
        first.socket.transport.abort()
        async with open_client(server_url, token=first.token) as again:
            await again.resume(first.room)
            await again.send(Play(number=1, move=MOVES["sa"]))
            # Moves are decided in their order: when this one is shown, the repeated one has been decided.
            await again.send(Play(number=2, move=MOVES["sb"]))
            scene = await again.receive_until(lambda seen: bool(seen.seats[0].board and seen.seats[0].board.piles[1]))
            assert scene.seats[0].board is not None
            assert len(scene.seats[0].board.piles[0]) == 1


async def test_the_same_move_again_on_the_new_connection_is_answered_as_accepted(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        await first.socket.close()
        async with open_client(server_url, token=first.token) as again:
            await again.resume(first.room)
            await again.send(Play(number=1, move=MOVES["sa"]))
            assert await again.receive_a(Accepted) == Accepted(number=1)


async def test_the_newer_connection_of_a_seat_wins(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url, token=first.token) as newer:
        await newer.resume(first.room)
        assert (await first.receive_a(Error)).code is Breach.REPLACED
        await first.socket.wait_closed()
        assert first.socket.close_code == CloseCode.REPLACED
        await newer.play("sa")


async def test_the_opponent_is_shown_a_drop_and_the_return(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.socket.close()
        scene = await second.receive_until(lambda seen: not seen.seats[0].is_connected)
        assert scene.seats[0].until_ms is not None
        async with open_client(server_url, token=first.token) as again:
            await again.resume(first.room)
            await second.receive_until(lambda seen: seen.seats[0].is_connected)


async def test_a_player_who_stays_away_longer_than_the_grace_period_has_stopped(server_url: str) -> None:
    options = RoomOptions(countdown_seconds=0, grace_seconds=1)
    async with racing_players(server_url, options=options) as (first, second):
        await first.socket.close()
        await second.receive_until(lambda seen: seen.seats[0].has_stopped)
        await second.play("stop")
        scene = await second.receive_until(lambda seen: seen.outcome is not None)
        assert scene.outcome is not None
        assert [score.ending for score in scene.outcome.scores] == ["away", "stopped"]


async def test_a_seat_is_resumed_on_another_server(settings_for_tests: Settings) -> None:
    async with (
        running(settings_for_tests) as here,
        running(settings_for_tests) as there,
        racing_players(here) as (first, second),
    ):
        await first.play("sa")
        await first.socket.close()
        async with open_client(there, token=first.token) as again:
            await again.resume(first.room)
            await again.play("sb")
            await second.play("sa")
            scene = await second.receive_until(lambda seen: seen.seats[0].moves == 1)
            assert scene.phase is Phase.RACING


async def test_a_race_survives_the_restart_of_its_server(settings_for_tests: Settings) -> None:
    async with running(settings_for_tests) as url, racing_players(url) as (first, second):
        await first.play("sa")
        await second.play("sb")
    async with (
        running(settings_for_tests) as url,
        open_client(url, token=first.token) as one,
        open_client(url, token=second.token) as two,
    ):
        await one.resume(first.room)
        await two.resume(first.room)
        await one.play("sc")
        await two.play("sd")
        scene = await one.receive_until(lambda seen: seen.seats[1].moves == 2)
    assert [seat.moves for seat in scene.seats] == [2, 2]


@asynccontextmanager
async def client(url: str, home: Path, *arguments: str) -> AsyncIterator[Process]:
    """The program `fairest` as a process of its own, printing JSON, with its own home."""
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "FAIREST_SERVER": url}
    process = await asyncio.create_subprocess_exec(
        *CLIENT_COMMAND, *arguments, "--json", stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await end_process(process)


async def receive_from(process: Process) -> FromServer:
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        return decode_from_server(await process.stdout.readline())


async def type_into(process: Process, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    await process.stdin.drain()


async def wait_for_acknowledgement(process: Process, seat: int, number: int) -> None:
    """Wait until the program has printed the acknowledgement of move `number` of `seat`."""
    while True:
        message = await receive_from(process)
        if isinstance(message, View):
            for entry in message.entries:
                if entry.type == "moved" and entry.seat == seat and entry.number == number:
                    return


async def test_a_client_killed_in_the_middle_of_a_race_comes_back_to_its_seat(server_url: str, tmp_path: Path) -> None:
    async with open_client(server_url) as other:
        room = (await other.enter(Create(options=QUICK))).room
        async with client(server_url, tmp_path, "join", room) as killed:
            racing = asyncio.create_task(other.take_part_in_deal())
            for move in ("sa", "sb", "sc"):
                await type_into(killed, move)
            await wait_for_acknowledgement(killed, seat=1, number=3)
            await racing
            killed.send_signal(signal.SIGKILL)
            await killed.wait()
        await other.receive_until(lambda seen: not seen.seats[1].is_connected)
        async with client(server_url, tmp_path, "join", room) as again:
            while not isinstance(message := await receive_from(again), Snapshot):
                continue
            assert message.seat == 1
            own = message.scene.seats[1]
            assert (own.moves, own.board and [len(pile) for pile in own.board.piles]) == (3, [1, 1, 1, 0])
            await type_into(again, "sd")
            await wait_for_acknowledgement(again, seat=1, number=4)


@pytest.mark.long
async def test_a_client_whose_input_has_ended_stops_in_every_round(server_url: str, tmp_path: Path) -> None:
    options = RoomOptions(countdown_seconds=0, best_of=3)
    async with open_client(server_url) as other:
        room = (await other.enter(Create(options=options))).room
        async with client(server_url, tmp_path, "join", room) as ended:
            assert ended.stdin is not None
            ended.stdin.close()
            for number in (1, 2):
                await other.receive_until(lambda seen, number=number: seen.round_number == number)  # type: ignore[misc]
                await other.take_part_in_deal()
                await other.receive_until(lambda seen: seen.seats[1].has_stopped)
                await other.play("stop")
            assert other.scene is not None
            assert other.scene.round_number == 2


async def test_no_token_is_printed(server_url: str, tmp_path: Path) -> None:
    async with client(server_url, tmp_path, "create") as process:
        assert process.stdout is not None
        welcome = json.loads(await process.stdout.readline())
        assert welcome["type"] == "welcome"
        assert welcome["token"] is None


@pytest.mark.long
async def test_the_token_is_kept_for_its_owner_only(server_url: str, tmp_path: Path) -> None:
    async with client(server_url, tmp_path, "create") as process:
        while not isinstance(await receive_from(process), Snapshot):
            continue
    kept = list((tmp_path / "data").rglob("*.json"))
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


@pytest.mark.long
@parametrize_with_long("word", ["join", "watch"], quick=1)
async def test_a_room_that_does_not_exist_ends_the_client_with_a_sentence(
    server_url: str, tmp_path: Path, word: str
) -> None:
    async with client(server_url, tmp_path, word, "no-such-room") as process:
        async with asyncio.timeout(PATIENCE_SECONDS):
            _, errors = await process.communicate()
        assert process.returncode == 1
        assert b"There is no room with this code" in errors


async def test_a_spectator_that_drops_comes_back_to_a_snapshot(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        async with open_client(server_url) as spectator:
            await spectator.enter(Watch(room=first.room))
        await asyncio.gather(first.play("sa"), second.play("sa"))
        async with open_client(server_url) as spectator:
            snapshot = await spectator.enter(Watch(room=first.room))
        assert [seat.moves for seat in snapshot.scene.seats] == [1, 1]


async def test_a_spectator_is_never_shown_less_than_the_log_holds(server_url: str, redis: BatchingRedis) -> None:
    """A spectator may come from another process whose appends have not reached this one: its room must not go back."""
    async with open_client(server_url) as first, open_client(server_url) as spectator:
        room = (await first.enter(Create(options=QUICK))).room
        await append_elsewhere(redis, room, TakeSeat("somebody", "bob", "elsewhere-1"))
        assert (await spectator.enter(Watch(room=room))).scene.seats[1].name == "bob"


async def append_elsewhere(redis: BatchingRedis, room: str, command: Command) -> None:
    """Append as another process does, without a wake-up."""
    steps = await read_steps(redis, room)
    events = decide(steps[-1].after, command, partial(KEY.draw_round, room))
    assert isinstance(events, tuple)
    log = Log(redis)
    async with log.sending():
        append = Append(room, len(steps), steps[-1].tag, "e15e0000", events)
        assert await append_once(log, append) is Answer.APPENDED


async def test_joining_again_is_coming_back(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.socket.close()
        async with open_client(server_url, token=first.token) as again:
            assert (await again.enter(Join(room=first.room))).seat == 0


async def has_no_connection(redis_url: str, room: str) -> bool:
    """Return whether, by its log, no connection is attached to the room."""
    state = await read_room(redis_url, room)
    return not any(seat and seat.connection_id for seat in state.seats)


async def test_a_client_that_drops_right_after_its_join_does_not_stay_attached(server_url: str, redis_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(Create(options=QUICK))).room
        for _ in range(10):
            async with open_client(server_url) as hasty:
                await hasty.send(Join(room=room))
                hasty.socket.transport.abort()
    await until(lambda: has_no_connection(redis_url, room), "the log says that nobody is connected")


async def test_leaving_right_after_joining_gives_the_seat_back(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as hasty:
        room = (await first.enter(Create(options=QUICK))).room
        await hasty.send(Join(room=room))
        await hasty.send(Leave())
        await hasty.receive_a(Left)
        newest = (await hasty.enter(Join(room=room))).scene.round
        await first.receive_until(lambda seen: seen.round == newest)
        await asyncio.gather(first.take_part_in_deal(), hasty.take_part_in_deal())


async def test_a_player_who_leaves_after_the_end_of_its_own_race_gets_an_answer(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("stop")
        await first.send(Leave())
        await first.receive_a(Left)
        await second.play("sa")
        assert (await first.enter(Join(room=second.room))).seat == 0


async def test_a_log_that_lost_its_tail_sends_its_subscribers_back_to_the_rest(server_url: str, redis_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("sa")
        redis = make_client(redis_url)
        kept = await redis.dump(keys.log(first.room))
        await first.play("sa")
        assert kept is not None
        await redis.restore(keys.log(first.room), 0, kept, replace=True)
        await redis.aclose()
        await first.send(Play(number=3, move=MOVES["sa"]))
        assert (await first.receive_a(Error)).code is Breach.RESTARTING
        await second.socket.wait_closed()
        assert second.socket.close_code == CloseCode.RESTARTING
        async with open_client(server_url, token=first.token) as again:
            snapshot = await again.resume(first.room)
            assert snapshot.scene.seats[0].moves == 1


async def test_a_refusal_and_a_move_are_answered_in_the_order_in_which_they_were_sent(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.send(Play(number=1, move=MOVES["ab"]))
        await first.send(Play(number=1, move=MOVES["sa"]))
        await first.receive_until(lambda seen: seen.seats[0].moves == 1)
    kinds = [message.type for message in first.received if message.type in ("refused", "view")]
    assert kinds[-2:] == ["refused", "view"]


async def test_a_client_that_offers_only_another_subprotocol_is_not_connected(server_url: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect_socket(server_url, subprotocols=[Subprotocol("chess.v1")], proxy=None)
    assert refused.value.response.status_code == 400


async def test_a_client_that_offers_no_subprotocol_is_connected_without_one(server_url: str) -> None:
    async with connect_socket(server_url, proxy=None) as socket:
        assert socket.subprotocol is None
