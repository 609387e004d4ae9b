"""The races of `benchmarks.distance`, in a network namespace of their own: started by `unshare`, prints JSON."""

import argparse
import asyncio
import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import count

import uvloop

from benchmarks.distant_bots import Player, Result, race
from benchmarks.distant_link import SERVER, SERVER_PORT, host
from fairest_protocol.calculation.distance import first_by_correction
from fairest_protocol.calculation.record import Record, RecordedMove
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.seat_times import SeatTimes
from fairest_protocol.value import replace
from tests.support.processes import redis_process, serving_fleet

NEAR_MS, FAR_MS = 20, 200
TRICK_SECONDS = 0.1
"""By so much a trick delays pongs, acknowledgements or moves: five times the round trip."""
AT_A_TIME = 200
"""Races under way: 800 moves a second, which leaves two cores idle half of the time."""
LIMITS = (
    *("--connections-per-address", "100000", "--players-per-address", "1000000", "--max-connections", "100000"),
    *("--rooms-per-address", "1000000", "--rounds-per-address", "1000000", "--host", SERVER),
)
NEAR, FAR = Player(host(NEAR_MS)), Player(host(FAR_MS))
TRICKS = {
    "pongs": Player(host(NEAR_MS), pong_delay=TRICK_SECONDS),
    "acknowledgements": Player(host(NEAR_MS, holds_acks=True), pong_delay=TRICK_SECONDS),
    "moves": Player(host(NEAR_MS), move_delay=TRICK_SECONDS),
    "moves_and_pongs": Player(host(NEAR_MS), pong_delay=TRICK_SECONDS, move_delay=TRICK_SECONDS),
    # No card that it answers at once proves that it saw the card earlier than its pongs say.
    "pongs_of_a_cautious_player": Player(host(NEAR_MS), pong_delay=TRICK_SECONDS, at_once=0.0, least=TRICK_SECONDS),
}
PROXIED = ("--trusted-proxies", "10.99.0.0/16")
MODES: dict[str, tuple[tuple[str, ...], int | None]] = {
    "direct": ((), None),
    "proxied": (PROXIED, None),
    "stated": (PROXIED, 1),
}
"""The server's options, and the round trip that a proxy states, in microseconds: next to nothing, since here all of the
distance is between the proxy and the server, whose kernel measures it.
"""


async def race_many(
    players: tuple[Player, Player], races: int, *, has_credit: bool = True, wants_record: bool = False
) -> list[tuple[int, Result]]:
    """Race so often, the first player in seat 0 and seat 1 by turns; return its seat and the result of each."""
    results: list[tuple[int, Result]] = []
    numbers = count()

    async def go_on() -> None:
        for number in numbers:
            if number >= races:
                return
            seat = number % 2
            seated = players if seat == 0 else (players[1], players[0])
            found = await race(
                seated, SERVER_PORT, f"{players} {number}", has_credit=has_credit, wants_record=wants_record
            )
            results.append((seat, found))

    async with asyncio.TaskGroup() as workers:
        for _ in range(min(AT_A_TIME, races)):
            workers.create_task(go_on())
            await asyncio.sleep(0.02)
    return results


def share(results: Sequence[tuple[int, Result]]) -> dict[str, float]:
    """Return the share of the first player, with half of each dead heat, of the races that somebody won by placing."""
    decided = [
        (seat, found.outcome)
        for seat, found in results
        if any(score["ending"] == "won" for score in found.outcome["scores"])
    ]
    won = sum(1.0 if outcome["winner"] == seat else 0.5 * (outcome["winner"] is None) for seat, outcome in decided)
    heats = sum(outcome["winner"] is None for _, outcome in decided)
    return {"share": 100 * won / len(decided), "dead_heats": 100 * heats / len(decided), "races": len(decided)}


def round_trips(results: Sequence[tuple[int, Result]]) -> list[float]:
    """Return the median round trip in ms that was measured of the first player, and of the second."""
    ledgers = [(seat, found.outcome["ledger"]) for seat, found in results if found.outcome["ledger"]]
    pairs = [sorted(ledger[seat if own else 1 - seat]["rtt_us"] for seat, ledger in ledgers) for own in (True, False)]
    return [pair[len(pair) // 2] / 1000 for pair in pairs]


def gain(results: Sequence[tuple[int, Result]], trick: Player) -> float:
    """Return by how many points in 100 a trick raises the share of its player, race by race.

    Each race is decided again as if the trick had not been played: with the round trip of the other player, who is as
    near, and with moves that were not delayed. So nothing of it is chance.
    """
    gained = 0.0
    for seat, found in results:
        record = read_record(found.record)
        outcome = record.rounds[0].outcome
        assert outcome is not None
        if outcome.ledger is None:
            continue
        times = times_of(record)
        if None in (times[0].arrival_ms, times[1].arrival_ms):
            # One was stopped. Without the trick a player who was delayed could have come in: then the trick has lost.
            continue
        honest = prompt(replace(times[seat], rtt_us=outcome.ledger[1 - seat].rtt_us), round(1000 * trick.move_delay))
        pair = [honest.timing() if each == seat else times[each].timing() for each in (0, 1)]
        gained += points(outcome.winner, seat) - points(first_by_correction(pair), seat)
    return 100 * gained / len(results)


def points(winner: int | None, seat: int) -> float:
    """Return what a result is worth to a seat."""
    return 0.5 if winner is None else float(winner == seat)


def prompt(times: SeatTimes, delay_ms: int) -> SeatTimes:
    """Return the times of a player who had not delayed each card by so much."""
    answers = []
    for number, answer in enumerate(times.answers):
        turned_ms = answer.turned_ms - number * delay_ms
        answers.append(answer._replace(turned_ms=turned_ms, taken_ms=answer.taken_ms - (number + 1) * delay_ms))
    arrival_ms = None if times.arrival_ms is None else times.arrival_ms - len(answers) * delay_ms
    return replace(times, answers=tuple(answers), arrival_ms=arrival_ms)


def times_of(record: Record) -> list[SeatTimes]:
    """Return the times of both seats in the only round of a record."""
    outcome = record.rounds[0].outcome
    assert outcome is not None and outcome.ledger is not None
    times = [SeatTimes(timing.rtt_us) for timing in outcome.ledger]
    before = None
    for event, race_after in record.steps(0):
        if isinstance(event, RecordedMove) and before is not None:
            seat = event.seat
            racers = before.racers[seat], race_after.racers[seat]
            times[seat] = times[seat].after_move(*racers, event.move, event.at_ms)
        before = race_after
    return times


async def measure(races: int, trick_races: int) -> dict[str, object]:
    """Race all pairs over one server after the other."""
    figures: dict[str, object] = {}
    with redis_process() as redis:
        for mode, (options, stated_us) in MODES.items():
            near = dataclasses.replace(NEAR, stated_us=stated_us)
            far = dataclasses.replace(FAR, stated_us=stated_us)
            async with serving_fleet(redis.url) as fleet:
                await fleet.start(*LIMITS, *options, port=SERVER_PORT)
                with_credit = await race_many((far, near), races if mode == "direct" else trick_races)
                figures[f"{mode}_with"] = share(with_credit) | {"round_trips": round_trips(with_credit)}
                _note(mode, figures[f"{mode}_with"])
                if mode == "direct":
                    without = await race_many((far, near), trick_races, has_credit=False)
                    figures["without"] = share(without)
                    _note("without credit", figures["without"])
                for name, trick in TRICKS.items():
                    # The kernel of a proxy is delayed by acknowledgements that are held back, and states that.
                    held_us = int(TRICK_SECONDS * 1_000_000) if name == "acknowledgements" else 0
                    tricky = dataclasses.replace(trick, stated_us=stated_us and stated_us + held_us)
                    found = await race_many((tricky, near), trick_races, wants_record=True)
                    figures[f"{mode}_{name}"] = share(found) | {
                        "gain": gain(found, trick),
                        "round_trips": round_trips(found),
                    }
                    _note(f"{mode} {name}", figures[f"{mode}_{name}"])
    return figures


def _note(*words: object) -> None:
    print(" ", *words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("races", type=int)
    parser.add_argument("trick_races", type=int)
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "benchmarks.distant_link", "--hold-acks", str(TRICK_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as link:
        try:
            assert link.stdout is not None and link.stdout.readline() == b"ready\n", "the link did not start"
            print(json.dumps(uvloop.run(measure(chosen.races, chosen.trick_races))))
        finally:
            link.kill()
