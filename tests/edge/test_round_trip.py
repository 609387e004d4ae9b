"""The round trip of a connection: pings of our own, the kernel's measure, and clients that answer late."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_server.edge import round_trip
from fairest_server.edge.keepalive import Keepalive
from fairest_server.edge.round_trip import BURST, RoundTrip, kernel_round_trip_us, stated_round_trip_us


class Far:
    """A client at a distance: it answers each ping that it is sent after `answers_after` of a clock."""

    def __init__(self, connected: object = None, *, is_direct: bool = False) -> None:
        self.now = 0.0
        self.pings: list[bytes] = []
        self.reports: list[int | None] = []
        self.measured = RoundTrip(
            self.pings.append,
            connected,  # type: ignore[arg-type]
            lambda: self.now,
            is_direct=is_direct,
        )

    def begin(self) -> None:
        self.measured.begin(lambda: self.reports.append(self.measured.shortest_us))

    def answer(self, seconds: float) -> None:
        self.now += seconds
        self.measured.pong(self.pings[-1])


def test_nothing_is_known_before_the_first_answer() -> None:
    far = Far()
    far.begin()
    assert far.measured.shortest_us is None


def test_the_shortest_answer_counts() -> None:
    far = Far()
    far.begin()
    for seconds in (0.2, 0.15, 0.3):
        far.answer(seconds)
    assert far.measured.shortest_us == pytest.approx(150_000, abs=1)


def test_measuring_begins_with_a_burst_in_which_each_answer_is_followed_by_a_ping() -> None:
    far = Far()
    far.begin()
    for _ in range(BURST):
        far.answer(0.1)
    assert len(far.pings) == BURST


def test_each_heartbeat_sends_one_ping_after_the_burst() -> None:
    far = Far()
    far.begin()
    for _ in range(BURST):
        far.answer(0.1)
    far.measured.ping()
    far.measured.ping()
    assert len(far.pings) == BURST + 1


def test_a_connection_that_nobody_measures_is_sent_nothing() -> None:
    far = Far()
    far.measured.ping()
    assert far.pings == []


@pytest.mark.parametrize("payload", [b"", b"\0\0\0\1", b"12345", b"\0" * 125])
def test_a_pong_that_answers_no_ping_of_ours_is_passed_over(payload: bytes) -> None:
    far = Far()
    far.begin()
    far.now = 0.001
    far.measured.pong(payload)
    assert far.measured.shortest_us is None


def test_a_pong_counts_once() -> None:
    far = Far()
    far.begin()
    first = far.pings[-1]
    far.answer(0.2)
    far.now += 0.0
    far.measured.pong(first)
    assert far.reports == [200_000]


def test_the_pings_of_keepalive_are_answered_for_themselves() -> None:
    far = Far()
    keepalive = Keepalive(far.measured)
    far.begin()
    keepalive.pong(keepalive.ping())
    assert far.measured.shortest_us is None
    keepalive.pong(far.pings[-1])
    assert far.measured.shortest_us == 0


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=BURST), st.floats(0.0, 3.0), st.integers(0, 10**6))
def test_delaying_pongs_never_raises_the_round_trip_above_the_kernels(
    answers: list[float], delay: float, kernel_us: int
) -> None:
    """`kernel_us` stands for what the kernel has seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_trip, "kernel_round_trip_us", lambda _: kernel_us)
        far = Far(object(), is_direct=True)
        far.begin()
        for seconds in answers:
            far.answer(seconds + delay)
        assert far.measured.shortest_us is not None and far.measured.shortest_us <= kernel_us


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=BURST), st.integers(0, 10**6), st.integers(1, 10**6))
def test_delaying_pongs_never_raises_the_round_trip_above_what_both_kernels_have_measured(
    answers: list[float], to_proxy_us: int, beyond_us: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_trip, "kernel_round_trip_us", lambda _: to_proxy_us)
        far = Far(object())
        far.measured.beyond_us = beyond_us
        far.begin()
        for seconds in answers:
            far.answer(seconds)
        assert far.measured.shortest_us is not None and far.measured.shortest_us <= to_proxy_us + beyond_us


def test_the_way_to_a_proxy_alone_is_no_round_trip_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trip, "kernel_round_trip_us", lambda _: 50)
    assert Far(object()).measured.shortest_us is None


@pytest.mark.parametrize(
    ("values", "stated_us"),
    [
        (["20000"], 20_000),
        (["1"], 1),
        (["0"], None),
        ([], None),
        ([""], None),
        (["20000", "90000"], None),
        (["20000, 90000"], None),
        (["-5"], None),
        (["2e4"], None),
        (["\u0663"], None),
        (["9" * 10], None),
        (["9" * 5000], None),
    ],
)
def test_a_header_states_a_round_trip_if_it_is_one_number(values: list[str], stated_us: int | None) -> None:
    assert stated_round_trip_us(values) == stated_us


def test_the_kernel_knows_the_round_trip_of_a_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            accepted.sendall(b"ping")
            client.recv(4)
            client.sendall(b"pong")
            accepted.recv(4)
            measured = kernel_round_trip_us(accepted)
    if hasattr(socket, "TCP_INFO") and measured is not None:
        assert 0 <= measured < 1_000_000


def test_a_socket_that_is_closed_is_not_measured() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        pass
    assert kernel_round_trip_us(client) is None


def test_a_socket_that_is_not_one_of_tcp_is_not_measured() -> None:
    first, second = socket.socketpair()
    with first, second:
        assert kernel_round_trip_us(first) is None
