"""The cases of the Autobahn test suite (crossbario/autobahn-testsuite), by their numbers, on our end of a connection.

The suite itself needs Python 2. Its peer echoes; here a case says which messages it hands over and which frames it is
answered with. Cases 12 and 13 are about compression, which this server does not offer.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Close, Frame, Opcode

from fairest_server.edge.frame_stream import FrameStream
from tests.support.raw_websocket import UPGRADE, frame

TEXT, BINARY, CONT, CLOSE, PING, PONG = Opcode.TEXT, Opcode.BINARY, Opcode.CONT, Opcode.CLOSE, Opcode.PING, Opcode.PONG
LARGEST = 70_000
"""The limit of these tests; that of a server is 4,096 bytes, which cases 9 are about."""


class Outcome(NamedTuple):
    """The messages that came out of a connection, the pongs and the close code that were sent."""

    messages: tuple[str | bytes, ...] = ()
    pongs: tuple[bytes, ...] = ()
    close: int | None = None


def open_stream(max_message_bytes: int = LARGEST) -> FrameStream:
    stream = FrameStream(max_message_bytes)
    request = stream.receive_request(UPGRADE)
    assert request is not None and stream.accept(request)
    stream.take_output()
    return stream


def outcome_of(pieces: Iterable[bytes], max_message_bytes: int = LARGEST) -> Outcome:
    """Feed a new connection with these pieces."""
    stream = open_stream(max_message_bytes)
    messages: list[str | bytes] = []
    pongs: list[bytes] = []
    close: int | None = None
    for piece in pieces:
        messages += stream.receive(piece).messages
        for sent in stream.take_output():
            if sent[:1] == b"\x8a":
                pongs.append(sent[2:])
            elif sent[:1] == b"\x88":
                close = Close.parse(sent[2:]).code
    stream.end()
    return Outcome(tuple(messages), tuple(pongs), close)


def octets(data: bytes) -> list[bytes]:
    return [bytes([octet]) for octet in data]


def reserved(opcode: Opcode, bits: int, data: bytes = b"") -> bytes:
    """A frame with reserved bits set."""
    plain = frame(opcode, data)
    return bytes([plain[0] | bits << 4]) + plain[1:]


def unknown(opcode: int, data: bytes = b"") -> bytes:
    """A frame with a reserved opcode."""
    plain = frame(BINARY, data)
    return bytes([0x80 | opcode]) + plain[1:]


def closing(code: int) -> bytes:
    return frame(CLOSE, code.to_bytes(2, "big"))


def text(data: str) -> bytes:
    return frame(TEXT, data.encode())


def parts(*data: bytes, opcode: Opcode = TEXT) -> list[bytes]:
    """The frames of a message in fragments."""
    opcodes = [opcode, *[CONT] * (len(data) - 1)]
    return [
        frame(each, part, fin=place == len(data) - 1)
        for place, (each, part) in enumerate(zip(opcodes, data, strict=True))
    ]


def nothing_to_continue(*, fin: bool) -> list[bytes]:
    """A continuation frame, and a text behind it."""
    return [frame(CONT, b"non-continuation payload", fin=fin), text("Hello, world!")]


PING_BETWEEN = [frame(TEXT, b"a", fin=False), frame(PING, b"ping"), frame(CONT, b"b")]
SIZES = {1: 0, 2: 125, 3: 126, 4: 127, 5: 128, 6: 65_535, 7: 65_536}
FAILED = Outcome(close=1002)
VALID_CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
INVALID_CODES = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
KOSME = "κ\u1f79σμε"  # noqa: RUF001
SPLIT = KOSME.encode()
MORE = "Hello-µ@ßöäüàá-UTF-8!!"
INVALID = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80\x65\x64\x69\x74\x65\x64"
TOO_LARGE = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80\x65\x64\x69\x74\x65\x64"
CASES: dict[str, tuple[list[bytes], Outcome]] = {
    **{f"1.1.{n}": ([frame(TEXT, b"*" * size)], Outcome(("*" * size,))) for n, size in SIZES.items()},
    "1.1.8": (octets(frame(TEXT, b"*" * 997)), Outcome(("*" * 997,))),
    **{f"1.2.{n}": ([frame(BINARY, b"\xfe" * size)], Outcome((b"\xfe" * size,))) for n, size in SIZES.items()},
    "1.2.8": (octets(frame(BINARY, b"\xfe" * 997)), Outcome((b"\xfe" * 997,))),
    "2.1": ([frame(PING)], Outcome(pongs=(b"",))),
    "2.2": ([frame(PING, b"Hello, world!")], Outcome(pongs=(b"Hello, world!",))),
    "2.3": ([frame(PING, b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff")], Outcome(pongs=(b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff",))),
    "2.4": ([frame(PING, b"\xfe" * 125)], Outcome(pongs=(b"\xfe" * 125,))),
    "2.5": ([b"\x89\xfe\x00\x7e" + bytes(4) + b"\xfe" * 126], FAILED),
    "2.6": (octets(frame(PING, b"\xfe" * 125)), Outcome(pongs=(b"\xfe" * 125,))),
    "2.7": ([frame(PONG)], Outcome()),
    "2.8": ([frame(PONG, b"unsolicited pong payload")], Outcome()),
    "2.9": ([frame(PONG, b"unsolicited"), frame(PING, b"ping")], Outcome(pongs=(b"ping",))),
    "2.10": (
        [frame(PING, b"payload-%d" % n) for n in range(10)],
        Outcome(pongs=tuple(b"payload-%d" % n for n in range(10))),
    ),
    "2.11": (
        octets(b"".join(frame(PING, b"payload-%d" % n) for n in range(10))),
        Outcome(pongs=tuple(b"payload-%d" % n for n in range(10))),
    ),
    "3.1": ([reserved(TEXT, 1, b"small")], FAILED),
    "3.2": ([text("first") + reserved(TEXT, 2, b"small") + frame(PING)], Outcome(("first",), close=1002)),
    "3.3": ([text("first"), reserved(TEXT, 3, b"small"), frame(PING)], Outcome(("first",), close=1002)),
    "3.4": (octets(text("first") + reserved(TEXT, 4, b"small") + frame(PING)), Outcome(("first",), close=1002)),
    "3.5": ([reserved(BINARY, 5, b"\x00\xff")], FAILED),
    "3.6": ([reserved(PING, 6, b"ping")], FAILED),
    "3.7": ([reserved(CLOSE, 7)], FAILED),
    "4.1.1": ([unknown(3)], FAILED),
    "4.1.2": ([unknown(4, b"reserved opcode payload")], FAILED),
    "4.1.3": ([text("first") + unknown(5) + frame(PING)], Outcome(("first",), close=1002)),
    "4.1.4": ([text("first"), unknown(6, b"payload"), frame(PING)], Outcome(("first",), close=1002)),
    "4.1.5": (octets(text("first") + unknown(7, b"payload") + frame(PING)), Outcome(("first",), close=1002)),
    "4.2.1": ([unknown(11)], FAILED),
    "4.2.2": ([unknown(12, b"reserved opcode payload")], FAILED),
    "4.2.3": ([text("first") + unknown(13) + frame(PING)], Outcome(("first",), close=1002)),
    "4.2.4": ([text("first"), unknown(14, b"payload"), frame(PING)], Outcome(("first",), close=1002)),
    "4.2.5": (octets(text("first") + unknown(15, b"payload") + frame(PING)), Outcome(("first",), close=1002)),
    "5.1": ([b"\x09" + frame(PING, b"frag")[1:], frame(CONT, b"ment")], FAILED),
    "5.2": ([b"\x0a" + frame(PONG, b"frag")[1:], frame(CONT, b"ment")], FAILED),
    "5.3": (parts(b"fragment1", b"fragment2"), Outcome(("fragment1fragment2",))),
    "5.4": ([b"".join(parts(b"fragment1", b"fragment2"))], Outcome(("fragment1fragment2",))),
    "5.5": (octets(b"".join(parts(b"fragment1", b"fragment2"))), Outcome(("fragment1fragment2",))),
    "5.6": (PING_BETWEEN, Outcome(("ab",), (b"ping",))),
    "5.7": ([b"".join(PING_BETWEEN)], Outcome(("ab",), (b"ping",))),
    "5.8": (octets(b"".join(PING_BETWEEN)), Outcome(("ab",), (b"ping",))),
    "5.9": ([b"".join(nothing_to_continue(fin=True))], FAILED),
    "5.10": (nothing_to_continue(fin=True), FAILED),
    "5.11": (octets(b"".join(nothing_to_continue(fin=True))), FAILED),
    "5.12": ([b"".join(nothing_to_continue(fin=False))], FAILED),
    "5.13": (nothing_to_continue(fin=False), FAILED),
    "5.14": (octets(b"".join(nothing_to_continue(fin=False))), FAILED),
    "5.15": (
        [b"".join(parts(b"fragment1", b"fragment2")), frame(CONT, b"fragment3", fin=False), text("fragment4")],
        Outcome(("fragment1fragment2",), close=1002),
    ),
    "5.16": ([frame(CONT, b"fragment1", fin=False), frame(TEXT, b"fragment2", fin=False), frame(CONT, b"3")], FAILED),
    "5.17": ([frame(CONT, b"fragment1"), frame(TEXT, b"fragment2", fin=False), frame(CONT, b"fragment3")], FAILED),
    "5.18": ([frame(TEXT, b"fragment1", fin=False), frame(TEXT, b"fragment2")], FAILED),
    "5.19": (
        [*parts(b"1", b"2", b"")[:2], frame(PING, b"a"), *parts(b"", b"3", b"4", b"5")[1:], frame(PING, b"b")],
        Outcome(("12345",), (b"a", b"b")),
    ),
    "5.20": (
        octets(b"".join([*parts(b"1", b"2", b"3")[:2], frame(PING, b"a"), *parts(b"", b"3")[1:], frame(PING, b"b")])),
        Outcome(("123",), (b"a", b"b")),
    ),
    "6.1.1": ([text("")], Outcome(("",))),
    "6.1.2": (parts(b"", b"", b""), Outcome(("",))),
    "6.1.3": (parts(b"", b"middle frame payload", b""), Outcome(("middle frame payload",))),
    "6.2.1": ([text(MORE)], Outcome((MORE,))),
    "6.2.2": (parts(MORE[:12].encode(), MORE[12:].encode()), Outcome((MORE,))),
    "6.2.3": (parts(*octets(MORE.encode())), Outcome((MORE,))),
    "6.2.4": (parts(*octets(SPLIT)), Outcome((KOSME,))),
    "6.3.1": ([frame(TEXT, INVALID)], Outcome(close=1007)),
    "6.3.2": (parts(*octets(INVALID)), Outcome(close=1007)),
    "6.4.1": (parts(TOO_LARGE[:11], TOO_LARGE[11:15], TOO_LARGE[15:])[:2], Outcome(close=1007)),
    "6.4.2": (parts(TOO_LARGE[:12], TOO_LARGE[12:13], TOO_LARGE[13:])[:2], Outcome(close=1007)),
    **{f"6.5.{n}": ([text(KOSME[:n])], Outcome((KOSME[:n],))) for n in range(6)},
    **{
        f"6.6.{n}": ([frame(TEXT, SPLIT[:size])], Outcome(close=1007))
        for n, size in enumerate(size for size in range(12) if size not in {0, 2, 5, 7, 9, 11})
    },
    **{
        f"6.{number}": ([frame(TEXT, data)], Outcome((data.decode(),)))
        for number, data in {
            "7.1": b"\x00", "7.2": b"\xc2\x80", "7.3": b"\xe0\xa0\x80", "7.4": b"\xf0\x90\x80\x80",
            "9.1": b"\x7f", "9.2": b"\xdf\xbf", "9.3": b"\xef\xbf\xbf", "9.4": b"\xf4\x8f\xbf\xbf",
            "11.1": b"\xed\x9f\xbf", "11.2": b"\xee\x80\x80", "11.3": b"\xef\xbf\xbd", "11.4": b"\xf4\x8f\xbf\xbf",
            "22.1": b"\xef\xbf\xbe", "22.2": b"\xef\xbf\xbf", "22.3": b"\xf0\x9f\xbf\xbe", "23.1": b"\xef\xbf\xbd",
        }.items()
    },
    **{
        f"6.{number}": ([frame(TEXT, data)], Outcome(close=1007))
        for number, data in {
            "8.1": b"\xf8\x88\x80\x80\x80", "8.2": b"\xfc\x84\x80\x80\x80\x80",
            "10.1": b"\xf7\xbf\xbf\xbf", "10.2": b"\xfb\xbf\xbf\xbf\xbf", "10.3": b"\xfd\xbf\xbf\xbf\xbf\xbf",
            "11.5": b"\xf4\x90\x80\x80",
            "12.1": b"\x80", "12.2": b"\xbf", "12.3": b"\x80\xbf", "12.4": b"\x80\xbf\x80",
            "12.8": bytes(range(0x80, 0xC0)),
            "13.1": b" ".join(octets(bytes(range(0xC0, 0xE0)))), "13.2": b" ".join(octets(bytes(range(0xE0, 0xF0)))),
            "13.3": b" ".join(octets(bytes(range(0xF0, 0xF8)))), "13.4": b" ".join(octets(bytes(range(0xF8, 0xFC)))),
            "13.5": b"\xfc \xfd ",
            "14.1": b"\xc0", "14.2": b"\xe0\x80", "14.3": b"\xf0\x80\x80", "14.6": b"\xdf", "14.7": b"\xef\xbf",
            "14.8": b"\xf7\xbf\xbf", "15.1": b"\xc0\xe0\x80\xf0\x80\x80",
            "16.1": b"\xfe", "16.2": b"\xff", "16.3": b"\xfe\xfe\xff\xff",
            "17.1": b"\xc0\xaf", "17.2": b"\xe0\x80\xaf", "17.3": b"\xf0\x80\x80\xaf",
            "18.1": b"\xc1\xbf", "18.2": b"\xe0\x9f\xbf", "18.3": b"\xf0\x8f\xbf\xbf",
            "19.1": b"\xc0\x80", "19.2": b"\xe0\x80\x80", "19.3": b"\xf0\x80\x80\x80",
            "20.1": b"\xed\xa0\x80", "20.2": b"\xed\xad\xbf", "20.3": b"\xed\xae\x80", "20.7": b"\xed\xbf\xbf",
            "21.1": b"\xed\xa0\x80\xed\xb0\x80", "21.8": b"\xed\xaf\xbf\xed\xbf\xbf",
        }.items()
    },
    "7.1.1": ([text("Hello World!"), frame(CLOSE)], Outcome(("Hello World!",), close=1005)),
    "7.1.2": ([frame(CLOSE), frame(CLOSE)], Outcome(close=1005)),
    "7.1.3": ([frame(CLOSE), frame(PING)], Outcome(close=1005)),
    "7.1.4": ([frame(CLOSE), text("Hello World!")], Outcome(close=1005)),
    "7.1.5": ([frame(TEXT, b"fragment1", fin=False), frame(CLOSE), frame(CONT, b"fragment2")], FAILED),
    "7.1.6": ([frame(BINARY, b"*" * LARGEST), text("Hello"), frame(CLOSE), frame(PING)],
              Outcome((b"*" * LARGEST, "Hello"), close=1005)),
    "7.3.1": ([frame(CLOSE)], Outcome(close=1005)),
    "7.3.2": ([frame(CLOSE, b"a")], FAILED),
    "7.3.3": ([frame(CLOSE, b"\x03\xe8")], Outcome(close=1000)),
    "7.3.4": ([frame(CLOSE, b"\x03\xe8Hello World!")], Outcome(close=1000)),
    "7.3.5": ([frame(CLOSE, b"\x03\xe8" + b"*" * 123)], Outcome(close=1000)),
    "7.3.6": ([b"\x88\xfe\x00\x7e" + bytes(4) + b"\x03\xe8" + b"*" * 124], FAILED),
    "7.5.1": ([frame(CLOSE, b"\x03\xe8" + INVALID)], Outcome(close=1007)),
    **{f"7.7.{n}": ([closing(code)], Outcome(close=code)) for n, code in enumerate(VALID_CODES, 1)},
    **{f"7.9.{n}": ([closing(code)], FAILED) for n, code in enumerate(INVALID_CODES, 1)},
    "7.13.1": ([closing(5_000)], FAILED),
    "7.13.2": ([closing(65_535)], FAILED),
    "10.1.1": (parts(*[b"*" * 1_300] * 50, b"*" * 536), Outcome(("*" * 65_536,))),
}  # fmt: skip


@pytest.mark.parametrize("number", CASES)
def test_autobahn_case(number: str) -> None:
    pieces, expected = CASES[number]
    assert outcome_of(pieces) == expected


LIMITS = {
    "9.1": ([frame(TEXT, b"*" * 4_096)], Outcome(("*" * 4_096,))),
    "9.1 above": ([frame(TEXT, b"*" * 4_097)], Outcome(close=1009)),
    "9.2": ([frame(BINARY, b"*" * 4_096)], Outcome((b"*" * 4_096,))),
    "9.2 above": ([frame(BINARY, b"*" * 4_097)], Outcome(close=1009)),
    "9.3": (parts(*[b"*" * 64] * 64), Outcome(("*" * 4_096,))),
    "9.3 above": (parts(*[b"*" * 64] * 65), Outcome(close=1009)),
    "9.4": (parts(*[b"*" * 64] * 64, opcode=BINARY), Outcome((b"*" * 4_096,))),
    "9.5": (octets(frame(TEXT, b"*" * 4_096)), Outcome(("*" * 4_096,))),
    "9.6": (octets(frame(BINARY, b"*" * 4_096)), Outcome((b"*" * 4_096,))),
    "9.7": ([text("*" * 16)] * 1_000, Outcome(("*" * 16,) * 1_000)),
    "9.8": ([frame(BINARY, b"*" * 16)] * 1_000, Outcome((b"*" * 16,) * 1_000)),
}


@pytest.mark.parametrize("number", LIMITS)
def test_autobahn_case_at_the_limit_of_a_server(number: str) -> None:
    pieces, expected = LIMITS[number]
    assert outcome_of(pieces, 4_096) == expected


def test_a_length_beyond_the_limit_is_refused_before_its_bytes_arrive() -> None:
    assert outcome_of([b"\x81\xff" + (2**63 - 1).to_bytes(8, "big")]) == Outcome(close=1009)


def test_a_frame_without_a_mask_is_refused() -> None:
    assert outcome_of([Frame(TEXT, b"Hello").serialize(mask=False)]) == FAILED


MESSAGES = st.one_of(
    st.text(max_size=200).map(lambda said: (TEXT, said.encode())),
    st.binary(max_size=200).map(lambda data: (BINARY, data)),
    st.binary(max_size=125).map(lambda data: (PING, data)),
    st.binary(max_size=125).map(lambda data: (PONG, data)),
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[bytes, list[str | bytes]]:
    """Frames of a client, messages in any fragments with control frames between them; and the messages."""
    sent, messages = b"", list[str | bytes]()
    for opcode, data in draw(st.lists(MESSAGES, max_size=8)):
        if opcode in {PING, PONG}:
            sent += frame(opcode, data)
            continue
        messages.append(data.decode() if opcode is TEXT else data)
        cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=3)))
        fragments = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        for part in parts(*fragments, opcode=opcode):
            sent += part + (frame(PING, b"between") if draw(st.booleans()) and part[0] < 0x80 else b"")
    return sent, messages


@given(conversations(), st.data())
def test_the_same_bytes_are_the_same_messages_however_they_are_cut(
    conversation: tuple[bytes, list[str | bytes]], data: st.DataObject
) -> None:
    sent, messages = conversation
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=20)))
    pieces = [sent[start:end] for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    assert list(outcome_of(pieces).messages) == messages


@given(conversations())
def test_a_connection_is_at_a_message_boundary_behind_whole_messages_only(
    conversation: tuple[bytes, list[str | bytes]],
) -> None:
    sent, messages = conversation
    stream = open_stream()
    assert stream.is_at_message_boundary
    for octet in octets(sent):
        stream.receive(octet)
    assert stream.is_at_message_boundary
    if messages:
        stream.receive(text("Hello")[:-1])
        assert not stream.is_at_message_boundary


def test_a_frame_with_a_longer_length_than_it_needs_never_counts_as_whole() -> None:
    """The message is taken; the fast path is closed to a client that writes against the RFC."""
    stream = open_stream()
    assert stream.receive(b"\x81\xfe\x00\x02" + bytes(4) + b"{}").messages == ["{}"]
    assert not stream.is_at_message_boundary


def test_the_newest_of_several_pings_is_answered_and_a_close_frame_behind_them_too() -> None:
    stream = open_stream()
    stream.receive(frame(PING, b"1") + frame(PING, b"2") + frame(CLOSE))
    assert list(stream.take_output()) == [b"\x8a\x012", b"\x88\x00", b""]
