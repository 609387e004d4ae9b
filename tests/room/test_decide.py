"""Answers to commands that are not in the phases of tests/room/test_room.py."""

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.from_client import Rematch
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.commands import (
    Command,
    CreateRoom,
    MakeMove,
    MarkArchived,
    PlayerRequest,
    ProcessLapsed,
    TakeSeat,
)
from fairest_server.room.decide import decide, refuse_for_now
from fairest_server.room.events import Detached
from tests.support.races import Table


@pytest.mark.parametrize(
    ("command", "to", "number"),
    [
        (MakeMove("link-0", 7, MOVES["sa"]), "play", 7),
        (PlayerRequest("link-0", Rematch()), "rematch", None),
        (TakeSeat("player-0", "ann", "link-0", to="resume"), "resume", None),
        (CreateRoom(RoomOptions(), "player-0", "ann", "link-0"), "create", None),
    ],
)
def test_a_command_that_cannot_be_decided_now_may_be_tried_again(command: Command, to: str, number: int | None) -> None:
    refused = refuse_for_now(command)
    assert (refused.to, refused.code, refused.number) == (to, Refusal.TRY_AGAIN, number)


def test_a_room_with_rules_that_are_not_played_is_refused_in_a_sentence() -> None:
    table = Table(1)
    refused = decide(None, CreateRoom(RoomOptions(rules="senior", piles=9), "player-0", "ann", "a"), table.draw_round)
    assert isinstance(refused, Refused)
    assert refused.sentence == "Senior is played with 4 to 8 piles, not 9."


def test_a_seat_whose_process_has_lapsed_is_detached_as_lapsed() -> None:
    assert Table(1).submit(ProcessLapsed("link")) == (Detached(seat=0, link="link-0", lapsed=True),)


def test_a_room_without_a_match_to_archive_has_none_to_mark() -> None:
    assert Table(1).submit(MarkArchived(0)) == ()
