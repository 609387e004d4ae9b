"""The main screens at three sizes, compared with the text files in `snapshots` character by character.

`make test` compares each screen at one size, and a race at all of them.

`pytest --new-snapshots` rewrites the files; read the difference before committing it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.board.card_style import PAPER
from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.messages.options import RoomOptions, Spectators
from tests.support import staged
from tests.support.full_screen import terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.screens import SCREENS, room
from tests.support.waiting import until

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = [(80, 24), (120, 40), (50, 12)]
TABLE_SIZES = [(50, 16), (60, 20), (200, 60)]
"""More sizes for the screens of a race and before it: the smallest, a small one, one with boards of the same size."""
GROWING = ("race", "senior", "waiting", "ready", "countdown")
OPEN = RoomOptions(spectators=Spectators.OPEN)


async def test_cards_are_drawn_as_ink_on_paper(tmp_path: Path) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await SCREENS["race"](player)
        await player.pilot.pause()
        top = player.app.screen.query_one("#pile-1", TextLines).render_line(5)
    card = next(segment for segment in top if "K♣" in segment.text)
    assert card.style is not None and card.style.bgcolor is not None and card.style.color is not None
    assert (card.style.bgcolor.name, card.style.color.name) == (PAPER, "#1d1d1d")


@parametrize_with_long(
    ("name", "size"),
    sorted(
        ((name, size) for name in SCREENS for size in SIZES + (TABLE_SIZES if name in GROWING else [])),
        key=lambda each: each[1] != SIZES[0] and (each[0] != "race" or each[1] not in SIZES),
    ),
    quick=len(SCREENS) + len(SIZES) - 1,
    ids=str,
)
async def test_a_screen_looks_like_its_snapshot(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, size: tuple[int, int]
) -> None:
    columns, lines = size
    path = SNAPSHOTS / f"{name}-{columns}x{lines}.txt"
    async with terminal(AtHome(), tmp_path, columns=columns, lines=lines) as player:
        await SCREENS[name](player)
        await player.pilot.pause()
        if request.config.getoption("--new-snapshots"):
            SNAPSHOTS.mkdir(exist_ok=True)
            path.write_text(player.text.rstrip() + "\n")
        wanted = path.read_text()

        async def looks_like_it() -> None:
            # On a busy machine a screen may be laid out after the first pause.
            assert player.text.rstrip() + "\n" == wanted

        await until(looks_like_it, f"the screen is that of {path}; if it is to change, run pytest --new-snapshots", 10)


@parametrize_with_long(
    ("session", "warning"),
    [
        (lambda: staged.finished(OPEN).session(), "The room was open: anybody who watched it saw cards early."),
        (lambda: staged.waiting(OPEN).session(), "Beware: this room is open."),
        (lambda: staged.getting_ready(OPEN).session(), "Beware: this room is open."),
    ],
    quick=1,
    ids=("result", "waiting", "ready"),
)
async def test_an_open_room_is_called_open_on_the_screen(
    tmp_path: Path, session: Callable[[], RoomSession], warning: str
) -> None:
    async with terminal(AtHome(), tmp_path) as player:
        await room(session)(player)
        await player.pilot.pause()
        assert warning in player.text
