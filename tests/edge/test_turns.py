"""Connections whose bytes wait share a part of each turn of the event loop, one after the other."""

import asyncio

from fairest_server.edge.turns import TURN_MESSAGES, TURN_SECONDS, Turns


class Clock:
    """A clock that only the takers of turns move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Taker:
    """A connection with so many slices left, each of which takes some time and holds some messages."""

    def __init__(self, name: str, taken: list[str], turns: Turns, clock: Clock, slices: int) -> None:
        self.name, self.taken, self.turns, self.clock, self.left = name, taken, turns, clock, slices
        self.seconds = 0.0
        self.messages = 0

    def take_turn(self) -> int:
        self.taken.append(self.name)
        self.clock.now += self.seconds
        self.left -= 1
        if self.left:
            self.turns.add(self)
        return self.messages


def begin(*slices: int) -> tuple[list[str], list[Taker]]:
    """Takers with so many slices, all of which have asked for a turn."""
    clock = Clock()
    turns, taken = Turns(clock), list[str]()
    takers = [Taker(chr(ord("a") + place), taken, turns, clock, count) for place, count in enumerate(slices)]
    for taker in takers:
        turns.add(taker)
    return taken, takers


async def test_connections_take_turns() -> None:
    taken, _ = begin(3, 1, 2)
    await asyncio.sleep(0)
    assert taken == ["a", "b", "c", "a", "c", "a"]


async def test_a_turn_of_the_loop_ends_when_its_time_is_up_and_the_next_one_goes_on() -> None:
    taken, takers = begin(2, 2)
    for taker in takers:
        taker.seconds = TURN_SECONDS * 0.6
    await asyncio.sleep(0)
    assert taken == ["a", "b"]
    await asyncio.sleep(0)
    assert taken == ["a", "b", "a", "b"]


async def test_a_turn_of_the_loop_ends_when_sessions_have_enough_to_do() -> None:
    taken, takers = begin(3)
    takers[0].messages = TURN_MESSAGES
    await asyncio.sleep(0)
    assert taken == ["a"]


async def test_a_connection_that_fails_does_not_stop_the_others() -> None:
    taken, takers = begin(1, 1)

    def fail() -> int:
        raise ZeroDivisionError

    takers[0].take_turn = fail  # type: ignore[method-assign]
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context["exception"]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (taken, [type(each) for each in failures]) == (["b"], [ZeroDivisionError])
