"""Rooms in which anything happens: players drop, return, leave, are late, race, stop, resign and want rematches."""

import random
from collections.abc import Callable
from typing import TypeVar

from fairest_protocol.calculation.moves import RESIGN, STOP
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, Leave, Rematch
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.value import replace
from fairest_server.room.commands import ApplyPauses, CloseRoom, Pause, TakeSeat
from fairest_server.room.steps import Step
from tests.support.races import Table, choose_any

RULES = ("classic", "easy", "redeal", "reverse", "senior", "betsy-ross", "broken")
PAUSE_MS = 5_000
STEPS_OF_LOG = 260
T = TypeVar("T", bound=Table)


def random_options(chance: random.Random) -> RoomOptions:
    """Return options of which those that matter to a view are drawn."""
    return RoomOptions(
        rules=chance.choice(RULES),
        best_of=chance.choice((1, 3)),
        spectators=chance.choice((Spectators.HORIZON, Spectators.OPEN)),
        countdown_seconds=chance.choice((0, 3)),
        limit_seconds=chance.choice((60, 1200)),
        direct_breaks_ties=chance.random() < 0.5,
    )


def random_room(seed: int, actions: int = 60) -> Table:
    """Return a room after some random actions, all of which the seed decides."""
    return play_at_random(Table, seed, actions)


def play_at_random(make_table: Callable[[int, RoomOptions], T], seed: int, actions: int) -> T:
    """Return a table after some random actions, all of which the seed decides."""
    chance = random.Random(seed)
    table = make_table(seed, random_options(chance))
    for _ in range(actions):
        if table.state.phase is Phase.CLOSED:
            break
        _act(table, chance)
    return table


def random_log(seed: int, options: RoomOptions) -> list[Step]:
    """Return the log of a room after many random actions. Up to four steps share an append, and so a tag."""
    chance, table = random.Random(seed), Table(seed, options)
    while len(table.steps) < STEPS_OF_LOG and table.state.phase is not Phase.CLOSED:
        _act(table, chance)
    steps: list[Step] = []
    while len(steps) < len(table.steps):
        tag = f"{len(steps):08x}"
        steps += [replace(step, tag=tag) for step in table.steps[len(steps) :][: chance.randint(1, 4)]]
    return steps


def _act(table: Table, chance: random.Random) -> None:
    seat, state = chance.randrange(2), table.state
    holder = state.seats[seat]
    if holder is None or holder.connection_id is None:
        if holder is None or chance.random() < 0.8:
            table.submit(TakeSeat(table.players[seat], f"player-{seat}", f"link-{chance.randrange(10**9)}"))
        else:
            table.let_time_pass()
        return
    match chance.randrange(100):
        case number if number < 4:
            table.disconnect(seat)
        case number if number < 6:
            table.submit(table.request(seat, Leave()))
        case number if number < 8 and state.next_deadline() is not None:
            table.let_time_pass()
        case number if number < 10:
            table.now_ms += PAUSE_MS
            table.submit(ApplyPauses((Pause(table.now_ms - PAUSE_MS, table.now_ms),)))
        case 10 if chance.random() < 0.2:
            table.submit(CloseRoom("closed by a test"))
        case _:
            _go_on(table, chance, seat)


def _go_on(table: Table, chance: random.Random, seat: int) -> None:
    """Do what this seat would do next in the phase of the room."""
    match table.state.phase:
        case Phase.READY:
            holder = table.state.seats[seat]
            if holder is not None and holder.entropy_hash is None:
                table.get_ready(seat)
        case Phase.DEALING if table.state.round is not None:
            table.reveal(seat, table.entropies[table.state.round.round_id, seat])
        case Phase.COUNTDOWN:
            table.let_time_pass()
        case Phase.RACING:
            table.race(choose_any, (1 + 9 * seat, 10 - 9 * seat), most=chance.randrange(40))
            if table.state.phase is Phase.RACING and chance.random() < 0.1:
                table.play(seat, chance.choice((STOP, RESIGN)))
            if table.state.phase is Phase.RACING and chance.random() < 0.5:
                table.submit(table.request(seat, AskFinish()))
        case Phase.FINISHED if table.state.unrecorded_match and chance.random() < 0.5:
            table.record_match()
        case Phase.FINISHED if table.state.match_is_over:
            table.submit(table.request(seat, Rematch()))
        case Phase.FINISHED:
            table.let_time_pass()
        case _:
            pass
