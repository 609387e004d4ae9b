"""Tournaments over real sockets and processes: from the first player to the standings, through killed processes."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from fairest_cli.bots.house import House, keep_house
from fairest_cli.bots.levels import Level
from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    Tournament,
    TournamentFormat,
    TournamentPhase,
    TournamentTick,
    WatchTournament,
)
from tests.support.ports import free_port
from tests.support.processes import Fleet, redis_process, serving_fleet
from tests.support.tournaments import entrant, play_careless
from tests.support.waiting import until
from tests.support.wire_client import open_client

UNLIMITED = ("--players-per-address", "100000", "--connections-per-address", "1000")
"""Options for many players from one address."""


@pytest.mark.long
@pytest.mark.parametrize("kind", list(TournamentFormat))
async def test_a_tournament_of_three_is_played_to_its_standings(fleet: Fleet, kind: TournamentFormat) -> None:
    url = await fleet.start()
    players = [entrant(url, f"player-{number}") for number in range(3)]
    async with AsyncExitStack() as stack:
        for each in players:
            stack.push_async_callback(each.close)
        code = (await players[0].enter(CreateTournament(format=kind))).code
        for each in players[1:]:
            await each.join(code)
        await players[0].start()
        ends = await asyncio.gather(*(play_careless(each, 10 * at, at) for at, each in enumerate(players)))
    assert [end.phase for end in ends] == [TournamentPhase.OVER] * 3
    assert ends[0].standings == ends[1].standings == ends[2].standings
    assert all(played.secret is not None for played in ends[0].played)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_tournament_of_64_bots_survives_a_killed_process_and_a_killed_redis() -> None:
    with redis_process("--appendonly", "yes", "--appendfsync", "always") as engine:
        async with serving_fleet(engine.url) as fleet, AsyncExitStack() as stack:
            ports = [free_port() for _ in range(2)]
            urls = [await fleet.start(*UNLIMITED, port=port) for port in ports]
            bots = [entrant(urls[number % 2], f"bot-{number}") for number in range(64)]
            for each in bots:
                stack.push_async_callback(each.close)
            code = (await bots[0].enter(CreateTournament(rounds=4, most_players=64, ready_seconds=600))).code
            await asyncio.gather(*(each.join(code) for each in bots[1:]))
            await bots[0].start()
            playing = [
                asyncio.create_task(play_careless(each, 20, number, look_seconds=0.5))
                for number, each in enumerate(bots)
            ]
            await until_round(bots[0], 2)
            await fleet.kill(urls[0])
            await fleet.start(*UNLIMITED, port=ports[0])
            await until_round(bots[0], 3)
            engine.kill()
            engine.start()
            async with asyncio.timeout(500):
                ends = await asyncio.gather(*playing)
    assert [end.phase for end in ends] == [TournamentPhase.OVER] * 64
    assert all(end.standings == ends[0].standings for end in ends)
    pairs = [frozenset(pair.names) for played in ends[0].played for pair in played.pairs]
    assert len(pairs) == len(set(pairs)) == 4 * 32, "nobody met the same opponent twice, and nobody was left out"
    assert sum(row.points for row in ends[0].standings) == 4 * 64
    assert not any(row.has_left for row in ends[0].standings)
    assert all(score is not None for played in ends[0].played for pair in played.pairs for score in pair.scores), (
        "every race has its score"
    )


async def until_round(connection: TournamentConnection, number: int) -> None:
    """Wait until the round with this number is open, or a later one."""

    async def is_open() -> bool:
        return connection.known is not None and len(connection.known.shown.played) >= number

    await until(is_open, f"round {number} is open", 300)


async def test_a_create_that_is_sent_again_leads_to_the_same_tournament(server_url: str) -> None:
    ann = entrant(server_url, "ann")
    codes = {(await ann.enter(CreateTournament(key="k"))).code for _ in range(2)}
    await ann.close()
    assert len(codes) == 1


async def test_a_round_robin_of_many_players_is_refused(server_url: str) -> None:
    async with open_client(server_url) as client:
        request = CreateTournament(format=TournamentFormat.ROUND_ROBIN, most_players=17)
        assert "16 players at most" in (await client.expect_refusal(request)).sentence


@pytest.mark.long
async def test_many_tournaments_of_one_player_are_refused(fleet: Fleet) -> None:
    url = await fleet.start("--rooms-per-player", "1")
    async with open_client(url) as client:
        await client.send(CreateTournament())
        await client.receive_a(Tournament)
        assert (await client.expect_refusal(CreateTournament())).code is Refusal.TOO_MANY_ROOMS


async def test_a_tournament_that_nothing_has_changed_is_answered_by_counts(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.send(CreateTournament())
        shown = await client.receive_a(Tournament)
        await client.send(WatchTournament(tournament=shown.code, version=shown.version))
        assert (await client.receive_a(TournamentTick)).counts == ()


@pytest.mark.long
async def test_a_house_fills_up_a_tournament_that_wishes_for_rivals(server_url: str) -> None:
    lines: list[str] = []
    house = asyncio.create_task(keep_house(server_url, House((Level.CARELESS,), most_rooms=4), lines.append))
    ann = entrant(server_url, "ann")
    await ann.enter(CreateTournament(most_players=4, rival_level="careless", rounds=1))
    await ann.start()

    async def is_full() -> bool:
        shown = await ann.watch()
        return shown.phase is TournamentPhase.GATHERING and len(shown.standings) == 4

    try:
        await until(is_full, "three rivals have entered")
        assert ann.known is not None
        others = [row.name for row in ann.known.shown.standings if row.name != "ann"]
        assert all(name.startswith("bot-careless-") for name in others)
    finally:
        house.cancel()
        await asyncio.gather(house, return_exceptions=True)
        await ann.close()
