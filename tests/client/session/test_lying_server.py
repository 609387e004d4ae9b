"""1,000 generated ends of a round by a server that knows the deck: each is true and proved, or an alarm.

Two real clients race on a real server, in a room with any options, after any rounds and matches before. The server
follows a real race up to a random step after a player is bound, and then tells both the same lie, or goes on to one of
the ends that honest players cause. The receipts of both are judged as well, and must agree with the clients.
"""

import asyncio
import random
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus
from fairest_cli.model.round_end import Alarm, Explained, Proved, Verdict
from fairest_cli.records.receipt_replay import judge_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session import server_socket
from fairest_cli.session.connection import Connection
from fairest_cli.session.websocket import Rejected
from fairest_protocol.calculation.moves import RESIGN
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Rematch
from fairest_server.room.events import Detached, Played, PlayerReady, SeatFreed, SeatsStopped, Started
from tests.support.honest_race import HonestRace
from tests.support.lies import LIES, Story, be_honest
from tests.support.long_tests import parametrize_with_long
from tests.support.lying_server import NAMES, ROOM, Clock, Line, LyingServer, lying_server, pick
from tests.support.waiting import PATIENCE_SECONDS

RACES = 400
"""Rooms in which lies are told."""


class Told(NamedTuple):
    """A lie, the verdict of each client, and what each receipt says: the sentences, or the fault found.

    `bound` are the seats whose players were bound to the round when it was told.
    """

    lie: Story
    phase: Phase
    bound: tuple[int, ...]
    verdicts: list[Verdict | None]
    receipts: list[str]


@cache
def honest_race(seed: int) -> HonestRace:
    return HonestRace(seed)


async def follow(line: Line, liar: LyingServer, race: HonestRace) -> Verdict | None:
    """Play a seat as the log has it until the round has ended for the client; return its verdict.

    None for a client that was not bound to the round, and for one that waits for a server that is gone.
    """
    client, target = line.client, race.round.round_id
    assert client is not None
    has_begun = False
    try:
        async with aclosing(client.updates()) as updates:
            async for update in updates:
                model, own, scene = update.model, update.model.own, update.model.scene
                has_begun = has_begun or model.seal_check.round_id == target
                end = model.binding.last_end
                if end is not None and end.round_id == target:
                    return end.verdict
                if model.status is ConnectionStatus.LOST and liar.is_gone:
                    return None
                if has_begun and model.phase in (Phase.WAITING, Phase.CLOSED, None):
                    return None
                if update.message is None or own is None or scene is None or scene.round is None:
                    continue
                await act(line, client, race)
    except Cheated as reason:
        return Alarm(str(reason))
    except Rejected:
        end = client.model.binding.last_end
        return end.verdict if end is not None and end.round_id == target else None
    finally:
        line.end()
    raise AssertionError("the updates of a client never end by themselves")


async def act(line: Line, client: Connection, race: HonestRace) -> None:
    """Do what the log has this player do next."""
    model, own, scene = client.model, client.model.own, client.model.scene
    assert own is not None and scene is not None and scene.round is not None
    if model.phase is Phase.READY and own.entropy_hash is None:
        if race.commit(line.identity, line.seat, scene.round):
            await client.get_ready()
    elif model.may_send_next_move:
        moves = race.moves(line.seat, scene.round)
        if own.moves < len(moves):
            await client.play(moves[own.moves])
    elif model.phase is Phase.FINISHED and scene.match_is_over and not own.wants_rematch:
        await client.request(Rematch())


def first_ending(race: HonestRace) -> int:
    """Return the place of the first step of the round after which a player, or the operator, may begin to end it.

    A player who is going to resign does so as soon as the move before is shown.
    """
    newest = {0: race.opened_at, 1: race.opened_at}
    for place in range(race.opened_at, len(race.steps)):
        event, after = race.steps[place].event, race.steps[place].after
        if isinstance(event, Played) and event.move is RESIGN:
            return newest[event.seat]
        if isinstance(event, Started):
            newest = {0: place, 1: place}
        elif isinstance(event, Played):
            newest[event.seat] = place
        is_over = after.phase in (Phase.FINISHED, Phase.WAITING, Phase.CLOSED)
        if is_over or isinstance(event, (Detached, SeatsStopped, SeatFreed)):
            return place
    raise AssertionError("each round ends")


def choose_place(race: HonestRace, chance: random.Random) -> int | None:
    """Return a step of the round behind which a lie may be told: a player is bound, and none has begun to end it.

    Each phase is as likely as another one, since most steps are moves. None if the round ends before that.
    """
    steps = race.steps
    bound = [place for place in range(race.opened_at, len(steps)) if isinstance(steps[place].event, PlayerReady)]
    places = range(bound[0], first_ending(race)) if bound else range(0)
    phases = sorted({steps[place].after.phase for place in places})
    if not phases:
        return None
    phase = pick(chance, phases)
    return int(pick(chance, [place for place in places if steps[place].after.phase is phase]))


async def tell(seed: int, receipts: Path) -> Told:
    """Tell the lie of this seed to two clients."""
    chance, clock = random.Random(seed), Clock()
    race = honest_race(chance.randrange(RACES))
    cut = choose_place(race, chance)
    lie = pick(chance, LIES) if cut is not None else be_honest
    async with lying_server(race, clock) as (liar, url), asyncio.timeout(PATIENCE_SECONDS):
        following = enter(liar, url, race, receipts)
        waiting = set(following)
        try:
            state = await liar.play_until(race.opened_at if cut is None else cut)
            bound = tuple(line.seat for line in liar.lines if line.model.binding.is_bound_to(race.round.round_id))
            told = await lie(liar, state, chance)
            while any(concerns(told, following.index(task), bound) for task in waiting):
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if any(isinstance(task.result(), Alarm) for task in done):
                    break
        finally:
            await cancel(waiting)
    verdicts = [None if task in waiting else task.result() for task in following]
    return Told(told, state.phase, bound, verdicts, [judged(line) for line in liar.lines])


async def cancel(tasks: Iterable[asyncio.Task[Verdict | None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def concerns(told: Story, seat: int, bound: tuple[int, ...]) -> bool:
    """Return whether a story ends the round for the client in this seat, which then has a verdict or ends."""
    return told.told == "honest" or (seat in bound and (told.is_result or seat in told.seats))


def judged(line: Line) -> str:
    assert line.client is not None and line.client.receipt is not None and line.client.receipt.path is not None
    try:
        return " ".join(judge_receipt(line.client.receipt.path.read_text().splitlines()))
    except WrongRecord as reason:
        return f"WRONG {reason}"


def faults(told: Told) -> Iterator[str]:
    """Yield what is wrong with the verdicts on a lie."""
    alarms = [isinstance(verdict, Alarm) for verdict in told.verdicts]
    wrong = [receipt.startswith("WRONG") for receipt in told.receipts]
    if not told.lie.is_true and set(told.bound) & set(told.lie.seats) and not any(alarms) and not any(wrong):
        yield "a lie without an alarm"
    if told.lie.is_result and told.lie.is_true and not any(alarms):
        yield from ("a result without a proof" for verdict in told.verdicts if not isinstance(verdict, Proved))
    if told.lie.told == "honest" and any(alarms):
        yield "an alarm at an honest server"
    for verdict, is_alarm, receipt, is_wrong in zip(told.verdicts, alarms, told.receipts, wrong, strict=True):
        if verdict is not None and is_alarm != is_wrong:
            yield f"the client says {verdict}, its receipt {receipt}"
        if isinstance(verdict, Explained) and verdict.sentence not in receipt:
            yield f"the receipt does not say {verdict.sentence}"


def enter(liar: LyingServer, url: str, race: HonestRace, receipts: Path) -> list[asyncio.Task[Verdict | None]]:
    """Let both clients enter the room, and do what the log has them do."""
    for line in liar.lines:
        request = Create(options=race.options) if line.seat == 0 else Join(room=ROOM)
        line.client = Connection(
            url, line.identity, request, name=NAMES[line.seat], receipts=receipts, clock=liar.clock
        )
    return [asyncio.create_task(follow(line, liar, race)) for line in liar.lines]


async def test_a_ping_follows_the_bytes_of_a_player_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_socket, "HEARTBEAT_SECONDS", 3600)
    race = next(race for race in map(honest_race, range(RACES)) if race.ending == "raced")
    dealing = next(place for place, step in enumerate(race.steps) if step.after.phase is Phase.DEALING)
    async with lying_server(race, Clock()) as (liar, url), asyncio.timeout(PATIENCE_SECONDS):
        following = enter(liar, url, race, tmp_path)
        await liar.play_until(dealing)
        known = [line.model.binding.evidence for line in liar.lines]
        await cancel(following)
    assert all(evidence is not None and evidence.arrived_ms is not None for evidence in known)


async def check(seeds: range, folder: Path) -> None:
    wrong = []
    for seed in seeds:
        told = await tell(seed, folder / str(seed))
        wrong += [f"{seed}, {told.phase}: {told.lie.told}: {fault}; {told.verdicts}" for fault in faults(told)]
    assert not wrong, "\n".join(wrong)


@parametrize_with_long("part", range(120), quick=1)
async def test_1200_ends_by_a_lying_server_are_true_and_proved_or_an_alarm(part: int, tmp_path: Path) -> None:
    await check(range(part * 10, part * 10 + 10), tmp_path)
