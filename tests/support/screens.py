"""The main screens of the program, each on a room from a fixed seed, for snapshots and pictures of them all."""

from collections.abc import Awaitable, Callable
from typing import Final

from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.app import screen_of
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.screens.help import HelpScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.settings import Keys
from fairest_protocol.messages.options import RoomOptions
from tests.support import staged
from tests.support.full_screen import Terminal

SENIOR: Final = RoomOptions(rules="senior", piles=8)


async def home(player: Terminal) -> None:
    """Wait for the home screen, which the program opens first."""
    await player.pilot.pause()


async def help_page(player: Terminal) -> None:
    """Open the page with the keys and the rules, over the home screen once that is drawn."""
    await player.pilot.pause()
    await player.app.push_screen(HelpScreen(Keys.LETTERS, None))


async def replay(player: Terminal) -> None:
    """Open the replay of a finished match in its middle."""
    record = staged.finished().record()
    await player.app.push_screen(ReplayScreen(record, timeline_of(record).sought(0.5)))


def room(make_session: Callable[[], RoomSession]) -> Callable[[Terminal], Awaitable[None]]:
    """Return a function that opens the screen for the present phase of a staged room."""

    async def enter(player: Terminal) -> None:
        session = make_session()
        kind = screen_of(session)
        assert kind is not None
        player.app.rooms.session = session
        await player.app.push_screen(kind(session))

    return enter


SCREENS: Final[dict[str, Callable[[Terminal], Awaitable[None]]]] = {
    "home": home,
    "help": help_page,
    "waiting": room(lambda: staged.waiting().session()),
    "ready": room(lambda: staged.getting_ready().session()),
    "countdown": room(lambda: staged.counting_down().session()),
    "race": room(lambda: staged.racing().session()),
    "senior": room(lambda: staged.racing((70, 60), SENIOR).session()),
    "watch": room(lambda: staged.racing().session(None)),
    "result": room(lambda: staged.finished().session()),
    "replay": replay,
}
"""Each brings a terminal to a screen."""
