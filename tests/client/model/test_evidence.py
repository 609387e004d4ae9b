"""A client concludes what it may from entries, and from a snapshot, which stands for entries that it has missed."""

import pytest

from fairest_cli.model.evidence import Evidence
from fairest_protocol.calculation.race import Ending, undealt_outcome
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene, SeatScene

STOPPED = (SeatScene(has_stopped=True), SeatScene(has_stopped=True))


def after_snapshot(phase: Phase, known: tuple[int | None, int | None] = (None, None)) -> Evidence:
    evidence = Evidence(bytes(16), 0, RoomOptions(), stopped_ms=known)
    return evidence.after_snapshot(Scene(options=RoomOptions(), phase=phase, seats=STOPPED), 7)


def test_the_scene_of_a_round_that_is_over_does_not_show_that_a_seat_had_stopped_before() -> None:
    assert after_snapshot(Phase.FINISHED).stopped_ms == (None, None)


def test_a_seat_that_was_shown_as_stopped_stays_so_when_the_round_is_over() -> None:
    assert after_snapshot(Phase.FINISHED, (None, 5)).stopped_ms == (None, 5)


@pytest.mark.parametrize("phase", [Phase.COUNTDOWN, Phase.RACING])
def test_the_scene_of_a_race_shows_which_seats_have_stopped(phase: Phase) -> None:
    assert after_snapshot(phase).stopped_ms == (7, 7)


RACING = Scene(options=RoomOptions(), phase=Phase.RACING)
AWAY = entries.Detached(seat=1, until_ms=0)
BACK = entries.Attached(seat=1)


def away_since(*shown: entries.Entry) -> int | None:
    """When the other player went away, after one entry a second."""
    evidence = Evidence(bytes(16), 0, RoomOptions())
    for second, entry in enumerate(shown, 1):
        evidence = evidence.after(entry, RACING, second * 1000)
    return evidence.away_ms[1]


def test_a_player_who_is_back_was_not_away_too_long() -> None:
    assert away_since(AWAY, BACK) is None


@pytest.mark.parametrize("later", [[BACK], [BACK, AWAY]])
def test_a_player_who_comes_back_after_its_race_was_ended_was_away_before(later: list[entries.Entry]) -> None:
    assert away_since(AWAY, entries.Stopped(seat=1, until_ms=0), *later) == 1000


@pytest.mark.parametrize("later", [[BACK], [BACK, AWAY]])
def test_a_player_who_comes_back_when_the_round_is_over_was_away_before(later: list[entries.Entry]) -> None:
    outcome = undealt_outcome(RoomOptions().chosen_rules(), [Ending.ROUND_OVER, Ending.AWAY])
    finished = entries.RoundFinished(outcome=outcome, secret=bytes(32), wins=(1, 0), match_is_over=True, duration_ms=0)
    assert away_since(AWAY, finished, *later) == 1000
