"""Every event as the bytes of a log: written, read back, and refused if nobody could have written them."""

import json

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import as_seat
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room import events
from fairest_server.room.events import Event
from fairest_server.store.log_entries import format_event, parse_entries, parse_event, parse_wakeup

SECRET = bytes(range(32))
EVENTS: dict[str, Event] = {
    "room_created": events.RoomCreated(options=RoomOptions(rules="redeal", listed=True)),
    "seat_taken": events.SeatTaken(seat=0, player="p", name="ann"),
    "seat_freed": events.SeatFreed(seat=1, reason="not_ready"),
    "attached": events.Attached(seat=0, link="a-1"),
    "detached": events.Detached(seat=0, link="a-1", lapsed=True),
    "paused": events.Paused(start_ms=3, end_ms=7),
    "round_opened": events.RoundOpened(round=SECRET[:16], secret=SECRET, signature=SECRET * 2),
    "player_ready": events.PlayerReady(seat=1, entropy_hash=SECRET),
    "revealed": events.Revealed(seat=1, entropy=SECRET),
    "started": events.Started(),
    "seats_stopped": events.SeatsStopped(seats=(0, 1), ending=Ending.OUT_OF_TIME),
    "rematch_asked": events.RematchAsked(seat=1),
    "finish_asked": events.FinishAsked(seat=0),
    "match_published": events.MatchPublished(),
    "room_closed": events.RoomClosed(reason="bad names"),
}


def parsed(text: bytes) -> Event | None:
    """Return the event that a text is; None if it is refused."""
    try:
        return parse_event(text)
    except ValueError:
        return None


def test_each_event_that_was_written_is_read_back() -> None:
    assert {kind: parsed(format_event(event)) for kind, event in EVENTS.items()} == EVENTS


def test_each_event_is_written_with_its_type() -> None:
    types = {kind: json.loads(format_event(event))["type"] for kind, event in EVENTS.items()}
    assert types == {kind: kind for kind in EVENTS}


def test_a_connection_that_is_lost_has_not_lapsed_unless_the_event_says_so() -> None:
    assert parse_event(b'{"type":"detached","seat":0,"link":"a-1"}') == events.Detached(seat=0, link="a-1")
    assert not events.Detached(seat=0, link="a-1").lapsed


def test_a_room_closed_by_an_earlier_version_has_no_reason() -> None:
    assert parse_event(b'{"type":"room_closed"}') == events.RoomClosed()


def test_each_move_is_written_as_the_digit_of_its_seat_and_its_text() -> None:
    moves = [(f"{seat}{text}".encode(), events.Played(as_seat(seat), MOVES[text])) for seat in (0, 1) for text in MOVES]
    written = {text: (format_event(played), parsed(text)) for text, played in moves}
    assert written == {text: (text, played) for text, played in moves}


def test_an_entry_has_its_time_its_tag_and_its_event() -> None:
    (entry,) = parse_entries([b"1795934311742 5 ab12cd34\n1b4"])
    assert (entry.index, entry.at_ms, entry.tag) == (5, 1795934311742, "ab12cd34")
    assert entry.event == events.Played(1, MOVES["b4"])


def test_the_index_of_an_entry_is_that_of_its_last_event() -> None:
    found = parse_entries([b"1795934311742 7 ab12cd34\n0sa\n1b4\n1sa"])
    assert [(entry.index, entry.tag) for entry in found] == [(5, "ab12cd34"), (6, "ab12cd34"), (7, "ab12cd34")]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"1795934311742 5 ab12cd34",
        b"1795934311742 5\n1b4",
        b"1795934311742  ab12cd34\n1b4",
        b"179593431174 5 ab12cd34\n1b4",
        b"noon, the 29th 5 ab12cd34\n1b4",
        b"17959343117_2 5 ab12cd34\n1b4",
        b"1795934311742 5 ab12cd3\xff\n1b4",
    ],
)
def test_an_entry_that_append_lua_does_not_write_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="an entry is a line with a time"):
        parse_entries([text])


def test_an_entry_of_more_events_than_its_index_is_refused() -> None:
    with pytest.raises(ValueError, match="no more events than its index"):
        parse_entries([b"1795934311742 2 ab12cd34\n1b4\n0sa\n0sb"])


def test_events_up_to_an_index_are_left_out_and_not_parsed() -> None:
    found = parse_entries([b"1795934311742 1 ab12cd34\ntorn", b"1795934311743 3 ef56ab78\ntorn\n1b4"], after=2)
    assert [(entry.index, entry.tag) for entry in found] == [(3, "ef56ab78")]


def test_the_entries_of_a_wakeup_are_numbered_from_its_first_index() -> None:
    woken = parse_wakeup(b"6 aa\n0000000001234 8 bb\n0sa\n1b4")
    assert woken.after_tag == "aa"
    assert [(entry.index, entry.tag, entry.at_ms) for entry in woken.entries] == [(7, "bb", 1234), (8, "bb", 1234)]
    assert [entry.event for entry in woken.entries] == [events.Played(0, MOVES["sa"]), events.Played(1, MOVES["b4"])]


@pytest.mark.parametrize("payload", [b"", b"6 aa", b"6 aa\n", b"6 aa\n0sa", b'["7","aa","bb","1234",["0sa"]]'])
def test_a_wakeup_that_is_no_entry_is_an_error(payload: bytes) -> None:
    with pytest.raises(ValueError, match="an entry is a line"):
        parse_wakeup(payload)
