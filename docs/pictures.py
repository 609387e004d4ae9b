"""Make a picture of every screen at every size and in every look, to be looked at side by side.

`python docs/pictures.py FOLDER` writes them as SVG files, and index.html with all of them; names of screens behind the
folder choose some. The text of the main screens is held by the snapshots in tests/client/tui/snapshots; these pictures
are for what text does not show: colours, use of space, and whether a screen is read at a glance.
"""

import argparse
import asyncio
import html
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from rich.color import Color, ColorSystem
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from textual.color import Color as ScreenColor

from docs.pictures_with_a_server import WITH_A_SERVER
from fairest_cli.model.practice import play, start_practice, undo
from fairest_cli.records.files import records_folder
from fairest_cli.session.connection import Update
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.letters import as_ascii
from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.board.winning_line_timeline import winning_line_timeline
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.cheat_alert import CheatAlert
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.practice_form import PracticeForm
from fairest_cli.tui.screens.practice_menu import PracticeMenu
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt
from fairest_cli.tui.screens.room_form import RoomForm
from fairest_cli.tui.screens.rules import RulesScreen
from fairest_cli.tui.screens.settings import SettingsScreen
from fairest_cli.tui.screens.solution import SolutionScreen
from fairest_cli.tui.screens.tutorial import TutorialScreen
from fairest_protocol.calculation.moves import MOVES, STOP
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.messages import entries
from fairest_protocol.messages.from_server import View
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.full_screen import Terminal
from tests.support.records import make_record, text_of
from tests.support.screens import SCREENS, room

SIZES: Final = ((50, 16), (60, 20), (80, 24), (120, 40), (200, 60))
Show = Callable[[Terminal], Awaitable[None]]


async def sequences(player: Terminal) -> None:
    """Show the whole sequences in a race, as Tab does."""
    await SCREENS["race"](player)
    await player.pilot.pause()
    await player.press("tab")


async def race_menu(player: Terminal) -> None:
    """Open the menu over a race."""
    await SCREENS["race"](player)
    await player.pilot.pause()
    await player.app.push_screen(RaceMenu(uses_local_server=False))


async def save_prompt(player: Terminal) -> None:
    """Ask for a folder on the result screen, after a disk that was full."""
    session = staged.finished().session()
    session.problem = "The record could not be saved: No space left on device."
    await room(lambda: session)(player)
    await player.press("w")


async def wrong_code(player: Terminal) -> None:
    """Refuse a room code that cannot be one."""
    await player.app.push_screen(RoomCodePrompt("join", "otter"))
    await player.press("enter")


async def no_history(player: Terminal) -> None:
    """Open the list of past matches in a folder of its own, which is empty."""
    await player.app.push_screen(HistoryScreen())


async def history(player: Terminal) -> None:
    """Open the list of past matches, with some records of the player that plays as ann."""
    player.app.apply_settings(replace(player.app.settings, name="ann"))
    records_folder().mkdir(parents=True)
    for seed in range(1, 13):
        text = text_of(make_record(seed, 1_790_000_000_000 + seed * 86_400_000))
        (records_folder() / f"{seed:03}.jsonl").write_text(text)
    await player.app.push_screen(HistoryScreen())
    await player.sees("Enter")


async def practice(player: Terminal) -> None:
    """Open a practice game after some moves, with a hint."""
    game = start_practice(choose_rules("classic"), "a picture")
    for move in ("sa", "sb", "sc", "sa", "sd", "sb", "sc"):
        game = play(game, MOVES[move])
    await player.app.push_screen(PracticeScreen(undo(game)))


async def open_practice(player: Terminal) -> None:
    """Open a practice game with an open stock, in the variant with most piles."""
    game = start_practice(choose_rules("senior", 8), "a picture", shows_stock=True)
    for move in ("sa", "sb", "sc", "sd", "se", "sf", "sg", "sh"):
        game = play(game, MOVES[move])
    await player.app.push_screen(PracticeScreen(game))


async def tutorial(player: Terminal) -> None:
    """Open the tutorial at a step in its middle."""
    await player.app.push_screen(TutorialScreen())
    await player.press("2")


async def asked(player: Terminal) -> None:
    """Be asked to finish in a race."""
    room_now = staged.racing((24, 40))
    room_now.table.play(1, STOP)
    session = room_now.session()
    await room(lambda: session)(player)
    ask = View(position=session.model.position, tag="00000000", entries=(entries.FinishAsked(seat=1),))
    screen = player.app.screen
    assert isinstance(screen, RaceScreen)
    screen.show_update(session.model, Update(session.model, ask))


def own_end() -> RoomSession:
    """Return a session whose player has stopped, while the other one goes on."""
    room_now = staged.racing((40, 24))
    room_now.table.play(0, STOP)
    return room_now.session()


async def solution(player: Terminal) -> None:
    """Step to the middle of a line that wins."""
    timeline = await winning_line_timeline(make_record(3))
    assert timeline is not None
    await player.app.push_screen(SolutionScreen(timeline.sought(0.5)))


ALL: Final[dict[str, Show]] = {
    **SCREENS,
    **WITH_A_SERVER,
    "race-late": room(lambda: staged.racing((42, 34)).session()),
    "sequences": sequences,
    "race-menu": race_menu,
    "room-form": lambda player: player.app.push_screen(RoomForm(is_against_bot=False)),
    "bot-form": lambda player: player.app.push_screen(RoomForm(is_against_bot=True)),
    "wrong-code": wrong_code,
    "save-prompt": save_prompt,
    "history": history,
    "no-history": no_history,
    "practice": practice,
    "open-practice": open_practice,
    "practice-menu": lambda player: player.app.push_screen(PracticeMenu(is_over=False)),
    "practice-form": lambda player: player.app.push_screen(PracticeForm()),
    "tutorial-start": lambda player: player.app.push_screen(TutorialScreen()),
    "tutorial": tutorial,
    "asked": asked,
    "own-end": room(own_end),
    "solution": solution,
    "rules": lambda player: player.app.push_screen(RulesScreen()),
    "settings": lambda player: player.app.push_screen(SettingsScreen()),
    "lobby": lambda player: player.app.push_screen(LobbyScreen("ws://127.0.0.1:9")),
    "cheat-alert": lambda player: player.app.push_screen(CheatAlert(["The seal is broken.", "Keep your receipt."])),
}
"""Every screen, with a function that brings a terminal to it."""


def in_colour(svg: str) -> str:
    """Return the picture as it is."""
    return svg


def in_16_colours(svg: str) -> str:
    """Return the picture in the colours of a terminal that has 16, each replaced as Textual does."""
    return _recoloured(svg, lambda red, green, blue: _nearest_of_16(Color.from_rgb(red, green, blue)))


def without_colour(svg: str) -> str:
    """Return the picture in greys, as with NO_COLOR."""
    return _recoloured(svg, lambda red, green, blue: ScreenColor(red, green, blue).monochrome.rgb)


LOOKS: Final[dict[str, tuple[bool, Callable[[str], str]]]] = {
    "colour": (True, in_colour),
    "16 colours": (True, in_16_colours),
    "no colour": (True, without_colour),
    "ASCII": (False, as_ascii),
}
"""Each look: whether the terminal shows Unicode, and what becomes of the picture."""


def _nearest_of_16(colour: Color) -> tuple[int, int, int]:
    nearest = colour.downgrade(ColorSystem.STANDARD).get_truecolor(DEFAULT_TERMINAL_THEME)
    return nearest.red, nearest.green, nearest.blue


def _recoloured(svg: str, change: Callable[[int, int, int], tuple[int, int, int]]) -> str:
    def replace(match: re.Match[str]) -> str:
        red, green, blue = change(*(int(match[1][place : place + 2], 16) for place in (0, 2, 4)))
        return f"#{red:02x}{green:02x}{blue:02x}"

    return re.sub(r"#([0-9a-fA-F]{6})\b", replace, svg)


async def draw(show: Show, columns: int, lines: int, *, shows_unicode: bool) -> str:
    """Return a screen of that size as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # Records are read from the data folder of the user.
        os.environ["XDG_DATA_HOME"] = folder
        app = FairestApp(
            AtHome(), settings_file=place / "settings.json", crash_folder=place, shows_unicode=shows_unicode
        )
        async with app.run_test(size=(columns, lines)) as pilot:
            await show(Terminal(app, pilot))
            svg, before = "", None
            # On a busy machine a pause may end before the screen is drawn to its end.
            while svg != before:
                await pilot.pause()
                before, svg = svg, app.export_screenshot(title="fairest")
    return svg


async def draw_all(folder: Path, names: Sequence[str]) -> None:
    """Write the pictures of the screens called `names`, and the page with all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for columns, lines in SIZES:
            drawn = {yes: await draw(ALL[name], columns, lines, shows_unicode=yes) for yes in (True, False)}
            for look, (shows_unicode, change) in LOOKS.items():
                (folder / _file(name, columns, lines, look)).write_text(change(drawn[shows_unicode]), "utf-8")
        print(name, flush=True)
    (folder / "index.html").write_text("\n".join(_page(names)), "utf-8")
    print(folder / "index.html")


def _file(name: str, columns: int, lines: int, look: str) -> str:
    return f"{name}-{columns}x{lines}-{look.replace(' ', '-').lower()}.svg"


def _page(names: Sequence[str]) -> Iterator[str]:
    yield '<!DOCTYPE html><meta charset="utf-8"><title>Fairest: every screen</title>'
    yield "<style>body { background: #888; font: 14px sans-serif } img { width: 100% } td { width: 25% }</style>"
    for name in names:
        yield f"<h2>{html.escape(name)}</h2><table><tr>"
        yield "".join(f"<th>{html.escape(look)}</th>" for look in LOOKS)
        for columns, lines in SIZES:
            files = [_file(name, columns, lines, look) for look in LOOKS]
            cells = "".join(f'<td><a href="{file}"><img src="{file}" loading="lazy"></a></td>' for file in files)
            yield f'</tr><tr><th colspan="{len(LOOKS)}">{columns} by {lines}</th></tr><tr>{cells}'
        yield "</tr></table>"


def main() -> None:
    """Read the command line and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help=f"screens: {', '.join(ALL)}", default=list(ALL))
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(ALL)
    if unknown:
        parser.error(f"there is no screen called {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    asyncio.run(draw_all(chosen.folder, chosen.names))


if __name__ == "__main__":
    main()
