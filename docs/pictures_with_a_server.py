"""The screens that show what a server has answered, for `docs/pictures.py`: without a server, from staged answers."""

from collections.abc import Awaitable, Callable
from typing import Final

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.screens.daily import DailyScreen
from fairest_cli.tui.screens.daily_form import DailyForm
from fairest_cli.tui.screens.queue_form import QueueForm
from fairest_cli.tui.screens.ratings import RatingsScreen
from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.messages.from_client import Queue
from fairest_protocol.messages.from_server import Queued
from fairest_protocol.messages.ratings import Leaderboard, RankedPlayer
from fairest_protocol.value import replace
from tests.support import staged
from tests.support.daily import staged_attempt
from tests.support.full_screen import Terminal
from tests.support.screens import room


def credited() -> RoomSession:
    """Return a session whose race has ended with a ledger of credit, before the record came."""
    session = staged.finished().session()
    end = session.finished
    assert end is not None and end.scene is not None and end.scene.outcome is not None
    ledger = Timing(95_000, 2_100, 92_900, 41_000), Timing(96_400, 6_300, 90_100, 123_000)
    outcome = replace(end.scene.outcome, ledger=ledger)
    session.finished = replace(end, scene=end.scene.model_copy(update={"outcome": outcome}))
    return session


def queued() -> RoomSession:
    """Return the session of a player who has waited for 75 seconds, with two others."""
    connection = Connection("ws://127.0.0.1:8765", Identity(), Queue())
    model = KnownRoom().with_status(ConnectionStatus.CONNECTED)
    connection.model = replace(model, queued=Queued(rules="classic", since_ms=0, waiting=3))
    return RoomSession(connection, clock=lambda: 75_000)


async def leaderboard(player: Terminal) -> None:
    """Open the leaderboard with players of all lengths of names."""
    names = ("ann", "bob_the_builder", "x" * 20, *(f"player{number}" for number in range(4, 31)))
    players = tuple(
        RankedPlayer(
            place=place,
            name=name,
            rating=2_000 - 31 * place,
            deviation=60 + place,
            rounds=20 + 7 * place,
            wins=12 + 3 * place,
            draws=place % 3,
            streak=6 - place,
        )
        for place, name in enumerate(names, 1)
    )
    screen = RatingsScreen("ws://127.0.0.1:9")
    await player.app.push_screen(screen)
    await player.sees("No server answers")
    screen.show_board(Leaderboard(rules="classic", page=0, pages=3, total=90, players=players))


async def daily(player: Terminal) -> None:
    """Open an attempt at the daily deal after some moves."""
    await attempt(player, 12)


async def daily_result(player: Terminal) -> None:
    """Open an attempt at the daily deal that is over."""
    await attempt(player, None)


async def attempt(player: Terminal, count: int | None) -> None:
    """Open an attempt at the daily deal after `count` moves, None for a whole one."""
    screen = DailyScreen(choose_rules("classic"), "ws://127.0.0.1:9", "ann")
    await player.app.push_screen(screen)
    await player.sees("No server answers")
    screen.game = staged_attempt(count)
    screen.draw()
    screen.show_notice("Go! Your time goes on, whatever happens.")


WITH_A_SERVER: Final[dict[str, Callable[[Terminal], Awaitable[None]]]] = {
    "result-credited": room(credited),
    "queue-form": lambda player: player.app.push_screen(QueueForm()),
    "queue": room(queued),
    "leaderboard": leaderboard,
    "daily-form": lambda player: player.app.push_screen(DailyForm("ws://127.0.0.1:9", "ann", player.app.clock)),
    "daily": daily,
    "daily-result": daily_result,
}
"""Each brings a terminal to a screen."""
