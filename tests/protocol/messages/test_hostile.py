"""A hostile frame raises `ProtocolViolation` with a sentence, and never another exception."""

import random
from collections.abc import Callable

from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server, encode
from tests.support.hostile import make_frame

FRAMES = 20_000
"""`make bench ONLY=fuzz` tries a million."""


def violation(decode: Callable[[bytes], object], frame: bytes) -> str:
    """Return the sentence of the violation, empty if the frame is a message."""
    try:
        decode(frame)
    except ProtocolViolation as broken:
        return broken.sentence
    return ""


def test_a_hostile_frame_is_a_message_or_a_violation_in_one_printable_line() -> None:
    chance, decoded = random.Random(6), 0
    for _ in range(FRAMES):
        frame = make_frame(chance)
        for decode in (decode_from_client, decode_from_server):
            sentence = violation(decode, frame)
            decoded += not sentence
            assert sentence.isprintable()
            assert len(sentence) < 1_000
    assert decoded > FRAMES / 100


def test_a_hostile_frame_that_decodes_survives_encoding_and_decoding() -> None:
    """Decoding converts nothing: a frame that decodes has exactly the values of its message."""
    chance = random.Random(7)
    for _ in range(FRAMES // 4):
        try:
            message = decode_from_client(make_frame(chance))
        except ProtocolViolation:
            continue
        assert decode_from_client(encode(message)) == message


def test_no_sentence_is_the_text_of_a_parser() -> None:
    chance = random.Random(8)
    for _ in range(FRAMES // 4):
        frame = make_frame(chance)
        for decode in (decode_from_client, decode_from_server):
            assert not any(word in violation(decode, frame) for word in ("Input", "should", "permitted", "required"))


def test_a_client_is_always_told_what_is_allowed() -> None:
    chance = random.Random(9)
    for _ in range(FRAMES // 4):
        assert "no value of this field" not in violation(decode_from_client, make_frame(chance))
