"""Servers that follow a script and send anything at any time; a real client stops at each.

Each script chooses the deck, or hides that the deck was chosen, in a way that an earlier client did not detect.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.model.cheated import Cheated
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Hello, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Welcome
from tests.support.races import KEY
from tests.support.scripted_server import (
    LATER,
    OPTIONS,
    OTHER_SECRET,
    ROUND,
    SECRET,
    THEIRS,
    Script,
    bob_is_ready,
    dealt,
    opened,
    turned,
)
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.wire_client import QUICK

Scripted = Callable[[Script], Coroutine[Any, Any, None]]


async def meet(script: Scripted) -> list[Script]:
    """Connect a real client to the script until the client ends; return the script of each connection.

    Raises the exception that ends the client.
    """
    met: list[Script] = []

    async def handle(websocket: ServerConnection) -> None:
        met.append(Script(websocket))
        try:
            await script(met[-1])
            await met[-1].receive()
        except ConnectionClosed:
            return

    async with serve(handle, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = Connection(url, Identity(), Create(options=QUICK), gives_up_after=1)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await play_match(client, Level.CARELESS, random.Random(1), 0)
    return met


async def gets_us_ready(script: Script) -> None:
    await script.enter()
    ours = entries.PlayerReady(seat=0, entropy_hash=commit_entropy(ROUND, 0, THEIRS))
    await script.show(opened(), ours, bob_is_ready())


async def shows_nothing_to_be_bound_to(script: Script) -> None:
    await script.greet()
    await script.show_scene(phase=Phase.READY, round=ROUND, round_number=1)


async def shows_a_room_without_a_welcome(script: Script) -> None:
    await script.receive(Hello)
    await script.show_scene()


async def welcomes_us_twice(script: Script) -> None:
    await script.enter()
    await script.send(Welcome(name="ann", token=None, key=bytes(32), now_ms=LATER, version="0.2.0"))


async def makes_another_room(script: Script) -> None:
    await script.greet()
    await script.show_scene(options=OPTIONS.model_copy(update={"limit_seconds": 10}))


async def sends_a_snapshot_in_between(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.bind()
    await script.show_scene()


async def calls_a_round_off_that_it_does_not_like(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.bind()
    await script.reveal()
    await script.show(entries.RoundVoided(round=ROUND, secret=SECRET))


async def opens_the_same_round_again(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.receive(Ready)
    await script.show(entries.RoundVoided(round=ROUND, secret=SECRET))
    await script.open_round(OTHER_SECRET)


async def deals_for_fewer_piles(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.bind()
    await script.show(dealt(await script.reveal(), piles=1))


async def deals_twice(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.bind()
    sealed = await script.reveal()
    await script.show(dealt(sealed))
    await script.show(dealt(sealed))


async def counts_passes_up_to_choose_cards(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.bind()
    sealed = await script.reveal()
    await script.show(dealt(sealed), entries.Started(until_ms=LATER), turned(sealed, 0))
    play: Play = await script.receive(Play)
    moved = entries.Moved(seat=0, number=1, move=play.move, card=sealed.deal.orders[0][0])
    await script.show(moved, turned(sealed, 7, pass_number=1))


async def lies_about_the_result(script: Script) -> None:
    await script.enter()
    await script.open_round()
    await script.bind()
    sealed = await script.reveal()
    await script.show(dealt(sealed), entries.Started(until_ms=LATER))
    scores = (Score(4, 52, 0, 0, Ending.ROUND_OVER), Score(52, 52, 0, 48, Ending.WON))
    finished = entries.RoundFinished(
        outcome=Outcome(1, scores), wins=(0, 1), match_is_over=True, duration_ms=1, secret=SECRET
    )
    await script.show(finished)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (gets_us_ready, "another entropy hash for us than the one that we sent"),
        (shows_nothing_to_be_bound_to, "opened a round without committing itself"),
        (shows_a_room_without_a_welcome, "shows a room before it has welcomed us"),
        (welcomes_us_twice, "it welcomes us twice"),
        (makes_another_room, "made another room than the one that was asked for"),
        (sends_a_snapshot_in_between, "a snapshot that nobody asked for"),
        (calls_a_round_off_that_it_does_not_like, "calls off a round to which both players were committed"),
        (opens_the_same_round_again, "opens a round again that it had opened before"),
        (deals_for_fewer_piles, "deals for other rules than those of the room"),
        (deals_twice, "deals a second time"),
        (counts_passes_up_to_choose_cards, "turns the card at position 8 of redeal 1 after the one at position 1"),
        (lies_about_the_result, "counts other cards for seat 2 than it has placed"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_a_client_stops_at_a_message_that_no_honest_server_sends(script: Scripted, sentence: str) -> None:
    with pytest.raises((Cheated, Rejected), match=sentence):
        await meet(script)


async def test_a_client_does_not_show_its_entropy_before_the_other_is_bound() -> None:
    """The scene is in the dealing phase, but the client has not seen the other player's hash."""
    scripts: list[Script] = []

    async def script(one: Script) -> None:
        scripts.append(one)
        if len(scripts) == 1:
            await one.enter()
            await one.open_round()
            ready = await one.receive(Ready)
            await one.show(entries.PlayerReady(seat=0, entropy_hash=ready.entropy_hash))
            await one.websocket.close()
            return
        await one.greet()
        ours = next(word for word in scripts[0].received if isinstance(word, Ready))
        await one.show_round(Phase.DEALING, ours.entropy_hash)
        await one.send(Welcome(name="ann", token=None, key=KEY.public, now_ms=LATER, version="0.2.0"))

    with pytest.raises(Cheated, match="welcomes us twice"):
        await meet(script)
    assert not [word for one in scripts for word in one.received if isinstance(word, Reveal)]


async def test_a_round_that_both_were_bound_to_cannot_be_dropped_by_a_lost_connection() -> None:
    async def script(one: Script) -> None:
        await one.greet()
        if isinstance(one.received[-1], Create):
            await one.show_scene()
            await one.open_round()
            await one.bind()
            await one.websocket.close()
        else:
            await one.show_scene()

    with pytest.raises(Cheated, match="dropped a round to which both players were committed"):
        await meet(script)


async def test_a_hash_of_ours_cannot_be_swapped_by_a_lost_connection() -> None:
    async def script(one: Script) -> None:
        await one.greet()
        if isinstance(one.received[-1], Create):
            await one.show_scene()
            await one.open_round()
            await one.receive(Ready)
            await one.websocket.close()
            return
        await one.show_round(Phase.READY, commit_entropy(ROUND, 0, THEIRS))

    with pytest.raises(Cheated, match="another entropy hash for us than the one that we sent"):
        await meet(script)
