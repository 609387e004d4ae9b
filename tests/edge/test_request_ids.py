"""The id of a client's message: its answer repeats it, and nothing else carries it."""

import json
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase, WithId
from fairest_protocol.messages.from_client import (
    AskFinish,
    Create,
    GetLobby,
    GetRecord,
    Hello,
    Join,
    Leave,
    Ping,
    Play,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import (
    Accepted,
    Error,
    Left,
    LobbyPage,
    MatchRecord,
    Pong,
    Refused,
    Snapshot,
    View,
    Welcome,
)
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Breach, Refusal
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players

ID = "a-1_Z"
NO_ROOM = "no-such-room"


@pytest.fixture
async def client(server_url: str) -> AsyncIterator[WireClient]:
    """A client that was welcomed and is in no room."""
    async with open_client(server_url) as client:
        yield client


async def answer_to(client: WireClient, message: WithId, kind: type[WithId]) -> WithId:
    await client.send(message)
    return await client.receive_a(kind)


def refused() -> float:
    return REGISTRY.get_sample_value("fairest_refusals_total", {"code": "number_future"}) or 0.0


@pytest.mark.parametrize("request_id", [ID, "7", "x" * 40, None])
async def test_a_pong_repeats_the_id_of_its_ping(client: WireClient, request_id: str | None) -> None:
    assert (await answer_to(client, Ping(id=request_id), Pong)).id == request_id


async def test_an_answer_to_a_message_without_an_id_has_no_such_field(client: WireClient) -> None:
    await answer_to(client, Ping(), Pong)
    assert "id" not in json.loads(client.frames[-1])


async def test_the_welcome_repeats_the_id_of_hello(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        assert (await answer_to(client, Hello(id=ID), Welcome)).id == ID


async def test_the_refusal_of_hello_repeats_its_id_and_the_welcome_that_of_the_next(server_url: str) -> None:
    async with open_client(server_url, name="ann"), open_raw_client(server_url) as client:
        first = await answer_to(client, Hello(id="1", name="ann"), Refused)
        assert (first.id, (await answer_to(client, Hello(id="2"), Welcome)).id) == ("1", "2")


async def test_the_snapshot_of_a_new_room_repeats_the_id_of_create(client: WireClient) -> None:
    assert (await answer_to(client, Create(id=ID), Snapshot)).id == ID


@pytest.mark.parametrize("kind", [Join, Watch])
async def test_the_snapshot_repeats_the_id_of_the_request_to_enter(
    client: WireClient, server_url: str, kind: type[Join | Watch]
) -> None:
    async with open_client(server_url) as host:
        room = (await host.enter(Create())).room
        assert (await answer_to(client, kind(id=ID, room=room), Snapshot)).id == ID


async def test_what_others_are_shown_of_a_join_carries_no_id(client: WireClient, server_url: str) -> None:
    async with open_client(server_url) as host:
        room = (await host.enter(Create(id="host"))).room
        await client.enter(Join(id=ID, room=room))
        assert (await host.receive_a(View)).id is None


async def test_the_view_that_answers_resume_repeats_its_id(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.socket.close()
        async with open_client(server_url, token=first.token) as again:
            again.scene, again.position = first.scene, first.position
            resume = Resume(id=ID, room=first.room, position=first.position, tag=first.tag)
            assert (await answer_to(again, resume, View)).id == ID


async def test_the_snapshot_that_answers_resume_repeats_its_id(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url, token=first.token) as again:
        assert (await answer_to(again, Resume(id=ID, room=first.room, position=0), Snapshot)).id == ID


async def test_views_behind_the_answer_to_resume_carry_no_id(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url, token=first.token) as again:
        await answer_to(again, Resume(id=ID, room=first.room, position=0), Snapshot)
        await again.play("sa")
        assert [each.id for each in again.received if isinstance(each, View)] == [None]


async def test_an_accepted_move_is_acknowledged_by_its_number(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.send(Play(id=ID, number=1, move=MOVES["sa"]))
        await first.receive_until(lambda scene: scene.seats[0].moves == 1)
        assert not any(ID in frame for frame in first.frames)


async def test_a_move_sent_again_is_accepted_with_the_id_of_the_repetition(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        assert (await answer_to(first, Play(id=ID, number=1, move=MOVES["sa"]), Accepted)).id == ID


async def test_each_refused_move_repeats_its_own_id(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        for request_id in ("1", None, "2"):
            await first.send(Play(id=request_id, number=9, move=MOVES["sa"]))
        assert [(await first.receive_a(Refused)).id for _ in range(3)] == ["1", None, "2"]


async def test_a_refused_move_is_counted_under_its_code(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        before = refused()
        await first.expect_refusal(Play(number=9, move=MOVES["sa"]))
        assert refused() - before == 1


@pytest.mark.parametrize(
    "message",
    [
        Ready(id=ID, round=bytes(16), entropy_hash=bytes(32)),
        Reveal(id=ID, round=bytes(16), entropy=bytes(32)),
        Play(id=ID, number=1, move=MOVES["sa"]),
        Rematch(id=ID),
        AskFinish(id=ID),
        Create(id=ID),
        Join(id=ID, room=NO_ROOM),
        GetRecord(id=ID),
    ],
    ids=lambda message: message.type,
)
async def test_the_refusal_of_a_room_repeats_the_id_of_the_message(client: WireClient, message: WithId) -> None:
    await client.enter(Create(id="other"))
    assert (await client.expect_refusal(message)).id == ID


@pytest.mark.parametrize(
    "message",
    [
        Play(id=ID, number=1, move=MOVES["sa"]),
        Leave(id=ID),
        Join(id=ID, room=NO_ROOM),
        Watch(id=ID, room=NO_ROOM),
        Resume(id=ID, room=NO_ROOM, position=1),
        GetRecord(id=ID),
        GetRecord(id=ID, match="0" * 32),
        Create(id=ID, options=RoomOptions(rules="classic", piles=9)),
    ],
    ids=repr,
)
async def test_a_refusal_outside_of_a_room_repeats_the_id_of_the_message(client: WireClient, message: WithId) -> None:
    assert (await client.expect_refusal(message)).id == ID


async def test_a_spectators_refusal_repeats_the_id_of_the_message(client: WireClient, server_url: str) -> None:
    async with open_client(server_url) as host:
        await client.enter(Watch(room=(await host.enter(Create())).room))
        assert (await client.expect_refusal(Rematch(id=ID))).id == ID


async def test_an_answer_to_an_earlier_request_to_enter_does_not_lend_its_id(client: WireClient) -> None:
    await client.expect_refusal(Join(id=ID, room=NO_ROOM))
    assert (await answer_to(client, Create(), Snapshot)).id is None


async def test_left_repeats_the_id_of_leave(client: WireClient) -> None:
    await client.enter(Create())
    assert (await answer_to(client, Leave(id=ID), Left)).id == ID


async def test_left_repeats_the_id_of_a_spectators_leave(client: WireClient, server_url: str) -> None:
    async with open_client(server_url) as host:
        await client.enter(Watch(room=(await host.enter(Create())).room))
        assert (await answer_to(client, Leave(id=ID), Left)).id == ID


async def test_of_two_leaves_the_first_is_answered_by_left_and_the_second_refused(client: WireClient) -> None:
    await client.enter(Create())
    await client.send(Leave(id="1"))
    await client.send(Leave(id="2"))
    answers = (await client.receive_a(Left)).id, (await client.receive_a(Refused)).id
    assert answers == ("1", "2")


async def test_left_after_a_refused_leave_repeats_the_id_of_the_one_that_led_to_it(client: WireClient) -> None:
    """Both leaves of the first room are answered, so the `left` of the second room is that of the third."""
    await client.enter(Create())
    await client.send(Leave(id="1"))
    await client.send(Leave(id="2"))
    await client.receive_a(Refused)
    await client.enter(Create())
    assert (await answer_to(client, Leave(id="3"), Left)).id == "3"


async def test_left_without_a_leave_carries_no_id(client: WireClient, server_url: str) -> None:
    """A spectator is sent away from the room in which its player takes a seat."""
    async with open_client(server_url) as host, open_client(server_url, token=client.token) as seated:
        room = (await host.enter(Create())).room
        await client.enter(Watch(id=ID, room=room))
        await seated.enter(Join(room=room))
        assert (await client.receive_a(Left)).id is None


async def test_a_page_of_the_lobby_repeats_the_id(client: WireClient) -> None:
    assert (await answer_to(client, GetLobby(id=ID), LobbyPage)).id == ID


async def test_a_page_of_the_lobby_that_is_shared_does_not_keep_the_id(client: WireClient) -> None:
    await answer_to(client, GetLobby(id=ID), LobbyPage)
    assert (await answer_to(client, GetLobby(), LobbyPage)).id is None


async def test_a_record_repeats_the_id(server_url: str) -> None:
    async with racing_players(server_url, options=QUICK.model_copy(update={"best_of": 1})) as (first, _):
        await first.play("resign")
        await first.receive_until(lambda scene: scene.phase is Phase.FINISHED)
        assert (await answer_to(first, GetRecord(id=ID), MatchRecord)).id == ID


@pytest.mark.parametrize("text", ['""', '"' + "x" * 41 + '"', '"a b"', '"a\\u0000"', '"\\u00e9"', '"a\\n"', "7", "[]"])
async def test_an_id_of_another_form_is_a_breach(client: WireClient, text: str) -> None:
    await client.send('{"type":"ping","id":' + text + "}")
    assert (await client.receive_a(Error)).code is Breach.BAD_VALUE


async def test_an_id_that_stands_twice_is_a_breach(client: WireClient) -> None:
    await client.send('{"type":"ping","id":"a","id":"b"}')
    assert (await client.receive_a(Error)).code is Breach.BAD_JSON


async def test_an_id_may_be_null(client: WireClient) -> None:
    await client.send('{"type":"ping","id":null}')
    assert (await client.receive_a(Pong)).id is None


def test_a_move_without_an_id_is_as_long_as_before() -> None:
    assert encode(Play(number=1, move=MOVES["sa"])) == b'{"type":"play","number":1,"move":"sa"}'


async def test_a_refusal_to_get_ready_repeats_the_id_in_a_round(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as second:
        await second.enter(Join(room=(await first.enter(Create(options=QUICK))).room))
        await first.receive_until(lambda scene: scene.phase is Phase.READY)
        answer = await first.expect_refusal(Ready(id=ID, round=bytes(16), entropy_hash=bytes(32)))
        assert (answer.id, answer.code) == (ID, Refusal.WRONG_ROUND)
