"""The clients of a load take the messages of a server as a player's client does."""

import random
from typing import Any

import pytest

from fairest_server.load.clients import Racer
from fairest_server.load.websocket_client import parse_target

WATCHING = b'{"type":"watching","watching":10}'
URL = "ws://127.0.0.1:8765"


class Refusing(Racer):
    """A player that notes what it takes for a refusal or for the answer to `resume`."""

    def __init__(self) -> None:
        super().__init__(parse_target(URL), random.Random(1), None, 0.0)
        self.taken: list[Any] = []

    def on_refused(self, message: dict[str, Any]) -> None:
        self.taken.append(message)

    def on_resumed(self, payload: bytes) -> None:
        self.taken.append(payload)


@pytest.mark.parametrize("is_resuming", [False, True], ids=("connected", "resuming"))
@pytest.mark.parametrize("is_racing", [False, True], ids=("before the race", "in the race"))
async def test_a_player_does_not_take_the_number_of_spectators_for_an_answer(
    is_racing: bool, is_resuming: bool
) -> None:
    player = Refusing()
    player.is_racing, player.is_resuming = is_racing, is_resuming
    player.on_text(WATCHING)
    assert (player.taken, player.is_resuming) == ([], is_resuming)
