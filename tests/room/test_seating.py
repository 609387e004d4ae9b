"""A person who takes the seat of a rival, or does not."""

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import replace
from fairest_server.room.commands import CreateRoom, TakeSeat
from fairest_server.room.decide import decide
from fairest_server.room.events import Attached, RoundOpened, SeatFreed, SeatTaken
from fairest_server.room.evolve import evolve
from fairest_server.room.seating import replace_rival
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
    *changes, opened = events
    assert changes == [
        SeatFreed(seat=1, reason="left"),
        SeatTaken(seat=1, player="player-9", name="bea"),
        Attached(seat=1, link="link-9"),
    ]
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


def test_a_rival_in_the_first_seat_gives_it_up_as_well() -> None:
    state = room_with("bob", RivalWish(20))
    turned = replace(state, seats=(replace(state.seat(0), name="bot-club-1"), state.seat(1)))
    assert replace_rival(turned, PERSON)[0] == SeatFreed(seat=0, reason="left")


@pytest.mark.parametrize(("phase", "number"), [(Phase.RACING, 1), (Phase.READY, 2)])
def test_a_rival_whose_match_has_begun_keeps_the_seat(phase: Phase, number: int) -> None:
    state = room_with("bot-club-1", RivalWish(20))
    assert state.round is not None
    begun = replace(state, phase=phase, round=replace(state.round, number=number))
    assert replace_rival(begun, PERSON) == ()


def test_a_room_of_persons_stays_as_it_is() -> None:
    assert replace_rival(room_with("bob", RivalWish(20)), PERSON) == ()
