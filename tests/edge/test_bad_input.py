"""Every wrong frame gets its own code and sentence through a real socket, and changes nothing."""

import json
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from fairest_protocol.calculation.cards import rank
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import (
    Create,
    GetRecord,
    Hello,
    Join,
    Leave,
    Play,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import Accepted, Error, Refused
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.refusals import Breach, CloseCode, Refusal
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players

PLAY = {"type": "play", "number": 1, "move": "sa"}


async def close_of(client: WireClient) -> tuple[int | None, str | None]:
    with suppress(ConnectionClosed):
        while True:
            await client.receive()
    return client.socket.close_code, client.socket.close_reason


@pytest.mark.parametrize(
    ("frame", "breach", "word"),
    [
        ("{", Breach.BAD_JSON, "not JSON"),
        ("", Breach.BAD_JSON, "not JSON"),
        ('{"type":"play","number":1,"number":2,"move":"sa"}', Breach.BAD_JSON, "number"),
        ('{"type":"dance"}', Breach.UNKNOWN_TYPE, "dance"),
        ("{}", Breach.UNKNOWN_TYPE, "has no type"),
        ("[1]", Breach.BAD_VALUE, "object"),
        (json.dumps({**PLAY, "colour": 1}), Breach.UNKNOWN_KEY, "play.colour"),
        (json.dumps({**PLAY, "number": "1"}), Breach.BAD_VALUE, "play.number"),
        (json.dumps({**PLAY, "number": 0}), Breach.BAD_VALUE, "play.number"),
        (json.dumps({**PLAY, "number": True}), Breach.BAD_VALUE, "play.number"),
        (json.dumps({**PLAY, "move": "s9"}), Breach.BAD_VALUE, "play.move"),
        (json.dumps({**PLAY, "move": ["s1"]}), Breach.BAD_VALUE, "play.move"),
        (
            json.dumps({"type": "ready", "round": "00" * 16, "entropy_hash": "zz"}),
            Breach.BAD_VALUE,
            "ready.entropy_hash",
        ),
        ('{"type":"join","room":"../x"}', Breach.BAD_VALUE, "join.room"),
        ('{"type":"create","options":{"best_of":"3"}}', Breach.BAD_VALUE, "create.options.best_of"),
        (b"{}", Breach.BINARY_FRAME, "binary"),
    ],
)
async def test_a_breach_of_the_protocol_is_named_and_ends_the_connection(
    server_url: str, frame: str | bytes, breach: Breach, word: str
) -> None:
    async with open_client(server_url) as client:
        await client.send(frame)
        error = await client.receive_a(Error)
        assert error.code is breach
        assert word in error.sentence
        assert await close_of(client) == (CloseCode[breach.name], breach)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"best_of": 2}, "best_of is 2; it must be 1, 3, 5, 7 or 9"),
        ({"limit_seconds": 9}, "limit_seconds is 9; it must be at least 10"),
        ({"countdown_seconds": 11}, "countdown_seconds is 11; it must be at most 10"),
        ({"spectators": "all"}, "spectators is \"all\"; it must be 'horizon', 'open' or 'closed'"),
        ({"rules": "any game"}, 'rules is "any game"; it must be text of the form ^[A-Za-z0-9-]{1,40}$'),
    ],
)
async def test_an_option_that_no_room_can_have_is_refused(
    server_url: str, options: dict[str, object], problem: str
) -> None:
    async with open_client(server_url) as client:
        await client.send(json.dumps({"type": "create", "options": options}))
        refused = await client.receive_a(Refused)
        assert (refused.code, refused.sentence) == (
            Refusal.BAD_RULES,
            f"A room cannot have these options: {problem}.",
        )


async def test_after_refused_options_the_connection_is_in_no_room(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.send('{"type":"create","options":{"best_of":2}}')
        await client.receive_a(Refused)
        assert (await client.expect_refusal(Leave())).code is Refusal.NOT_IN_ROOM


async def test_an_oversize_frame_ends_the_connection(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.send(" " * 5000)
        code, reason = await close_of(client)
        assert code == CloseCode.TOO_BIG
        assert reason is not None
        assert "4096" in reason


async def test_hello_comes_first(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Create())
        assert (await client.receive_a(Error)).code is Breach.HELLO_FIRST


async def test_hello_comes_once(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.send(Hello())
        assert (await client.receive_a(Error)).code is Breach.HELLO_TWICE


async def test_hello_comes_in_time(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        assert (await client.receive_a(Error)).code is Breach.HELLO_LATE
        assert (await close_of(client))[0] == CloseCode.HELLO_LATE


async def test_a_made_up_token_is_refused(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Hello(token="A" * 43))
        assert (await client.receive_a(Error)).code is Breach.BAD_TOKEN


async def test_a_taken_name_is_refused_and_another_one_may_be_said(server_url: str) -> None:
    async with open_client(server_url, name="ann"), open_raw_client(server_url) as client:
        refused = await client.expect_refusal(Hello(name="ANN"))
        assert (refused.to, refused.code) == ("hello", Refusal.NAME_TAKEN)
        await client.send(Hello(name="bob"))
        assert (await client.receive()).type == "welcome"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Join(room="no-such-room"), Refusal.NO_SUCH_ROOM),
        (Watch(room="no-such-room"), Refusal.NO_SUCH_ROOM),
        (Resume(room="no-such-room", position=3), Refusal.NO_SUCH_ROOM),
        (Play(number=1, move=MOVES["sa"]), Refusal.NOT_IN_ROOM),
        (Leave(), Refusal.NOT_IN_ROOM),
        (GetRecord(), Refusal.NOT_IN_ROOM),
        (Create(options=RoomOptions(rules="colorado")), Refusal.BAD_RULES),
        (Create(options=RoomOptions(rules="easy", piles=4)), Refusal.BAD_RULES),
    ],
)
async def test_a_request_that_needs_a_room_or_other_rules_is_refused(
    server_url: str, message: Any, code: Refusal
) -> None:
    async with open_client(server_url) as client:
        refused = await client.expect_refusal(message)
        assert (refused.to, refused.code) == (message.type, code)
        assert refused.sentence.endswith(".")


async def test_a_bad_combination_of_rules_is_refused_with_the_range_that_is_allowed(server_url: str) -> None:
    async with open_client(server_url) as client:
        refused = await client.expect_refusal(Create(options=RoomOptions(rules="senior", piles=9)))
        assert refused.sentence == "Senior is played with 4 to 8 piles, not 9."


async def test_a_full_room_takes_no_third_player(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url) as third:
        assert (await third.expect_refusal(Join(room=first.room))).code is Refusal.ROOM_FULL


async def test_a_player_without_a_seat_cannot_resume_one(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url) as third:
        assert (await third.expect_refusal(Resume(room=first.room, position=0))).code is Refusal.NOT_SEATED


async def test_a_spectator_may_not_move(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url) as spectator:
        await spectator.enter(Watch(room=first.room))
        assert (await spectator.expect_refusal(Play(number=1, move=MOVES["sa"]))).code is Refusal.NOT_SEATED


async def test_a_closed_race_has_no_spectators(server_url: str) -> None:
    options = QUICK.model_copy(update={"spectators": Spectators.CLOSED})
    async with racing_players(server_url, options=options) as (first, _), open_client(server_url) as spectator:
        assert (await spectator.expect_refusal(Watch(room=first.room))).code is Refusal.NO_SPECTATORS


async def test_one_connection_is_in_one_room(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        assert (await first.expect_refusal(Create())).code is Refusal.ALREADY_IN_ROOM


async def test_a_move_before_the_start_is_refused(server_url: str) -> None:
    async with open_client(server_url) as first:
        await first.enter(Create(options=QUICK))
        assert (await first.expect_refusal(Play(number=1, move=MOVES["sa"]))).code is Refusal.RACE_NOT_STARTED


async def test_a_move_after_the_end_is_refused(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("resign")
        await second.receive_until(lambda scene: scene.outcome is not None)
        assert (await second.expect_refusal(Play(number=1, move=MOVES["sa"]))).code is Refusal.RACE_OVER


@pytest.mark.parametrize(
    ("number", "move", "code"),
    [
        (3, "se", Refusal.NO_SUCH_PILE),
        (3, "s8", Refusal.NO_SUCH_FOUNDATION),
        (3, "d1", Refusal.PILE_EMPTY),
        (3, "h1", Refusal.NO_SUCH_PILE),
        (3, "ab", Refusal.PILE_TO_PILE),
        (3, "redeal", Refusal.NO_REDEAL_LEFT),
        (1, "sc", Refusal.NUMBER_OLD),
        (2, "sc", Refusal.NUMBER_REPEATED),
        (4, "sc", Refusal.NUMBER_FUTURE),
        (3, "a1", Refusal.RANK_NOT_NEEDED),
    ],
)
async def test_a_wrong_move_is_refused_and_changes_nothing(
    server_url: str, number: int, move: str, code: Refusal
) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        await first.play("sa")
        assert first.scene is not None
        board = first.scene.seats[0].board
        assert board is not None
        if code is Refusal.RANK_NOT_NEEDED:
            needed = board.next_ranks()
            wrong = next(place for place, wanted in enumerate(needed, 1) if wanted != rank(board.piles[0][-1]))
            move = f"a{wrong}"
        refused = await first.expect_refusal(Play(number=number, move=MOVES[move]))
        assert (refused.code, refused.number) == (code, number)
        after = await first.play("sb")
        assert after.seats[0].moves == 3
        assert after.seats[0].board is not None
        assert after.seats[0].board.piles[1] == (board.turned,)


async def test_the_last_move_sent_again_is_accepted_once(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        await first.send(Play(number=1, move=MOVES["sa"]))
        assert await first.receive_a(Accepted) == Accepted(number=1)
        after = await first.play("sb")
        assert after.seats[0].board is not None
        assert len(after.seats[0].board.piles[0]) == 1


async def test_entropy_that_was_not_promised_is_refused(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        assert (await first.expect_refusal(Reveal(round=bytes(16), entropy=bytes(32)))).code is Refusal.WRONG_PHASE


async def test_a_rematch_during_the_race_is_refused(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        assert (await first.expect_refusal(Rematch())).code is Refusal.WRONG_PHASE


async def test_there_is_no_record_during_the_race(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        assert (await first.expect_refusal(GetRecord())).code is Refusal.NO_RECORD


async def test_a_hostile_key_is_cut_short_and_made_printable(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.send(json.dumps({"type": "leave", "\x1b[2J" + "x" * 500: 1}))
        error = await client.receive_a(Error)
        assert "\x1b" not in error.sentence
        assert len(error.sentence) < 300


async def test_messages_are_refused_without_harm_to_the_sender_s_race(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        for _ in range(20):
            await first.send(Play(number=9, move=MOVES["sa"]))
        refusals = [await first.receive_a(Refused) for _ in range(20)]
        assert {refused.code for refused in refusals} == {Refusal.NUMBER_FUTURE}
        await second.play("sa")
        assert encode(refusals[0]).decode() in first.frames
