"""Make the pictures in the README and on the pages from a staged race, which is the same each time.

`python docs/screenshots.py` writes them into docs/.
"""

import asyncio
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from docs.moving_picture import join_screenshots
from fairest_cli.bots.policies import choose_greedy
from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.app import FairestApp, screen_of
from fairest_cli.tui.launch import AtHome
from fairest_protocol.messages.fields import Phase
from tests.support import staged
from tests.support.races import Table

DOCS: Final = Path(__file__).parent
COLUMNS, LINES = 116, 34
TITLE: Final = "fairest play"
FRAME_SECONDS, LAST_SECONDS = 0.7, 5.0
UNCHANGED: Final = 4
"""Screenshots that must be the same before the last of them is taken for that of the whole screen."""
BETWEEN_SECONDS: Final = 0.05
"""Between two of them: on a busy machine the screen may draw nothing for a moment, and go on then."""
MOVES_PER_FRAME: Final = 4
"""Moves of the viewer between two frames of the moving picture. The opponent makes two for each three of them."""


async def take(session: RoomSession) -> str:
    """Return a screenshot of the screen for `session`."""
    kind = screen_of(session)
    assert kind is not None, "the room is there"
    with tempfile.TemporaryDirectory() as folder:
        app = FairestApp(AtHome(), settings_file=Path(folder) / "settings.json", crash_folder=Path(folder))
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            app.rooms.session = session
            await app.push_screen(kind(session))
            shots: list[str] = []
            while len(shots) < UNCHANGED or len(set(shots[-UNCHANGED:])) > 1:
                await pilot.pause(BETWEEN_SECONDS)
                shots.append(app.export_screenshot(title=TITLE))
            svg = shots[-1]
    # Rich derives an id from the hash of objects, which differs each time.
    number = re.search(r"terminal-(\d+)-", svg)
    assert number is not None, "the id is in the form that Rich 15 writes"
    return svg.replace(number[1], "1")


def moments() -> Iterator[RoomSession]:
    """Yield the sessions of a race from the first card to the result, some moves apart."""
    table, chance = Table(staged.SEED), random.Random(staged.SEED)
    table.start()
    made = 0
    while table.state.phase is Phase.RACING:
        if made % MOVES_PER_FRAME == 0:
            yield staged.StagedRoom(table).session()
        for seat in (0, 1) if made % 3 else (0,):
            race = table.state.race
            if table.state.phase is Phase.RACING and race is not None and not race.racers[seat].ending:
                table.play(seat, choose_greedy(race.racers[seat].board, chance))
        made += 1
    yield staged.StagedRoom(table).session()


async def draw_pictures() -> dict[str, str]:
    """Return all pictures by the names of their files."""
    shots = [await take(session) for session in moments()]
    return {
        "race.svg": await take(staged.racing((42, 34)).session()),
        "result.svg": await take(staged.finished().session()),
        "race-moving.svg": join_screenshots(shots, FRAME_SECONDS, LAST_SECONDS),
    }


async def main() -> None:
    """Write all pictures."""
    for name, svg in (await draw_pictures()).items():
        (DOCS / name).write_text(svg, "utf-8")
        print(DOCS / name)


if __name__ == "__main__":
    asyncio.run(main())
