"""Hostile frames meet a sentence, never an exception of another kind."""

import random
from collections.abc import Callable

from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server, encode
from tests.support.hostile import make_frame

FRAMES = 20_000
"""`make bench ONLY=fuzz` tries a million."""


def complaint(decode: Callable[[bytes], object], frame: bytes) -> str:
    """What is wrong with the frame, nothing if it is understood."""
    try:
        decode(frame)
    except ProtocolViolation as broken:
        return broken.sentence
    return ""


def test_a_frame_is_a_message_or_broken_and_says_so_in_one_printable_line() -> None:
    chance, understood = random.Random(6), 0
    for _ in range(FRAMES):
        frame = make_frame(chance)
        for decode in (decode_from_client, decode_from_server):
            sentence = complaint(decode, frame)
            understood += not sentence
            assert sentence.isprintable()
            assert len(sentence) < 1_000
    assert understood > FRAMES / 100


def test_what_is_understood_is_said_again_in_the_same_words() -> None:
    """Nothing is bent into shape: who is understood at all is understood as it spoke."""
    chance = random.Random(7)
    for _ in range(FRAMES // 4):
        try:
            message = decode_from_client(make_frame(chance))
        except ProtocolViolation:
            continue
        assert decode_from_client(encode(message)) == message
