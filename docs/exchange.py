"""Record the exchange at the end of docs/protocol.md anew, from a real race.

`python docs/exchange.py` starts a server, lets two clients race, and writes what one of them sent and received into the
page. It is another race each time, so run it only when a message has changed.
"""

import asyncio
import json
import random
import re
import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import Message, Phase
from fairest_protocol.messages.from_client import Create, GetRecord, Hello, Join, Leave, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Left, MatchRecord, Refused, Snapshot, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_server.app import running
from fairest_server.settings import Settings
from tests.support.processes import redis_process
from tests.support.wire_client import WireClient, open_client, open_raw_client

PAGE: Final = Path(__file__).parent / "protocol.md"
HEADING: Final = "## A whole exchange"
SHOWN_MOVES: Final = 2
"""The first moves are shown, and the last one."""
SHOWN_ENVELOPES: Final = 2
RULES: Final = RoomOptions(rules="classic", countdown_seconds=0)


class Noted:
    """A client with a list of everything that it sent and received, as the page shows it."""

    def __init__(self, client: WireClient) -> None:
        self.client = client
        self.lines: list[str] = []

    async def send(self, message: Message) -> None:
        """Send a message without the fields that have their defaults."""
        self.note_received()
        text = json.dumps(
            {"type": message.model_dump()["type"], **message.model_dump(mode="json", exclude_unset=True)},
            separators=(",", ":"),
        )
        self.lines.append(f"> {text}")
        await self.client.send(text)

    def note_received(self) -> None:
        """Note what was received and not noted yet."""
        self.lines += [f"< {_shortened(frame)}" for frame in self.client.frames]
        self.client.frames.clear()


def _shortened(frame: str) -> str:
    """Return a frame without most envelopes and lines of a record: `...` stands for them."""
    message = json.loads(frame)
    for entry in message.get("entries", ()):
        if entry["type"] == "dealt":
            entry["envelopes"] = _without_most(entry["envelopes"])
    if message["type"] == "record":
        heading, opened, first, *_, result, seal = message["lines"]
        shown = json.loads(opened)
        shown["envelopes"] = _without_most(shown["envelopes"])
        message["lines"] = [heading, json.dumps(shown, separators=(",", ":")), first, "...", result, seal]
    return json.dumps(message, separators=(",", ":"))


def _without_most(envelopes: list[list[Any]]) -> list[list[Any]]:
    return [[*sealed[:SHOWN_ENVELOPES], "..."] for sealed in envelopes]


async def _race(first: Noted, second: WireClient) -> list[str]:
    """Race to the end; return the lines of the first player without the moves in the middle."""
    chance, own, shown = random.Random(1), first.client, list[str]()
    for number in range(1_000):
        assert own.scene is not None
        seat = own.scene.seats[0]
        if own.scene.outcome is not None:
            break
        assert seat.board is not None
        if number >= SHOWN_MOVES:
            first.note_received()
            shown, first.lines = shown or [*first.lines, "..."], []
        move = choose_greedy(seat.board, chance)
        await first.send(Play(number=seat.moves + 1, move=move))
        await _receive_move(own, seat.moves + 1)
        if own.scene.outcome is None:
            await second.play(move.text)
        if own.scene.seats[0].has_stopped:
            await own.receive_until(lambda scene: scene.outcome is not None)
    first.note_received()
    return [*shown, *first.lines]


async def _receive_move(own: WireClient, number: int) -> None:
    await own.receive_until(lambda scene: scene.seats[0].moves >= number)


async def record_exchange(url: str) -> list[str]:
    """Let two clients race; return what the one in seat 0 sent and received, a line each."""
    async with open_raw_client(url) as own, open_client(url) as second:
        first = Noted(own)
        await first.send(Hello())
        await own.receive_a(Welcome)
        await first.send(Create(options=RULES))
        room = (await own.receive_a(Snapshot)).room
        await second.enter(Join(room=room))
        await asyncio.gather(_take_part(first), second.take_part_in_deal())
        await first.send(Play(number=1, move=MOVES["ab"]))
        await own.receive_a(Refused)
        first.lines = await _race(first, second)
        await first.send(GetRecord())
        await own.receive_a(MatchRecord)
        await first.send(Leave())
        await own.receive_a(Left)
        first.note_received()
        return first.lines


async def _take_part(first: Noted) -> None:
    own = first.client
    scene = await own.receive_until(lambda seen: seen.phase is Phase.READY)
    assert scene.round is not None
    entropy = random.randbytes(32)
    await first.send(Ready(round=scene.round, entropy_hash=commit_entropy(scene.round, 0, entropy)))
    await own.receive_until(lambda seen: seen.phase is Phase.DEALING)
    await first.send(Reveal(round=scene.round, entropy=entropy))
    await own.receive_until(lambda seen: seen.phase is Phase.RACING and own.board_is_dealt(seen))


async def main() -> None:
    """Record an exchange and write it into the page."""
    with redis_process() as process:
        async with running(Settings(port=0, redis_url=process.url)) as url:
            lines = await record_exchange(url)
    page, exchange = PAGE.read_text(), "\n".join(lines)
    head, heading, rest = page.partition(HEADING)
    written = re.sub(r"(?<=```text\n).*?(?=\n```)", lambda _: exchange, rest, count=1, flags=re.DOTALL)
    PAGE.write_text(head + heading + written)
    print(f"Wrote {len(lines)} lines of an exchange into docs/{PAGE.name}.")


if __name__ == "__main__":
    asyncio.run(main())
