"""The report on a load, from counts alone."""

import pytest

from fairest_server.load.report import Report, Tally


def report_on(*, pace_seconds: float = 3.0, started: int = 1, finished: int = 0) -> str:
    tally = Tally(races_started=started, races_finished=finished, races_cut_short=started - finished)
    tally.seconds.extend([0.5, 0.5])
    return "\n".join(Report(tally, "ws://127.0.0.1:8765", 1, 0, pace_seconds, 10.0, 0.1).lines())


@pytest.mark.parametrize(("pace_seconds", "race_seconds"), [(3.0, 120), (0.0, 24)])
def test_a_load_that_is_shorter_than_a_race_says_how_long_one_takes(pace_seconds: float, race_seconds: int) -> None:
    sentence = f"no race came to its end: its 48 cards take about {race_seconds} s at this pace; raise --seconds"
    assert sentence in report_on(pace_seconds=pace_seconds)


@pytest.mark.parametrize(("started", "finished"), [(2, 1), (0, 0)])
def test_nothing_is_said_of_the_length_of_races_if_one_has_ended_or_none_has_started(
    started: int, finished: int
) -> None:
    assert "came to its end" not in report_on(started=started, finished=finished)
