"""Sentences about single entries of a room, and about rooms that hide nothing."""

from collections.abc import Callable

import pytest

from fairest_cli.model.binding import RoundEnd
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.round_end import Explained
from fairest_cli.session.connection import Update
from fairest_cli.text.lobby import describe_lobby
from fairest_cli.text.narration import OPEN_ROUND, describe_changes, describe_closing, describe_end
from fairest_protocol.messages.entries import Attached, Detached, RoundFinished
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import LobbyPage, Snapshot, View, Watching
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.value import replace
from fairest_server.room.view import view
from tests.support import staged
from tests.support.races import make_listed_room
from tests.support.staged import StagedRoom

OPEN = RoomOptions(spectators=Spectators.OPEN)
BEWARE = "Beware: this room is open."


def test_a_room_that_the_operator_closed_is_described_with_the_reason() -> None:
    assert describe_closing("bad\x1b[2J names") == "The room was closed by the operator: bad?[2J names"


def test_a_room_that_closed_by_itself_is_described_without_a_reason() -> None:
    assert describe_closing(None) == "The room is closed."


def printed_on_entry(room: StagedRoom, viewer: int | None) -> str:
    model = room.model(viewer)
    assert model.room is not None and model.scene is not None
    snapshot = Snapshot(
        room=model.room, seat=None, position=model.position, tag="00000000", now_ms=0, scene=model.scene
    )
    return "\n".join(describe_changes(KnownRoom(), Update(model, snapshot)))


@pytest.mark.parametrize("make_room", [staged.waiting, staged.getting_ready])
@pytest.mark.parametrize("options", [OPEN, RoomOptions()], ids=["open", "horizon"])
def test_both_players_are_warned_of_an_open_room_and_of_no_other(
    make_room: Callable[[RoomOptions], StagedRoom], options: RoomOptions
) -> None:
    room = make_room(options)
    viewers = [0] if room.table.state.seats[1] is None else [0, 1]
    warned = {BEWARE in printed_on_entry(room, viewer) for viewer in viewers}
    assert warned == {options is OPEN}


def test_the_lobby_warns_of_an_open_room() -> None:
    rooms = (make_listed_room(0, spectators=Spectators.OPEN), make_listed_room(1))
    lines = list(describe_lobby(LobbyPage(page=0, pages=1, total=2, rooms=rooms), ""))
    assert ["open: hides nothing" in line for line in lines[::2]] == [True, False]


@pytest.mark.parametrize(("watching", "told"), [(0, []), (3, ["Spectators: 3"])])
def test_a_new_number_of_spectators_is_told(watching: int, told: list[str]) -> None:
    model = staged.racing().model()
    assert list(describe_changes(model, Update(model, Watching(watching=watching)))) == told


def test_the_lobby_has_the_cards_placed_and_the_spectators() -> None:
    room = make_listed_room(0, phase=Phase.RACING, watching=3, placed=(21, 17))
    line = next(iter(describe_lobby(LobbyPage(page=0, pages=1, total=1, rooms=(room,)), "")))
    assert line.endswith(", 21 : 17 cards, 3 watching")


@pytest.mark.parametrize(("options", "told"), [(OPEN, OPEN_ROUND), (RoomOptions(), "")], ids=["open", "horizon"])
def test_the_result_of_an_open_room_says_that_it_was_open(options: RoomOptions, told: str) -> None:
    assert describe_end(staged.finished(options).model()) == told


def test_the_result_says_what_rests_on_the_word_of_the_server() -> None:
    model = staged.finished().model()
    assert model.scene is not None and model.scene.round is not None
    end = RoundEnd(model.scene.round, Explained("Only bob knows."))
    assert describe_end(replace(model, binding=replace(model.binding, last_end=end))) == "Only bob knows."


def test_an_absence_that_is_over_in_the_same_message_is_not_told() -> None:
    model = staged.racing().model()
    gone = (Detached(seat=1, until_ms=1), Detached(seat=0, until_ms=1), Attached(seat=1), Attached(seat=0))
    view = View(position=model.position + 4, tag="00000000", entries=gone)
    assert not any("away" in line for line in describe_changes(model, Update(model, view)))


def test_an_absence_that_lasts_is_told() -> None:
    model = staged.racing().model()
    view = View(position=model.position + 1, tag="00000000", entries=(Detached(seat=1, until_ms=1),))
    assert list(describe_changes(model, Update(model, view))) == ["bob is away; the seat waits 60 seconds."]


def told_of_the_last_round(matches: int) -> list[str]:
    """Return the lines about the end of the last of so many matches in a room, each of which bob resigns."""
    room = staged.waiting()
    room.table.start()
    for number in range(matches):
        if number:
            room.table.rematch()
            room.table.deal()
            room.table.let_time_pass()
        before = room.model()
        room.table.play(1, "resign")
    after = room.model()
    assert after.scene is not None
    finished = next(entry for entry in reversed(view(room.table.steps, 0)) if isinstance(entry, RoundFinished))
    return list(
        describe_changes(before, Update(after, View(position=after.position, tag="0" * 8, entries=(finished,))))
    )


def test_the_end_of_a_match_has_the_matches_that_both_have_won_in_the_room() -> None:
    assert told_of_the_last_round(2)[-1] == "Matches in this room: ann (you) 2, bob 0."


def test_the_end_of_the_first_match_has_no_score_of_a_series() -> None:
    assert not any("Matches in this room" in line for line in told_of_the_last_round(1))
