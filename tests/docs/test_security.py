"""docs/security.md: the tests that it names exist, and the cost of one address is the sum of the limits."""

import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from fairest_protocol.messages.options import RoomOptions
from fairest_server.edge.message_costs import LOG_READ_TOKENS
from fairest_server.edge.socket_counts import SPARE
from fairest_server.live.proposal import UNRACED_LOG_SECONDS
from fairest_server.membership.sweeper import OVERDUE_MS
from fairest_server.room.state import ABANDONED_SECONDS
from fairest_server.settings import Settings
from fairest_server.store import keys

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
DAY_HOURS = 24

ROOM_BYTES = 5_000
"""A room that was created and left, in Redis; `test_address_limits.py` measures one."""
PLAYER_BYTES = 320
"""A player and its name; docs/operations.md has the measurement of these and the next two."""
RECORD_BYTES = 41_000
"""The largest record of a round: senior, with two decks."""
LONGEST_RECORD_BYTES = 2 * 2**20
"""The record of a whole match, by docs/protocol.md."""
ROUND_LOG_BYTES = 14_000
"""The largest log of a round, likewise."""
CONNECTION_BYTES = 15_500
"""A connection that sends and receives nothing."""
UNHANDLED_BYTES = 65_536
"""One read of a socket, which is not read again before these are handled."""
MESSAGE_SECONDS = 0.000_1
"""The CPU time of a dear message that counts as one: an accepted move, or a page of the lobby, take 60 us."""


def longest(option: str) -> int:
    """Return the largest value that the creator of a room may choose."""
    limits = [limit.le for limit in RoomOptions.model_fields[option].metadata if hasattr(limit, "le")]
    return int(limits[0])


def opened_within(settings: Settings, seconds: float) -> int:
    """Return how many rooms one address may open in this time, which may touch one window more than it fills."""
    return (math.ceil(seconds / keys.OPENED_SECONDS) + 1) * settings.rooms_per_address


def rounds_within(settings: Settings, hours: float) -> float:
    """Return how many rounds may begin in this time, all of whose players are at one address."""
    return settings.rounds_per_address * (1 + hours) / 2


def empty_rooms(settings: Settings) -> float:
    """Return the bytes of rooms whose creators were disconnected, each for as long as it may be."""
    seconds = longest("grace_seconds") + ABANDONED_SECONDS + OVERDUE_MS / 1000 + UNRACED_LOG_SECONDS
    return opened_within(settings, seconds) * ROOM_BYTES


def raced_rooms(settings: Settings) -> float:
    """Return the bytes of the logs of rooms that were raced in, until the last of them is deleted."""
    seconds = longest("grace_seconds") + longest("idle_seconds") + OVERDUE_MS / 1000 + settings.closed_room_seconds
    return rounds_within(settings, seconds / 3_600) * ROUND_LOG_BYTES + opened_within(settings, seconds) * ROOM_BYTES


def players(settings: Settings) -> float:
    """Return the bytes of players that never come a second time."""
    return settings.players_per_address * (1 + keys.NEW_PLAYER_SECONDS / 3_600) * PLAYER_BYTES


def records_of_a_day(settings: Settings) -> float:
    """Return the bytes of the records of a day."""
    return rounds_within(settings, DAY_HOURS) * RECORD_BYTES


def process_memory(settings: Settings) -> float:
    """Return the bytes that the connections of one address may take in a process."""
    return (settings.connections_per_address + SPARE) * (CONNECTION_BYTES + settings.max_unsent_bytes + UNHANDLED_BYTES)


def record_answers(settings: Settings) -> float:
    """Return the bytes of records on their way to the clients of one address, none of which reads."""
    return settings.messages_burst / LOG_READ_TOKENS * LONGEST_RECORD_BYTES


def processor(settings: Settings) -> float:
    """Return the part of a processor that the messages of one address may take, in percent."""
    return settings.connections_per_address * settings.messages_per_second * MESSAGE_SECONDS * 100


def stated(row: str) -> float:
    """Return the figure of a row of the table."""
    found = re.search(rf"^\| {row} \|.*\| ([\d.]+) (?:MB|GB|%)[^|]*\|$", PAGE.read_text(), re.MULTILINE)
    assert found, row
    return float(found[1])


@pytest.mark.parametrize(
    ("row", "cost", "unit"),
    [
        ("rooms created and left", empty_rooms, 1e6),
        ("rooms that were raced in", raced_rooms, 1e6),
        ("new players", players, 1e6),
        ("records", records_of_a_day, 1e9),
        ("connections", process_memory, 1e6),
        ("answers with records over HTTP", record_answers, 1e6),
        ("messages", processor, 1),
    ],
)
def test_the_cost_of_one_address_is_the_sum_of_the_limits(
    row: str, cost: Callable[[Settings], float], unit: float
) -> None:
    assert stated(row) == pytest.approx(cost(Settings()) / unit, rel=0.05)


def promises() -> list[list[str]]:
    """Return the cells of each row of the table of promises."""
    table = PAGE.read_text().partition("| promise |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@cache
def functions_in(path: str) -> frozenset[str]:
    """Return the names of the functions of a file of tests; none if there is no such file."""
    file = ROOT / "tests" / path
    text = file.read_text() if file.is_file() else ""
    return frozenset(re.findall(r"^(?:async )?def (\w+)\(", text, re.MULTILINE))


def faults(row: list[str]) -> list[str]:
    """Return the tests of a promise that do not exist, or what else is wrong with its row."""
    if len(row) != 4 or not all(row):
        return ["a cell is empty or missing"]
    named = [name.partition("::") for name in re.findall(r"`([^`]+)`", row[3])]
    return ["no test"] if not named else [test for path, _, test in named if test not in functions_in(path)]


def test_every_promise_has_an_attack_and_tests_that_exist() -> None:
    rows = promises()
    assert rows
    assert {": ".join(row[:2]): found for row in rows if (found := faults(row))} == {}
