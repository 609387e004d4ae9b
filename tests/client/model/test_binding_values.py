"""The binding of a client as a value: its times over sockets, when a round binds it, and how a round is settled."""

from typing import Any

import pytest

from fairest_cli.model.binding import Binding, RoundEnd
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.evidence import LONG_AGO_MS, Evidence
from fairest_cli.model.round_end import Explained, Proved, WayOut
from fairest_protocol.calculation.race import Ending, undealt_outcome
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import replace

ROUND, OTHER = bytes([1]) * 16, bytes([2]) * 16
OPTIONS = RoomOptions().resolved()
EVIDENCE = Evidence(ROUND, 1, OPTIONS)
BOUND = Binding(EVIDENCE, alive_ms=1_000, down_since_ms=None)
CUT_OFF = Binding(EVIDENCE, alive_ms=1_000, down_since_ms=1_000)
READY = (SeatScene(name="ann"), SeatScene(name="bob", entropy_hash=bytes(32)))


def scene(**changes: Any) -> Scene:
    return Scene(**{"options": OPTIONS, "phase": Phase.READY, "seats": READY, "round": ROUND, **changes})


def bound(**known: Any) -> Binding:
    return replace(BOUND, evidence=replace(EVIDENCE, **known))


def test_a_new_client_is_bound_to_nothing_and_was_never_there() -> None:
    assert Binding() == Binding(None, LONG_AGO_MS, LONG_AGO_MS, None)


def test_a_cut_began_when_the_connection_was_last_known_to_be_up() -> None:
    assert BOUND.after_alive(1_500).after_drop().down_since_ms == 1_500


def test_a_socket_that_ends_in_a_cut_does_not_begin_another_one() -> None:
    assert CUT_OFF.after_alive(1_500).after_drop().down_since_ms == 1_000


def test_bytes_that_were_sent_before_a_drop_may_be_lost() -> None:
    sent = BOUND.after_said(Reveal(round=ROUND, entropy=bytes(32)), 1_200)
    assert (sent.evidence, sent.after_drop().evidence) == (replace(EVIDENCE, reveal_sent_ms=1_200), EVIDENCE)


@pytest.mark.parametrize(("binding", "absent_ms"), [(BOUND, 0), (CUT_OFF, 500)])
def test_a_client_is_absent_for_as_long_as_the_room_is_not_shown(binding: Binding, absent_ms: int) -> None:
    assert binding.absent_ms(1_500) == absent_ms


def test_a_room_that_is_shown_ends_a_cut() -> None:
    assert CUT_OFF.after_return(1_500) == replace(BOUND, alive_ms=1_500)


def test_a_pong_ends_a_cut_which_is_remembered() -> None:
    assert CUT_OFF.after_pong(1_500) == replace(bound(longest_absence_ms=500), alive_ms=1_500)


def test_an_answer_behind_our_bytes_is_noted_with_its_time() -> None:
    assert BOUND.after_arrival(ROUND, 1_500) == bound(arrived_ms=1_500)


def test_a_client_that_is_bound_to_nothing_keeps_no_evidence() -> None:
    free = replace(BOUND, evidence=None)
    after = free.after_arrival(ROUND, 1_500).after_said(Leave(), 1_500).after_way_out(WayOut.LEFT, "", 1_500)
    assert after.settle(1_500) is free


def test_a_client_that_has_left_was_never_in_the_next_room() -> None:
    assert BOUND.outside() == replace(BOUND, down_since_ms=LONG_AGO_MS)


@pytest.mark.parametrize(
    ("binding", "round_id", "is_bound"),
    [(BOUND, ROUND, True), (BOUND, OTHER, False), (BOUND, None, False), (Binding(), None, False)],
)
def test_a_client_is_bound_to_the_round_of_its_evidence(
    binding: Binding, round_id: bytes | None, is_bound: bool
) -> None:
    assert binding.is_bound_to(round_id) is is_bound


EXPLAINED, PROVED = RoundEnd(ROUND, Explained("Because.")), RoundEnd(OTHER, Proved())


@pytest.mark.parametrize(
    ("end", "before", "explanation"),
    [
        (None, None, ""),
        (EXPLAINED, None, "Because."),
        (EXPLAINED, PROVED, "Because."),
        (EXPLAINED, EXPLAINED, ""),
        (PROVED, None, ""),
        (PROVED, EXPLAINED, ""),
        (None, EXPLAINED, ""),
    ],
)
def test_the_explanation_is_that_of_an_end_that_is_new(
    end: RoundEnd | None, before: RoundEnd | None, explanation: str
) -> None:
    assert Binding(last_end=end).explanation_since(Binding(last_end=before)) == explanation


def ready(seat: int) -> entries.PlayerReady:
    return entries.PlayerReady(seat=1 if seat else 0, entropy_hash=bytes(32))


@pytest.mark.parametrize(("seat", "is_bound"), [(1, True), (0, False), (None, False)])
def test_a_client_is_bound_once_its_own_hash_is_shown(seat: int | None, is_bound: bool) -> None:
    free = replace(BOUND, evidence=None)
    assert free.after_entry(ready(1), scene(), seat, 1_500) == (BOUND if is_bound else free)


def test_another_entry_binds_nobody() -> None:
    free = replace(BOUND, evidence=None)
    assert free.after_entry(entries.Attached(seat=1), scene(), 1, 1_500) is free


@pytest.mark.parametrize(("binding", "at_ms"), [(BOUND, 1_500), (CUT_OFF, 1_000)])
def test_an_entry_is_as_old_as_the_cut_before_it(binding: Binding, at_ms: int) -> None:
    started = binding.after_entry(entries.Started(until_ms=0), scene(), 1, 1_500)
    assert started == replace(binding, evidence=replace(EVIDENCE, started_ms=at_ms))


@pytest.mark.parametrize(("binding", "at_ms"), [(BOUND, 1_500), (CUT_OFF, 1_000)])
def test_a_round_binds_from_the_time_of_the_entry(binding: Binding, at_ms: int) -> None:
    free = replace(binding, evidence=None)
    dealing = free.after_entry(ready(1), scene(phase=Phase.DEALING), 1, 1_500)
    assert dealing.evidence == replace(EVIDENCE, dealing_ms=at_ms)


def test_the_opening_of_the_next_round_settles_the_one_before() -> None:
    opened = entries.RoundOpened(
        round=OTHER, match=OTHER, round_number=1, commitment=bytes(32), signature=bytes(64), until_ms=0
    )
    settled = bound(is_voided=True).after_entry(opened, scene(), 1, 1_500)
    assert (settled.evidence, settled.last_end) == (None, RoundEnd(ROUND, VOIDED))


VOIDED = Explained("The round was called off before both players were ready, so there was no deck.")
NEVER_OPENED = "You were bound to the round, and it never opened its commitment."


def test_a_round_under_way_is_not_settled_and_remembers_the_cut() -> None:
    assert CUT_OFF.settle(1_500) == replace(CUT_OFF, evidence=replace(EVIDENCE, longest_absence_ms=500))


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({"closing": "repairs"}, f"The operator broke off the round and closed the room (repairs). {NEVER_OPENED}"),
        ({"closing": ""}, f"The operator broke off the round and closed the room. {NEVER_OPENED}"),
        ({"is_freed": True}, f"The server freed a seat. {NEVER_OPENED}"),
        ({"is_freed": True, "closing": ""}, f"The operator broke off the round and closed the room. {NEVER_OPENED}"),
        (
            {"is_voided": True, "dealing_ms": 1},
            "The server calls off a round to which both players were committed.",
        ),
    ],
)
def test_an_end_that_nothing_explains_is_an_alarm(known: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Cheated) as alarm:
        bound(**known).settle(1_500)
    assert str(alarm.value) == sentence


@pytest.mark.parametrize("known", [{"closing": "repairs"}, {"is_freed": True}])
def test_a_player_who_gave_up_gets_no_alarm_when_the_room_ends(known: dict[str, Any]) -> None:
    assert bound(has_given_up=True, **known).settle(1_500).last_end is not None


def test_a_result_is_judged_by_the_time_of_our_clock() -> None:
    outcome = undealt_outcome(OPTIONS.chosen_rules(), [Ending.NOT_REVEALED, Ending.ROUND_OVER])
    with pytest.raises(Cheated, match=r"You had only|0\.5 seconds into the 10 seconds for that"):
        bound(dealing_ms=1_000, outcome=outcome).settle(1_500)


def test_a_way_out_is_judged_by_the_length_of_the_cut() -> None:
    ended = CUT_OFF.after_way_out(WayOut.REFUSED, "", 61_000)
    assert ended.last_end is not None and "You were cut off for 60 seconds" in ended.last_end.explanation


def test_a_way_out_names_the_words_of_the_server() -> None:
    with pytest.raises(Cheated) as alarm:
        BOUND.after_way_out(WayOut.LEFT, "so there", 1_500)
    deed = "The server put you out of the room without being asked (so there)."
    assert str(alarm.value) == f"{deed} {NEVER_OPENED}"


def test_a_snapshot_of_the_round_goes_on_with_its_evidence() -> None:
    assert CUT_OFF.after_snapshot(scene(phase=Phase.RACING), 1, 1_500).evidence == replace(
        EVIDENCE, is_complete=False, started_ms=1_000
    )


@pytest.mark.parametrize(
    ("changes", "seat", "is_bound"),
    [
        ({}, 1, True),
        ({}, 0, False),
        ({}, None, False),
        ({"round": None}, 1, False),
        ({"secret": bytes(32)}, 1, False),
    ],
)
def test_a_client_that_was_started_again_is_bound_by_its_hash_in_a_snapshot(
    changes: dict[str, Any], seat: int | None, is_bound: bool
) -> None:
    resumed = replace(EVIDENCE, is_complete=False, is_own_past_known=False)
    assert Binding().after_snapshot(scene(**changes), seat, 1_500).evidence == (resumed if is_bound else None)


def test_a_round_to_which_we_alone_were_bound_may_be_gone() -> None:
    gone = CUT_OFF.after_snapshot(scene(round=OTHER, seats=(SeatScene(), SeatScene())), 1, 1_500)
    assert gone == replace(CUT_OFF, evidence=None)


def test_a_round_that_was_missed_ends_before_the_next_one_binds() -> None:
    missed = replace(CUT_OFF, evidence=replace(EVIDENCE, dealing_ms=1)).after_snapshot(scene(round=OTHER), 1, 62_000)
    assert missed.last_end is not None and missed.evidence is not None
    assert (missed.last_end.round_id, missed.evidence.round_id) == (ROUND, OTHER)
