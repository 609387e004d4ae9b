"""The evidence of a round as a value: what each entry, message and answer changes in it, and nothing else."""

from typing import Any

import pytest

from fairest_cli.model.evidence import Evidence, begin_evidence
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Leave, Play, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import replace

ROUND, OTHER = bytes([1]) * 16, bytes([2]) * 16
OPTIONS = RoomOptions()
NEW = Evidence(ROUND, 0, OPTIONS)
SCENE = Scene(options=OPTIONS, phase=Phase.RACING)


def test_a_round_that_has_just_begun_has_shown_nothing() -> None:
    nobody = (False, False)
    assert (NEW.is_complete, NEW.is_own_past_known, NEW.is_dealt, NEW.revealed) == (True, True, False, nobody)
    assert (NEW.resigned, NEW.has_left, NEW.has_given_up, NEW.has_said_stop) == (nobody, nobody, False, False)
    assert (NEW.is_voided, NEW.is_freed, NEW.longest_absence_ms) == (False, False, 0)


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        (entries.Revealed(seat=1, entropy=bytes(32)), {"revealed": (False, True)}),
        (entries.Started(until_ms=0), {"started_ms": 7}),
        (entries.Stopped(seat=1, until_ms=9), {"stopped_ms": (None, 7)}),
        (entries.Detached(seat=1, until_ms=9), {"away_ms": (None, 7)}),
        (entries.Moved(seat=1, number=1, move=MOVES["resign"], card=None), {"resigned": (False, True)}),
        (entries.Moved(seat=1, number=1, move=MOVES["stop"], card=None), {}),
        (entries.SeatFreed(seat=1, reason="left"), {"has_left": (False, True), "is_freed": True}),
        (entries.SeatFreed(seat=1, reason="away"), {"is_freed": True}),
        (entries.RoundVoided(round=ROUND, secret=bytes(32)), {"is_voided": True}),
        (entries.RoomClosed(reason="repairs"), {"closing": "repairs"}),
        (entries.RoomClosed(reason=None), {"closing": ""}),
    ],
    ids=lambda value: value.type if hasattr(value, "type") else "",
)
def test_an_entry_changes_its_part_of_the_evidence(entry: Entry, changes: dict[str, Any]) -> None:
    assert NEW.after(entry, SCENE, 7) == replace(NEW, **changes)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (Reveal(round=ROUND, entropy=bytes(32)), {"reveal_sent_ms": 7}),
        (Reveal(round=OTHER, entropy=bytes(32)), {}),
        (Leave(), {"has_given_up": True}),
        (Play(number=1, move=MOVES["resign"]), {"has_given_up": True}),
        (Play(number=1, move=MOVES["stop"]), {"has_said_stop": True}),
        (Play(number=1, move=MOVES["sa"]), {}),
    ],
)
def test_a_message_of_ours_changes_its_part_of_the_evidence(message: Message, changes: dict[str, Any]) -> None:
    assert NEW.after_said(message, 7) == replace(NEW, **changes)


def test_the_bytes_that_were_sent_first_on_a_connection_count() -> None:
    sent = NEW.after_said(Reveal(round=ROUND, entropy=bytes(32)), 7).after_said(
        Reveal(round=ROUND, entropy=bytes(32)), 9
    )
    assert (sent.reveal_sent_ms, sent.after_drop().reveal_sent_ms) == (7, None)


def test_the_first_answer_behind_our_bytes_counts() -> None:
    arrived = NEW.after_arrival(ROUND, 7)
    assert (arrived.arrived_ms, arrived.after_arrival(ROUND, 9).arrived_ms) == (7, 7)
    assert NEW.after_arrival(OTHER, 7).arrived_ms is None


@pytest.mark.parametrize("known", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("shown", [(False, False), (True, False), (False, True)])
def test_bytes_that_were_shown_stay_shown(known: tuple[bool, bool], shown: tuple[bool, bool]) -> None:
    first, second = (SeatScene(entropy=bytes(32) if each else None) for each in shown)
    scene = Scene(options=OPTIONS, phase=Phase.DEALING, seats=(first, second))
    wanted = tuple(before or now for before, now in zip(known, shown, strict=True))
    assert replace(NEW, revealed=known).after_snapshot(scene, 7).revealed == wanted


@pytest.mark.parametrize(("until_ms", "away_ms"), [(None, (None, None)), (9, (None, 0))])
def test_another_player_who_is_away_at_the_beginning_has_been_for_long(
    until_ms: int | None, away_ms: tuple[int | None, int | None]
) -> None:
    seats = (SeatScene(name="ann"), SeatScene(name="bob", until_ms=until_ms))
    scene = Scene(options=OPTIONS, phase=Phase.READY, seats=seats, round=ROUND)
    assert begin_evidence(scene, 0, 7) == replace(NEW, away_ms=away_ms)
