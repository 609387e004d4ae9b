"""A tournament in lines: from `start` to the standings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from fairest_cli.text.tournament import describe_points
from fairest_cli.text.tournament_player import follow_tournament
from fairest_protocol.messages.tournaments import CreateTournament, TournamentPhase
from tests.support.tournaments import entrant
from tests.support.waiting import until


class Typist:
    """Types each line once the text before it was printed."""

    def __init__(self, *script: tuple[str, str]) -> None:
        self._script = script
        self.printed: list[str] = []

    async def lines(self) -> AsyncIterator[str]:
        seen = 0
        for awaited, line in self._script:

            async def is_printed(awaited: str = awaited, seen: int = seen) -> bool:
                return any(awaited in each for each in self.printed[seen:])

            await until(is_printed, f"{awaited!r} is printed")
            seen = len(self.printed)
            yield line
        await asyncio.Event().wait()

    @property
    def text(self) -> str:
        return "\n".join(self.printed)


@pytest.mark.long
async def test_two_players_play_a_tournament_by_typing(server_url: str) -> None:
    ann, bob = entrant(server_url, "ann"), entrant(server_url, "bob")
    async with AsyncExitStack() as stack:
        for each in (ann, bob):
            stack.push_async_callback(each.close)
        await bob.join((await ann.enter(CreateTournament())).code)
        race = [("Get ready", "ready"), ("of 52 cards", "sa"), ("of 52 cards", "stop")]
        first = Typist(("2 players", "start"), *race)
        second = Typist(("Get ready", ""), ("of 52 cards", "xx"), ("not a move or a word", "stop"))
        ends = await asyncio.gather(
            follow_tournament(ann, first.lines(), first.printed.append),
            follow_tournament(bob, second.lines(), second.printed.append),
        )
    assert [end.phase for end in ends] == [TournamentPhase.OVER] * 2
    assert "you race against bob" in first.text
    assert "Your race is over: 4 cards" in second.text
    assert "   rank  player" in first.text
    assert first.text.count("A tournament changes nobody's rating.") == 1


async def test_a_spectator_sees_pairs_and_may_not_get_ready(server_url: str) -> None:
    ann, bob, eve = (entrant(server_url, name) for name in ("ann", "bob", "eve"))
    async with AsyncExitStack() as stack:
        for each in (ann, bob, eve):
            stack.push_async_callback(each.close)
        code = (await ann.enter(CreateTournament())).code
        await bob.join(code)
        await ann.start()
        await eve.watch(code)
        typist = Typist(("0 players ready", "round"), ("Round 1", "quit"))
        shown = await follow_tournament(eve, typist.lines(), typist.printed.append)
    assert shown.phase is TournamentPhase.GATHERING
    assert any("ann" in line and "bob" in line for line in typist.printed)


@pytest.mark.parametrize(("halves", "text"), [(0, "0"), (1, "½"), (2, "1"), (3, "1½"), (12, "6")])
def test_points_are_written_as_people_do(halves: int, text: str) -> None:
    assert describe_points(halves) == text
