"""A request to a server that lacks a capability: it is fitted to the server, or refused with what to do."""

import pytest

from fairest_cli.session.websocket import Rejected, fit_request
from fairest_protocol.calculation.distance import CAPABILITY as CREDIT
from fairest_protocol.messages.from_client import Create, Queue
from fairest_protocol.messages.options import RoomOptions

CREDITED = Create(options=RoomOptions(rules="easy", credit=1), key="k")


def test_an_older_server_opens_a_room_without_credit() -> None:
    assert fit_request(CREDITED, ()) == Create(options=RoomOptions(rules="easy"), key="k")


def test_a_server_that_credits_distance_is_asked_for_it() -> None:
    assert fit_request(CREDITED, (CREDIT,)) is CREDITED


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (Create(rival_after_seconds=5), "open the room without --rival"),
        (Create(options=RoomOptions(certified=1)), "open the room without --certified"),
        (Queue(), "create a room, or join one of the lobby"),
    ],
)
def test_what_means_nothing_without_the_capability_is_refused(request_: Create | Queue, sentence: str) -> None:
    with pytest.raises(Rejected, match=sentence):
        fit_request(request_, ())
