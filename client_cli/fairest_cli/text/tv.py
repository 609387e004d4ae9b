"""TV in lines of text: the best match of a server, then the next one, until the program is ended."""

import asyncio
from collections.abc import Callable, Iterator

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.room_session import RoomSession
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.tv import RESULT_SECONDS, SEARCH_SECONDS, choose_match, follow_match
from fairest_cli.session.viewer_connections import open_unstored
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.lobby import describe_listed_rules, describe_players, fetch_lobby
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.from_client import Watch
from fairest_protocol.messages.from_server import ListedRoom

LOOKING = "Looking for a race that may be watched ..."
MOST_PAGES = 10
"""Pages of the lobby that are read at most; a page has 50 rooms."""


def find_match(server_url: str) -> ListedRoom | None:
    """Return the match of a server to watch now, if there is one. Raises `PageUnreadable`. Blocks on the network."""
    return choose_match(_listed_rooms(server_url))


async def watch_tv(
    server_url: str,
    describe_update: Callable[[KnownRoom, Update], Iterator[str]],
    print_line: Callable[[str], None],
    print_note: Callable[[str], None],
    result_seconds: float = RESULT_SECONDS,
    search_seconds: float = SEARCH_SECONDS,
) -> None:
    """Print one match after the other, without end. Notes are what does not come from a room.

    Raises `PageUnreadable` if the first look fails; later ones are made again. Raises `Cheated`. Safe to cancel.
    """

    async def print_update(before: KnownRoom, update: Update) -> None:
        for line in describe_update(before, update):
            print_line(line)

    listed = await asyncio.to_thread(find_match, server_url)
    note = ""
    while True:
        if listed is not None:
            print_note(f"{describe_players(listed)}, {describe_listed_rules(listed)}: {listed.room}")
            try:
                await follow_match(
                    RoomSession(open_unstored(server_url, Watch(room=listed.room)), saves_record=False),
                    print_update,
                    result_seconds,
                )
            except Rejected as reason:
                print_note(clean(str(reason)))
                await asyncio.sleep(search_seconds)
            note = ""
        else:
            if note != (note := LOOKING):
                print_note(note)
            await asyncio.sleep(search_seconds)
        try:
            listed = await asyncio.to_thread(find_match, server_url)
        except PageUnreadable as reason:
            listed = None
            print_note(str(reason))


def _listed_rooms(server_url: str) -> Iterator[ListedRoom]:
    number, pages = 0, 1
    while number < min(pages, MOST_PAGES):
        page = fetch_lobby(server_url, number)
        yield from page.rooms
        number, pages = number + 1, page.pages
