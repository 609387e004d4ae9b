"""The timeline of a replay and of a race that is watched."""

import pytest

from fairest_cli.session.progress import progress_of
from fairest_cli.tui.board.timeline import LONGEST_WAIT_MS, SHORTEST_WAIT_MS, Moment, Timeline, timeline_of
from tests.support import staged


def moment(at_ms: int) -> Moment:
    return Moment(at_ms, str(at_ms), (None, None), (0, 0))


@pytest.fixture
def timeline() -> Timeline:
    return Timeline(tuple(moment(at_ms) for at_ms in (0, 1000, 1500, 60_000)))


def test_steps_stay_within_the_timeline(timeline: Timeline) -> None:
    assert timeline.stepped(-1).index == 0
    assert timeline.stepped(99).index == 3


def test_stepping_pauses(timeline: Timeline) -> None:
    assert not timeline.toggled().stepped(1).is_playing


def test_seeking_goes_to_that_part(timeline: Timeline) -> None:
    assert [timeline.sought(fraction).index for fraction in (0, 0.34, 0.66, 1)] == [0, 1, 2, 3]


def test_a_moment_stays_as_long_as_it_did_in_the_race(timeline: Timeline) -> None:
    assert timeline.wait_ms() == 1000


def test_a_long_pause_is_cut_short(timeline: Timeline) -> None:
    assert timeline.stepped(2).wait_ms() == LONGEST_WAIT_MS


@pytest.mark.parametrize("next_ms", [1000, 0], ids=["same time", "next round"])
def test_a_moment_stays_for_some_time_when_the_next_one_is_not_later(next_ms: int) -> None:
    assert Timeline((moment(1000), moment(next_ms))).wait_ms() == SHORTEST_WAIT_MS


def test_twice_the_speed_is_half_the_wait(timeline: Timeline) -> None:
    assert timeline.at_speed(1).wait_ms() == 500


def test_the_speed_stays_within_its_limits(timeline: Timeline) -> None:
    assert (timeline.at_speed(99).speed, timeline.at_speed(-99).speed) == (16.0, 0.5)


def test_playing_ends_at_the_end(timeline: Timeline) -> None:
    played = timeline.toggled().advanced().advanced().advanced()
    assert (played.index, played.is_playing) == (3, False)


def test_playing_at_the_end_begins_again(timeline: Timeline) -> None:
    assert timeline.sought(1).toggled().index == 0


def test_the_newest_moment_stays_in_view_when_one_is_appended(timeline: Timeline) -> None:
    assert timeline.sought(1).appended(moment(61_000)).is_at_end


def test_an_older_moment_stays_in_view_when_one_is_appended(timeline: Timeline) -> None:
    assert timeline.stepped(1).appended(moment(61_000)).index == 1


def test_a_record_has_every_event_as_a_moment() -> None:
    record = staged.finished().record()
    assert len(timeline_of(record).moments) == len(record.rounds[0].events) + 1


def test_the_progress_of_a_record_ends_with_the_result() -> None:
    record = staged.finished().record()
    outcome = record.rounds[0].outcome
    assert outcome is not None
    assert [points[-1][1] for points in progress_of(record, 0)] == [score.placed for score in outcome.scores]
