"""The evidence of a round as a value: what each entry, message and answer changes in it, and nothing else."""

from itertools import product
from typing import Any

import pytest

from fairest_cli.model.evidence import Evidence, begin_evidence, resume_evidence
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, undealt_outcome
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


CHANGES: list[tuple[Entry, dict[str, Any]]] = [
    (entries.Revealed(seat=0, entropy=bytes(32)), {"revealed": (True, False)}),
    (entries.Revealed(seat=1, entropy=bytes(32)), {"revealed": (False, True)}),
    (entries.PlayerReady(seat=1, entropy_hash=bytes(32)), {}),
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
]
"""An entry, and what it changes in the evidence."""


def test_an_entry_changes_its_part_of_the_evidence() -> None:
    wrong = [(entry, changes) for entry, changes in CHANGES if NEW.after(entry, SCENE, 7) != replace(NEW, **changes)]
    assert wrong == []


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


@pytest.mark.parametrize(
    ("phase", "known", "dealing_ms"),
    [(Phase.READY, None, None), (Phase.DEALING, None, 7), (Phase.DEALING, 5, 5), (Phase.READY, 5, 5)],
)
def test_the_dealing_begins_with_the_entry_that_shows_both_players_ready(
    phase: Phase, known: int | None, dealing_ms: int | None
) -> None:
    ready = entries.PlayerReady(seat=1, entropy_hash=bytes(32))
    evidence = replace(NEW, dealing_ms=known).after(ready, Scene(options=OPTIONS, phase=phase), 7)
    assert evidence.dealing_ms == dealing_ms


UNDEALT = undealt_outcome(OPTIONS.chosen_rules(), [Ending.ROUND_OVER, Ending.RESIGNED])
READY = (SeatScene(entropy_hash=bytes(32)), SeatScene(entropy_hash=bytes(32)))
SEALED: dict[str, Any] = {"envelopes": ((bytes(32),),)}
OVER: dict[str, Any] = {"outcome": UNDEALT, "secret": bytes(32)}


def after_snapshot(known: Evidence = NEW, **scene: Any) -> Evidence:
    return known.after_snapshot(Scene(options=OPTIONS, **scene), 7)


PROGRESS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"phase": Phase.READY}, {}),
    ({"phase": Phase.READY, "seats": (READY[0], SeatScene())}, {}),
    ({"phase": Phase.READY, "seats": (SeatScene(), READY[1])}, {}),
    ({"phase": Phase.DEALING, "seats": READY}, {"dealing_ms": 7}),
    ({"phase": Phase.COUNTDOWN, "seats": READY, **SEALED}, {"dealing_ms": 7, "is_dealt": True}),
    ({"phase": Phase.RACING, "seats": READY, **SEALED}, {"dealing_ms": 7, "is_dealt": True, "started_ms": 7}),
    ({"phase": Phase.FINISHED, **OVER}, {"dealing_ms": 7, "outcome": UNDEALT}),
    (
        {"phase": Phase.FINISHED, **OVER, **SEALED},
        {"dealing_ms": 7, "is_dealt": True, "started_ms": 7, "outcome": UNDEALT},
    ),
    ({"phase": Phase.WAITING, **OVER}, {"dealing_ms": 7, "outcome": UNDEALT}),
    ({"phase": Phase.WAITING, "secret": bytes(32)}, {"is_voided": True}),
    ({"phase": Phase.CLOSED, "secret": bytes(32)}, {"is_voided": True}),
    ({"phase": Phase.WAITING}, {"is_freed": True}),
    ({"phase": Phase.CLOSED}, {"is_freed": True}),
]
"""The scene of a snapshot, and what it changes in the evidence."""


def test_a_snapshot_shows_how_far_a_round_is() -> None:
    wrong = [
        (scene, changes)
        for scene, changes in PROGRESS
        if after_snapshot(**scene) != replace(NEW, is_complete=False, **changes)
    ]
    assert wrong == []


def test_a_snapshot_takes_no_earlier_time_back() -> None:
    known = replace(NEW, dealing_ms=3, started_ms=4, is_dealt=True)
    assert after_snapshot(known, phase=Phase.READY) == replace(known, is_complete=False)


def test_a_snapshot_does_not_make_an_earlier_time_later() -> None:
    known = replace(NEW, dealing_ms=3, started_ms=4, is_dealt=True)
    assert after_snapshot(known, phase=Phase.RACING, seats=READY, **SEALED) == replace(known, is_complete=False)


TIMES: list[tuple[int | None, int | None]] = [(None, None), (3, None), (None, 4), (3, 4)]
PAIRS = [(False, False), (True, False), (False, True), (True, True)]


def test_a_snapshot_shows_which_seats_have_stopped_and_keeps_when() -> None:
    seats = {now: (SeatScene(has_stopped=now[0]), SeatScene(has_stopped=now[1])) for now in PAIRS}
    found = {
        (known, now): after_snapshot(replace(NEW, stopped_ms=known), phase=Phase.RACING, seats=seats[now]).stopped_ms
        for known, now in product(TIMES, PAIRS)
    }
    assert [(case, times) for case, times in found.items() if times != times_of(*case)] == []


def test_a_snapshot_shows_which_players_are_away_and_keeps_since_when() -> None:
    here, away = SeatScene(until_ms=None), SeatScene(until_ms=99)
    seats = {now: (away if now[0] else here, away if now[1] else here) for now in PAIRS}
    found = {
        (known, now): after_snapshot(replace(NEW, away_ms=known), phase=Phase.RACING, seats=seats[now]).away_ms
        for known, now in product(TIMES, PAIRS)
    }
    assert [(case, times) for case, times in found.items() if times != times_of(*case)] == []


def times_of(known: tuple[int | None, int | None], now: tuple[bool, bool]) -> tuple[int | None, ...]:
    """Return the known times, or that of the snapshot, of the seats of which something holds now."""
    return tuple((time or 7) if holds else None for time, holds in zip(known, now, strict=True))


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.CLOSED])
def test_a_room_without_its_player_does_not_show_which_seats_had_stopped(phase: Phase) -> None:
    stopped = (SeatScene(has_stopped=True), SeatScene(has_stopped=True))
    assert after_snapshot(replace(NEW, stopped_ms=(3, None)), phase=phase, seats=stopped).stopped_ms == (3, None)


@pytest.mark.parametrize(("known", "longest"), [(0, 5), (4, 5), (9, 9)])
def test_the_longest_absence_counts(known: int, longest: int) -> None:
    assert replace(NEW, longest_absence_ms=known).after_absence(5).longest_absence_ms == longest


def test_a_client_that_was_started_again_does_not_know_what_it_had_sent() -> None:
    scene = Scene(options=OPTIONS, phase=Phase.DEALING, seats=READY, round=ROUND)
    resumed = Evidence(ROUND, 1, OPTIONS, is_complete=False, is_own_past_known=False, dealing_ms=7)
    assert resume_evidence(scene, 1, 7) == resumed


@pytest.mark.parametrize(("phase", "dealing_ms"), [(Phase.READY, None), (Phase.DEALING, 7)])
def test_the_second_player_who_is_ready_begins_the_dealing(phase: Phase, dealing_ms: int | None) -> None:
    scene = Scene(options=OPTIONS, phase=phase, seats=(SeatScene(until_ms=9), SeatScene()), round=ROUND)
    assert begin_evidence(scene, 1, 7) == replace(NEW, seat=1, dealing_ms=dealing_ms, away_ms=(0, None))


@pytest.mark.parametrize(("until_ms", "away_ms"), [(None, (None, None)), (9, (None, 0))])
def test_another_player_who_is_away_at_the_beginning_has_been_for_long(
    until_ms: int | None, away_ms: tuple[int | None, int | None]
) -> None:
    seats = (SeatScene(name="ann"), SeatScene(name="bob", until_ms=until_ms))
    scene = Scene(options=OPTIONS, phase=Phase.READY, seats=seats, round=ROUND)
    assert begin_evidence(scene, 0, 7) == replace(NEW, away_ms=away_ms)
