"""A person who takes the seat of a rival, or does not."""

import pytest

from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.rivals import RivalWish
from fairest_server.room.commands import CreateRoom, TakeSeat
from fairest_server.room.decide import decide
from fairest_server.room.events import RoundOpened, SeatFreed, SeatTaken
from fairest_server.room.evolve import evolve
from fairest_server.room.saved_state import restore_state, save_state
from fairest_server.room.state import RoomState
from tests.support.races import Table

PERSON = TakeSeat("player-9", "bea", "link-9")


def room_with(second: str, wish: RivalWish | None) -> RoomState:
    """Return a room in which ann and this second player are to get ready."""
    draw = Table(1).draw_round
    state: RoomState | None = None
    for command in (
        CreateRoom(RoomOptions(listed=True), "player-0", "ann", "link-0", rival=wish),
        TakeSeat("player-1", second, "link-1"),
    ):
        events = decide(state, command, draw)
        assert isinstance(events, tuple)
        for event in events:
            state = evolve(state, event, 1000)
    assert state is not None
    return state


def test_a_person_gets_the_seat_of_a_rival_before_the_match_has_begun() -> None:
    events = decide(room_with("bot-club-1", RivalWish(20)), PERSON, Table(1).draw_round)
    assert isinstance(events, tuple)
    freed, taken, _, opened = events
    assert freed == SeatFreed(seat=1, reason="left")
    assert isinstance(taken, SeatTaken) and (taken.seat, taken.name) == (1, "bea")
    assert isinstance(opened, RoundOpened)


@pytest.mark.parametrize(
    ("second", "wish", "newcomer"),
    [
        ("bob", RivalWish(20), "bea"),
        ("bot-club-1", None, "bea"),
        ("bot-club-1", RivalWish(20), "bot-expert-2"),
    ],
    ids=("a person sits there", "no rival was wished for", "the newcomer is a program"),
)
def test_a_seat_is_kept(second: str, wish: RivalWish | None, newcomer: str) -> None:
    answer = decide(room_with(second, wish), TakeSeat("player-9", newcomer, "link-9"), Table(1).draw_round)
    assert isinstance(answer, Refused) and answer.code == "room_full"


def test_a_wish_outlives_a_checkpoint() -> None:
    state = room_with("bob", RivalWish(20, "club"))
    assert restore_state(save_state(state)).rival == RivalWish(20, "club")


@pytest.mark.parametrize("saved", [None, [], "state"])
def test_what_is_no_object_is_no_saved_state(saved: object) -> None:
    with pytest.raises(ValueError, match=r"^a saved state is an object$"):
        restore_state(saved)
