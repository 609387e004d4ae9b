"""A client raises no alarm in an honest room, whatever the network does."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from fairest_cli.records.receipt_replay import replay_receipt
from fairest_cli.records.receipts import read_receipt
from tests.support.honest_room import HonestRoom
from tests.support.long_tests import parametrize_with_long
from tests.support.random_rooms import play_at_random

ACTIONS = 120


def play(seed: int) -> HonestRoom:
    """Play a room to its end. Raises `Cheated` or `Contradiction` for a false alarm of one of its clients."""
    room = play_at_random(HonestRoom, seed, ACTIONS)
    room.end()
    return room


@parametrize_with_long("seed", range(24), quick=4)
def test_an_honest_room_raises_no_alarm(seed: int) -> None:
    play(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24, 224))
def test_two_hundred_more_honest_rooms_raise_no_alarm(seed: int) -> None:
    play(seed)


@parametrize_with_long("seed", range(12), quick=2)
def test_the_receipts_of_an_honest_room_raise_no_alarm(seed: int, tmp_path: Path) -> None:
    room = play_at_random(partial(HonestRoom, receipts=tmp_path), seed, ACTIONS)
    room.end()
    steps = [step for path in sorted(tmp_path.glob("*/*.jsonl")) for step in replay_receipt(read_receipt(path))]
    assert steps


@pytest.mark.long
def test_logs_of_honest_rooms_are_cut() -> None:
    assert sum(play(seed).cuts for seed in range(6)) > 5


@pytest.mark.long
def test_honest_rooms_end_rounds_in_many_ways() -> None:
    ends = Counter(end for seed in range(12) for client in play(seed).clients.values() for end in client.ends)
    assert ends["proved"] > 5 and len(ends) > 5
