"""The token bucket: arithmetic with the time as an argument."""

from hypothesis import given
from hypothesis import strategies as st

from fairest_server.edge.rate_limit import TokenBucket


def test_a_burst_is_free_and_the_next_one_waits_for_its_token() -> None:
    bucket = TokenBucket(rate_per_second=10, burst=3, at_seconds=0)
    assert [bucket.take(0) for _ in range(4)] == [0, 0, 0, 0.1]


def test_a_client_that_pauses_gets_the_burst_back_and_no_more() -> None:
    bucket = TokenBucket(rate_per_second=10, burst=3, at_seconds=0)
    for _ in range(3):
        bucket.take(0)
    assert [bucket.take(100) for _ in range(4)] == [0, 0, 0, 0.1]


def test_a_refused_token_is_not_lent() -> None:
    bucket = TokenBucket(rate_per_second=1, burst=1, at_seconds=0)
    assert [bucket.try_take(at) for at in (0, 0.5, 1.0)] == [True, False, True]


def test_the_bucket_knows_since_when_it_has_been_empty() -> None:
    bucket = TokenBucket(rate_per_second=10, burst=2, at_seconds=0)
    for at in (0, 0, 1, 1, 1, 1.1):
        bucket.take(at)
    assert bucket.empty_since == 1
    bucket.take(9)
    assert bucket.empty_since is None


@given(st.lists(st.floats(0, 1), max_size=200))
def test_in_the_long_run_no_more_is_taken_than_the_rate_allows(gaps: list[float]) -> None:
    """A client that waits as long as it is told takes at most the burst and the tokens that were added since."""
    bucket, now = TokenBucket(rate_per_second=5, burst=4, at_seconds=0), 0.0
    for taken, gap in enumerate(gaps, 1):
        now += gap
        now += bucket.take(now)
        assert taken <= 4 + 5 * now + 1e-6
