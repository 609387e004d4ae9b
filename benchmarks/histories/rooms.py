"""Rooms full of independent clients, played beside the faults of a scenario, and checked when they are over."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.histories.checker import Verdict, check
from benchmarks.histories.client import Client
from benchmarks.histories.habits import Habits
from benchmarks.histories.history import Message, Run

ALONE_SECONDS = 30.0
"""How long a player goes on whose opponent is gone with the data of Redis."""
SHORT_LIMIT_SECONDS, SLOW_PACE_SECONDS = 10, 0.2
"""Together they let the time of a race run out."""
VARIANTS = "classic", "easy", "broken", "senior", "reverse", "redeal", "betsy-ross", "single"


@dataclass
class Rooms:
    """The rooms of a scenario. Each slot plays one match after the other until `until_s`, by the monotonic clock."""

    urls: Callable[[], list[str]]
    seed: str
    until_s: float
    end_seconds: float
    """A match that does not end within as much after `until_s` is a problem."""
    runs: list[tuple[Run, list[str]]] = field(default_factory=list)
    lost: int = 0

    async def play(self, slots: int) -> None:
        """Play in as many rooms at a time until the time is over and each match has ended."""
        async with asyncio.TaskGroup() as group:
            for slot in range(slots):
                group.create_task(self._play_slot(slot))

    async def _play_slot(self, slot: int) -> None:
        number = 0
        while time.monotonic() < self.until_s:
            number += 1
            await self._play_room(random.Random(f"{self.seed}/{slot}/{number}"), f"{slot}.{number}")

    async def _play_room(self, chance: random.Random, name: str) -> None:
        options = draw_options(chance)
        pace_seconds = (
            SLOW_PACE_SECONDS if options["limit_seconds"] == SHORT_LIMIT_SECONDS else chance.choice([0.02, 0.04])
        )
        habits = Habits(pace_seconds=pace_seconds)
        matches = chance.choice([1, 2]) if options["best_of"] == 1 else 1

        def client(viewer: str, *, is_player: bool, room: str | None = None) -> Client:
            own = random.Random(chance.random())
            return Client(f"{name}-{viewer}", self.urls, own, is_player, options, room, matches, habits)

        first = client("player-0", is_player=True)
        everybody, tasks = [first], [asyncio.create_task(first.run())]
        problems = []
        try:
            async with asyncio.timeout(max(0.0, self.until_s - time.monotonic()) + self.end_seconds):
                await first.entered.wait()
                everybody.append(client("player-1", is_player=True, room=first.room))
                if options["spectators"] != "closed":
                    everybody += [client(f"spectator-{n}", is_player=False, room=first.room) for n in range(2)]
                tasks += [asyncio.create_task(each.run()) for each in everybody[1:]]
                await asyncio.wait(tasks[:2], return_when=asyncio.FIRST_COMPLETED)
                if any(each.is_lost for each in everybody[:2]):
                    # The other player has nobody to race with; its race ends with the grace period and the chase.
                    await asyncio.wait(tasks[:2], timeout=ALONE_SECONDS)
                else:
                    await asyncio.gather(*tasks[:2])
                if options["spectators"] != "closed":
                    await asyncio.sleep(0.2)
        except TimeoutError:
            states = ", ".join(f"{each.viewer} in {each.knowledge.phase}" for each in everybody)
            problems.append(f"{name}: no end within {self.end_seconds} s after the last fault: {states}")
        for each in everybody:
            each.is_done = True
        await asyncio.wait(tasks, timeout=5)
        for task in tasks:
            task.cancel()
        for each in everybody:
            problems += each.problems
            self.lost += each.is_lost
        if first.room is not None:
            records = [lines for each in everybody for lines in each.records]
            self.runs.append((Run(first.room, [each.history for each in everybody], records), problems))


def draw_options(chance: random.Random) -> Message:
    """Draw the options of a room: mostly quick ones, sometimes with clocks that run out."""
    variant = chance.choice(VARIANTS)
    options: Message = {"rules": variant, "countdown_seconds": chance.choice([0, 0, 1])}
    options |= {
        "best_of": chance.choice([1, 1, 3]),
        "spectators": chance.choice(["horizon", "horizon", "open", "closed"]),
    }
    options |= {
        "limit_seconds": chance.choice([SHORT_LIMIT_SECONDS, 60, 1200, 1200]),
        "chase_seconds": chance.choice([5, 180]),
    }
    return options | {"grace_seconds": chance.choice([4, 20]), "idle_seconds": 60}


def check_runs(rooms: Rooms, *, loss_is_allowed: bool, tolerance_s: float) -> list[tuple[Run, Verdict]]:
    """Check all runs of a scenario."""
    verdicts = []
    for run, problems in rooms.runs:
        verdict = check(run, loss_is_allowed=loss_is_allowed, tolerance_s=tolerance_s)
        verdict.problems += problems
        verdicts.append((run, verdict))
    return verdicts
