"""The rivals of a house in tournaments: how many are sent into which one, and how each of them ends."""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fairest_cli.bots.house import Programs
from fairest_cli.bots.levels import PROFILES, Level
from fairest_cli.bots.tournament_rivals import AGAIN_SECONDS, TournamentRivals
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    ListedTournament,
    TournamentFormat,
    TournamentPhase,
)
from fairest_protocol.value import replace
from tests.support.tournaments import entrant, play_careless
from tests.support.waiting import until

NOWHERE = "ws://127.0.0.1:9"
"""No server listens there; rivals that are cancelled at once never ask it."""
FILLING = ListedTournament(
    code="quiet-green-heron",
    phase=TournamentPhase.FILLING,
    creator="ann",
    rules="classic",
    format=TournamentFormat.SWISS,
    players=1,
    most_players=4,
    round=0,
    wanted=3,
    rival_level="careless",
)


def row(**changes: Any) -> ListedTournament:
    return FILLING.model_copy(update=changes)


def level_of(wished: str | None) -> Level:
    return Level(wished) if wished else Level.LEARNER


class Sent:
    """Rivals, with the levels of those that were sent and the lines that were printed."""

    def __init__(self, url: str = NOWHERE) -> None:
        self.levels: list[Level] = []
        self.lines: list[str] = []
        self.now = 100.0
        self.rivals = TournamentRivals(url, self._new_name, self.lines.append, lambda: self.now)
        self._programs = Programs(random.Random(1))

    def _new_name(self, level: Level) -> str:
        self.levels.append(level)
        return self._programs.new_name(level)

    def send(self, *rows: ListedTournament, most: int = 8) -> int:
        """Let rivals be sent into these tournaments, and return how many play then."""
        self.rivals.send(rows, level_of, most)
        return len(self.rivals)

    async def count_lines(self, text: str, count: int) -> None:
        """Wait until so many lines with this text are printed."""

        async def are_printed() -> bool:
            return sum(text in line for line in self.lines) >= count

        await until(are_printed, f"{count} lines say {text!r}")


@pytest.fixture
async def sent() -> AsyncIterator[Sent]:
    """Rivals that are cancelled before they open a socket, unless a test waits."""
    sent = Sent()
    yield sent
    await sent.rivals.end()


@pytest.fixture
async def served(server_url: str) -> AsyncIterator[Sent]:
    """Rivals on a real server."""
    sent = Sent(server_url)
    yield sent
    await sent.rivals.end()


@pytest.fixture
async def ann(server_url: str) -> AsyncIterator[TournamentConnection]:
    """A player that has started a tournament of one round and three players, of which two are to be rivals."""
    connection = entrant(server_url, "ann")
    await connection.enter(CreateTournament(most_players=3, rival_level="careless", rounds=1))
    await connection.start()
    yield connection
    await connection.close()


def code_of(connection: TournamentConnection) -> str:
    assert connection.known is not None
    return connection.known.shown.code


async def until_begun(connection: TournamentConnection) -> None:
    """Wait until a tournament has its rivals, and its first round is open."""

    async def has_begun() -> bool:
        return (await connection.watch()).phase is TournamentPhase.GATHERING

    await until(has_begun, "the first round is open")


async def test_a_tournament_is_sent_as_many_rivals_as_it_wants(sent: Sent) -> None:
    assert sent.send(row()) == 3


async def test_a_tournament_that_wants_none_is_sent_none(sent: Sent) -> None:
    assert sent.send(row(wanted=0)) == 0


async def test_a_tournament_that_wants_rivals_later_is_sent_them_then(sent: Sent) -> None:
    sent.send(row(wanted=0))
    assert sent.send(row()) == 3


async def test_no_more_rivals_are_sent_than_the_house_has_left(sent: Sent) -> None:
    assert sent.send(row(), row(code="loud-red-heron"), most=4) == 4


async def test_a_tournament_in_the_list_again_is_sent_no_more_rivals(sent: Sent) -> None:
    sent.send(row())
    assert sent.send(row()) == 3


async def test_a_tournament_whose_rivals_are_on_their_way_still_is_sent_no_more(sent: Sent) -> None:
    sent.send(row())
    sent.now += AGAIN_SECONDS
    assert sent.send(row()) == 3


async def test_a_tournament_that_was_gone_from_the_list_is_sent_no_more_rivals(sent: Sent) -> None:
    """The server did not answer for a moment."""
    sent.send(row())
    sent.send()
    assert sent.send(row()) == 3


async def test_a_rival_that_has_ended_is_replaced(sent: Sent) -> None:
    sent.send(row())
    await sent.rivals.end()
    sent.now += AGAIN_SECONDS
    assert sent.send(row()) == 3


async def test_a_tournament_that_refuses_its_rivals_is_not_sent_others_at_once(sent: Sent) -> None:
    sent.send(row())
    await sent.rivals.end()
    sent.now += AGAIN_SECONDS - 1
    assert sent.send(row()) == 0


async def test_a_tournament_that_got_a_part_of_its_rivals_gets_the_others_once_the_house_has_them(sent: Sent) -> None:
    sent.send(row(), most=1)
    sent.now += AGAIN_SECONDS
    assert sent.send(row(), most=8) == 3


async def test_a_tournament_for_which_no_rival_was_left_is_sent_some_once_there_are(sent: Sent) -> None:
    assert sent.send(row(), most=0) == 0
    assert sent.send(row(), most=2) == 2


async def test_rivals_that_have_ended_count_no_more(sent: Sent) -> None:
    sent.send(row())
    await sent.rivals.end()
    assert len(sent.rivals) == 0


async def test_each_rival_has_the_level_that_the_tournament_wishes_for(sent: Sent) -> None:
    sent.send(row(wanted=1), row(code="loud-red-heron", wanted=1, rival_level=None))
    await sent.count_lines("enters the tournament", 2)
    assert sent.levels == [Level.CARELESS, Level.LEARNER]


async def test_rivals_enter_a_tournament_that_waits_for_them(served: Sent, ann: TournamentConnection) -> None:
    served.send(row(code=code_of(ann), wanted=2))
    await until_begun(ann)
    assert len((await ann.watch()).standings) == 3


async def test_rivals_enter_under_the_names_that_are_printed(served: Sent, ann: TournamentConnection) -> None:
    served.send(row(code=code_of(ann), wanted=2))
    await until_begun(ann)
    names = {each.name for each in (await ann.watch()).standings} - {"ann"}
    assert {f"{name} enters the tournament {code_of(ann)}." for name in names} == set(served.lines)


async def test_a_rival_too_many_is_gone_with_the_sentence_of_the_server(
    served: Sent, ann: TournamentConnection
) -> None:
    served.send(row(code=code_of(ann), wanted=3))
    await served.count_lines(f"is gone from the tournament {code_of(ann)}: This tournament", 1)


async def test_the_other_rivals_stay_when_one_is_refused(served: Sent, ann: TournamentConnection) -> None:
    served.send(row(code=code_of(ann), wanted=3))
    await served.count_lines("is gone from", 1)
    await until_begun(ann)
    assert len(served.rivals) == 2


async def test_rivals_for_a_tournament_that_does_not_exist_are_gone(served: Sent) -> None:
    served.send(row())
    await served.count_lines("There is no tournament", 3)

    async def are_gone() -> bool:
        return len(served.rivals) == 0

    await until(are_gone, "all rivals are gone")


async def test_a_rival_that_ends_by_a_fault_is_printed_with_its_reason(
    served: Sent, ann: TournamentConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A level without a profile is a fault of the program: its rival knows no pace.
    monkeypatch.delitem(PROFILES, Level.CARELESS)
    served.send(row(code=code_of(ann), wanted=1))
    await served.count_lines(f"ended by a fault in the tournament {code_of(ann)}: KeyError(", 1)


async def test_a_rival_that_ends_by_a_fault_leaves_its_place_in_the_house(
    served: Sent, ann: TournamentConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(PROFILES, Level.CARELESS)
    served.send(row(code=code_of(ann), wanted=1))
    await served.count_lines("ended by a fault", 1)
    assert len(served.rivals) == 0


async def test_a_tournament_that_wants_another_rival_gets_one_beside_those_that_it_has(
    served: Sent, ann: TournamentConnection
) -> None:
    """As after a rival that has dropped out. Those that are let in are not among those that a tournament wants."""
    served.send(row(code=code_of(ann), wanted=1))

    async def has_entered() -> bool:
        return len((await ann.watch()).standings) == 2

    await until(has_entered, "the first rival is let in")
    served.now += AGAIN_SECONDS
    served.send(row(code=code_of(ann), wanted=1))
    await until_begun(ann)
    assert len((await ann.watch()).standings) == 3


@pytest.mark.long
async def test_a_rival_plays_a_tournament_to_its_end(
    served: Sent, ann: TournamentConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = PROFILES[Level.CARELESS]
    monkeypatch.setitem(PROFILES, Level.CARELESS, replace(profile, pace_seconds=0.0))
    served.send(row(code=code_of(ann), wanted=2))
    await play_careless(ann, 3, 1)
    await served.count_lines(f"is done with the tournament {code_of(ann)}: over", 2)
