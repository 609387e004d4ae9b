"""Make the screenshots in the README from a staged race, which is the same each time.

`python docs/screenshots.py` writes them into docs/.
"""

import asyncio
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.app import FairestApp, screen_of
from fairest_cli.tui.launch import AtHome
from tests.support import staged

DOCS = Path(__file__).parent
COLUMNS, LINES = 116, 34


async def take(session: RoomSession, name: str, title: str) -> None:
    """Write a screenshot of the screen for `session` to the file `name` in docs/."""
    kind = screen_of(session)
    assert kind is not None, "the room is there"
    with tempfile.TemporaryDirectory() as folder:
        app = FairestApp(AtHome(), settings_file=Path(folder) / "settings.json", crash_folder=Path(folder))
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            app.rooms.session = session
            await app.push_screen(kind(session))
            await pilot.pause()
            svg = app.export_screenshot(title=title)
    # Rich derives an id from the hash of objects, which differs each time.
    number = re.search(r"terminal-(\d+)-", svg)
    assert number is not None, "the id is in the form that Rich 15 writes"
    path = DOCS / name
    path.write_text(svg.replace(number[1], "1"))
    print(path)


async def main() -> None:
    """Write all screenshots."""
    await take(staged.racing((42, 34)).session(), "race.svg", "fairest play")
    await take(staged.finished().session(), "result.svg", "fairest play")


asyncio.run(main())
