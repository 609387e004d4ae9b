"""Frames that an attacker might send: messages changed in one place, invalid JSON, arbitrary bytes."""

import json
import random
from collections.abc import Callable
from typing import Any

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.daily import Daily, PlayDaily
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import (
    AskFinish,
    Create,
    GetLobby,
    GetRecord,
    Hello,
    Join,
    Leave,
    LeaveQueue,
    Play,
    Queue,
    Ready,
    Rematch,
    Renew,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    PlayTournament,
    RaceTournament,
    ReadyTournament,
    RevealTournament,
    StartTournament,
    WatchTournament,
)

MESSAGES: list[Message] = [
    Hello(),
    Hello(token="A" * 43, name="ann"),
    Create(),
    Join(room="one-two-three"),
    Watch(room="one-two-three"),
    Resume(room="one-two-three", position=5, tag="0123abcd"),
    Ready(round=bytes(16), entropy_hash=bytes(32)),
    Reveal(round=bytes(16), entropy=bytes(32)),
    Play(number=1, move=MOVES["sa"]),
    Rematch(),
    AskFinish(),
    Leave(),
    GetRecord(),
    GetLobby(page=3),
    Queue(rules="senior", rival_after_seconds=20),
    LeaveQueue(),
    Daily(day="2026-11-24"),
    PlayDaily(rules="classic", day="2026-11-24", number=1, move=MOVES["sa"]),
    CreateTournament(key="k"),
    JoinTournament(tournament="one-two-three"),
    LeaveTournament(tournament="one-two-three"),
    StartTournament(tournament="one-two-three"),
    WatchTournament(tournament="one-two-three"),
    ReadyTournament(tournament="one-two-three", round=1, entropy_hash=bytes(32)),
    RevealTournament(tournament="one-two-three", round=1, entropy=bytes(32)),
    RaceTournament(tournament="one-two-three", round=1),
    PlayTournament(tournament="one-two-three", round=1, number=1, move=MOVES["sa"]),
    Renew(token="B" * 43),
]
TEXTS = [
    "",
    "\x1b]0;owned\x07\x1b[2J",
    "[@click=app.quit]x[/]",
    "<script>alert(1)</script>",
    "../../../etc/passwd",
    "' OR 1=1 --",
    "\u202e\u0000\ud7ff\ufeff",
    "a" * 3_000,
    "FLUSHALL\r\n*1\r\n$8\r\nFLUSHALL\r\n",
    "%s%n{0}${x}",
    "constructor",
    "__proto__",
    "one-two-three",
    "sa",
    "resign",
]
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, -0.0, 1.5, 1e308, float("nan"), float("inf"), [], {},
    [[]], {"type": "hello"}, ["sa"] * 50, *TEXTS,
]  # fmt: skip
RAW = [
    b"", b" ", b"\n", b"{", b"}", b"[]", b"null", b"0", b'"', b"{}", b'{"type"', b'{"type":}', b'{"type":"hello"',
    b'{"type":"hello","type":"play"}', b"\xff\xfe", b"\xed\xa0\x80", b'{"type":"\\ud800"}', b"[" * 2_000,
    b'{"a":' * 600, b'{"type":"play","number":1e999,"move":"sa"}', b'{"type":"hello"}{"type":"hello"}',
    b'{"type":"hello","client":"\\u0000"}', b"\xef\xbb\xbf{}", b"GET / HTTP/1.1\r\n\r\n",
]  # fmt: skip


def make_frame(chance: random.Random) -> bytes:
    """Return a random frame; some are valid."""
    makers: list[Callable[[random.Random], bytes]] = [_bend_value, _bend_bytes, _bend_shape, _invent, _raw]
    return chance.choice(makers)(chance)


def _fields(chance: random.Random) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(encode(chance.choice(MESSAGES)))
    return fields


def _bend_value(chance: random.Random) -> bytes:
    fields = _fields(chance)
    fields[chance.choice(list(fields))] = chance.choice(VALUES)
    return json.dumps(fields).encode()


def _bend_shape(chance: random.Random) -> bytes:
    fields = _fields(chance)
    match chance.randrange(4):
        case 0:
            del fields[chance.choice(list(fields))]
        case 1:
            fields[chance.choice(TEXTS)] = chance.choice(VALUES)
        case 2:
            key = chance.choice(list(fields))
            fields[key] = {key: fields[key]}
        case _:
            return json.dumps([fields] * chance.randrange(3)).encode()
    return json.dumps(fields).encode()


def _bend_bytes(chance: random.Random) -> bytes:
    data = bytearray(json.dumps(_fields(chance)).encode())
    for _ in range(chance.randrange(1, 5)):
        place = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[place] = chance.randrange(256)
            case 1:
                del data[place:]
            case _:
                data[place:place] = bytes([chance.randrange(256)])
        if not data:
            break
    return bytes(data)


def _invent(chance: random.Random) -> bytes:
    value: Any = chance.choice(VALUES)
    for _ in range(chance.randrange(4)):
        value = chance.choice([[value], {chance.choice(TEXTS): value}, {"type": value}, [value, chance.choice(VALUES)]])
    return json.dumps(value).encode()


def _raw(chance: random.Random) -> bytes:
    return chance.choice([*RAW, chance.randbytes(chance.randrange(60))])
