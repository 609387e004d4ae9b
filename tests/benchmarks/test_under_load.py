"""A measurement ends with an error when its server does not answer, or when a control does not start."""

import socket

import pytest

from benchmarks.under_load import Processes, control, loading


async def test_a_server_that_never_answers_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.under_load.LONGEST_ANSWER_SECONDS", 2.0)
    # The system completes connections to it, and nobody accepts them.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        served = Processes((), None, silent.getsockname()[1])
        with pytest.raises(RuntimeError, match="'echo in 1 rooms' within 2 s: its server does not answer"):
            async with loading("echo", served, 1):
                pass


async def test_a_control_that_does_not_start_is_named() -> None:
    with pytest.raises(RuntimeError, match="the control 'unheard' has ended with code 1 before it listened"):
        async with control("unheard"):
            pass
