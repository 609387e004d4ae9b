"""The time after which a waiting player may be given a program as an opponent."""

from typing import cast

import pytest

from fairest_protocol.messages.from_client import Queue
from fairest_server.edge.seeker import Seeker, WaitingClient
from fairest_server.store.tickets import Ticket

SINCE_MS = 7_000


def seeker(rival_after_seconds: int | None, partner: str = "") -> Seeker:
    """Return a player who waits since `SINCE_MS`; its client is not asked for anything here."""
    ticket = Ticket("t", "ann", "p", "classic", SINCE_MS, 25.0, partner=partner)
    return Seeker(cast("WaitingClient", None), Queue(rival_after_seconds=rival_after_seconds), ticket)


@pytest.mark.parametrize(("waited_ms", "is_due"), [(0, False), (19_999, False), (20_000, True), (60_000, True)])
def test_a_rival_is_due_after_the_time_that_the_player_set_and_not_before(waited_ms: int, is_due: bool) -> None:
    assert seeker(20).rival_is_due(SINCE_MS + waited_ms) is is_due


def test_a_player_that_wants_no_rival_waits_on() -> None:
    assert not seeker(None).rival_is_due(SINCE_MS + 3_600_000)


def test_a_player_that_has_an_opponent_is_given_no_rival() -> None:
    assert not seeker(20, partner="bob").rival_is_due(SINCE_MS + 60_000)
