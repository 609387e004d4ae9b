"""Every wrong frame gets its own code and sentence through a real socket, and changes nothing."""

import json
from typing import Any

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import (
    Create,
    GetRecord,
    Hello,
    Leave,
    Play,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import Accepted, Error, Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Breach, Refusal
from tests.support.wire_client import open_client, open_raw_client, racing_players

PLAY = {"type": "play", "number": 1, "move": "sa"}


@pytest.mark.parametrize(
    ("frame", "breach", "word"),
    [
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
async def test_the_error_of_a_breach_names_what_is_wrong(
    server_url: str, frame: str | bytes, breach: Breach, word: str
) -> None:
    async with open_client(server_url) as client:
        await client.send(frame)
        error = await client.receive_a(Error)
        assert error.code is breach
        assert word in error.sentence


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


async def test_a_taken_name_is_refused_and_another_one_may_be_said(server_url: str) -> None:
    async with open_client(server_url, name="ann"), open_raw_client(server_url) as client:
        refused = await client.expect_refusal(Hello(name="ANN"))
        assert (refused.to, refused.code) == ("hello", Refusal.NAME_TAKEN)
        await client.send(Hello(name="bob"))
        assert (await client.receive()).type == "welcome"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Watch(room="no-such-room"), Refusal.NO_SUCH_ROOM),
        (Resume(room="no-such-room", position=3), Refusal.NO_SUCH_ROOM),
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


async def test_a_spectator_may_not_move(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url) as spectator:
        await spectator.enter(Watch(room=first.room))
        assert (await spectator.expect_refusal(Play(number=1, move=MOVES["sa"]))).code is Refusal.NOT_SEATED


@pytest.mark.parametrize(
    ("number", "move"),
    [(3, "se"), (3, "s8"), (3, "d1"), (3, "h1"), (3, "ab"), (3, "redeal"), (1, "sc"), (2, "sc"), (4, "sc")],
)
async def test_a_refused_move_changes_nothing(server_url: str, number: int, move: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        board = (await first.play("sa")).seats[0].board
        await first.expect_refusal(Play(number=number, move=MOVES[move]))
        after = (await first.play("sb")).seats[0]
        assert after.moves == 3
        assert board is not None
        assert after.board is not None
        assert after.board.piles[1] == (board.turned,)


async def test_the_last_move_sent_again_is_accepted_once(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("sa")
        await first.send(Play(number=1, move=MOVES["sa"]))
        assert await first.receive_a(Accepted) == Accepted(number=1)
        after = await first.play("sb")
        assert after.seats[0].board is not None
        assert len(after.seats[0].board.piles[0]) == 1


async def test_entropy_is_not_taken_during_the_race(server_url: str) -> None:
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
