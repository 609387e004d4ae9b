"""The wait for an opponent is told in sentences, once each."""

import pytest

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.text.waiting_players import describe_queue, describe_waiting
from fairest_protocol.messages.from_server import LeftQueue, Queued
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene

ALONE = Queued(rules="classic", since_ms=0, waiting=1)


def test_the_first_answer_says_how_to_leave() -> None:
    assert list(describe_queue(KnownRoom(), ALONE)) == [
        "You wait for an opponent in classic. Type leave to wait no longer.",
        "Nobody else waits yet.",
    ]


def test_a_later_one_says_only_how_many_wait() -> None:
    three = Queued(rules="classic", since_ms=0, waiting=3)
    assert list(describe_queue(KnownRoom(queued=ALONE), three)) == ["3 players wait, you among them."]


def test_the_end_of_the_wait_is_told() -> None:
    assert list(describe_queue(KnownRoom(queued=ALONE), LeftQueue())) == ["You wait no longer."]


@pytest.mark.parametrize(("count", "sentence"), [(0, "Nobody else waits yet."), (2, "2 players wait, you among them.")])
def test_the_number_of_players(count: int, sentence: str) -> None:
    assert describe_waiting(count) == sentence


def test_the_way_from_a_room_back_to_the_queue_is_told() -> None:
    two = Queued(rules="classic", since_ms=0, waiting=2)
    in_room = KnownRoom(scene=Scene(options=RoomOptions()))
    assert list(describe_queue(in_room, two)) == [
        "Nobody came into the room. You wait in the queue again.",
        "2 players wait, you among them.",
    ]
