"""A replay and a watched race: moments, and a place among them."""

import pytest

from fairest_cli.session.progress import course_of
from fairest_cli.tui.board.timeline import LONGEST_WAIT_MS, Moment, Reel, reel_of
from tests.support import staged


def moment(at_ms: int) -> Moment:
    return Moment(at_ms, str(at_ms), (None, None), (0, 0))


@pytest.fixture
def reel() -> Reel:
    return Reel(tuple(moment(at_ms) for at_ms in (0, 1000, 1500, 60_000)))


def test_steps_stay_within_the_reel(reel: Reel) -> None:
    assert reel.stepped(-1).place == 0
    assert reel.stepped(99).place == 3


def test_stepping_pauses(reel: Reel) -> None:
    assert not reel.toggled().stepped(1).is_playing


def test_seeking_goes_to_that_part(reel: Reel) -> None:
    assert [reel.sought(fraction).place for fraction in (0, 0.34, 0.66, 1)] == [0, 1, 2, 3]


def test_a_moment_stays_as_long_as_it_did(reel: Reel) -> None:
    assert reel.wait_ms() == 1000


def test_nobody_waits_for_a_long_thought(reel: Reel) -> None:
    assert reel.stepped(2).wait_ms() == LONGEST_WAIT_MS


def test_twice_the_speed_is_half_the_wait(reel: Reel) -> None:
    assert reel.at_speed(1).wait_ms() == 500


def test_speed_has_its_limits(reel: Reel) -> None:
    assert (reel.at_speed(99).speed, reel.at_speed(-99).speed) == (16.0, 0.5)


def test_playing_ends_at_the_end(reel: Reel) -> None:
    played = reel.toggled().played().played().played()
    assert (played.place, played.is_playing) == (3, False)


def test_playing_at_the_end_begins_again(reel: Reel) -> None:
    assert reel.sought(1).toggled().place == 0


def test_who_watches_the_newest_moment_goes_on_doing_so(reel: Reel) -> None:
    assert reel.sought(1).grown(moment(61_000)).is_at_end


def test_who_looks_back_is_left_alone(reel: Reel) -> None:
    assert reel.stepped(1).grown(moment(61_000)).place == 1


def test_a_record_has_every_event_as_a_moment() -> None:
    record = staged.finished().record()
    assert len(reel_of(record).moments) == len(record.rounds[0].events) + 1


def test_a_course_ends_with_the_result() -> None:
    record = staged.finished().record()
    outcome = record.rounds[0].outcome
    assert outcome is not None
    assert [points[-1][1] for points in course_of(record, 0)] == [score.placed for score in outcome.scores]
