"""The choice of TV among the rooms of a lobby, and when it goes on to the next."""

import random

import pytest

from fairest_cli.session.tv import choose_match
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom
from fairest_protocol.messages.options import Spectators
from tests.support.page_modules import ask_page
from tests.support.races import make_listed_room

RACING = {"phase": Phase.RACING, "names": ("ann", "bob")}


def random_lobby(chance: random.Random) -> list[ListedRoom]:
    rooms = [
        make_listed_room(
            number,
            phase=chance.choice([Phase.RACING, Phase.RACING, Phase.WAITING, Phase.COUNTDOWN, Phase.FINISHED]),
            spectators=chance.choice(list(Spectators)),
            best_of=chance.choice([1, 3, 5]),
            wins=(chance.randrange(2), chance.randrange(2)),
            since_ms=chance.randrange(3),
        )
        for number in range(chance.randrange(12))
    ]
    chance.shuffle(rooms)
    return rooms


def test_a_lobby_without_a_race_that_may_be_watched_has_no_match_for_tv() -> None:
    rooms = [make_listed_room(0), make_listed_room(1, **RACING, spectators=Spectators.CLOSED)]
    assert choose_match(rooms) is None


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"best_of": 3}, {"best_of": 1, "since_ms": 9}),
        ({"best_of": 3, "wins": (1, 0)}, {"best_of": 3, "since_ms": 9}),
        ({"since_ms": 9}, {"since_ms": 8}),
    ],
)
def test_the_longer_the_further_and_the_newer_match_is_better(
    better: dict[str, object], worse: dict[str, object]
) -> None:
    one, other = make_listed_room(0, **RACING | better), make_listed_room(1, **RACING | worse)
    assert [choose_match(rooms) for rooms in ([one, other], [other, one])] == [one, one]


def test_the_page_for_browsers_chooses_the_same() -> None:
    chance = random.Random(7)
    lobbies = [random_lobby(chance) for _ in range(60)]
    chosen = [choose_match(rooms) for rooms in lobbies]
    asked = [{"ask": "tv", "rooms": [room.model_dump(mode="json") for room in rooms]} for rooms in lobbies]
    assert ask_page(asked) == [room.room if room else None for room in chosen]
