"""The lobby of a server, read over plain HTTP, which opens no WebSocket and creates no player."""

from collections.abc import Iterator

from fairest_cli.session.server_pages import read_message
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from fairest_protocol.messages.options import Spectators


def fetch_lobby(server_url: str, page: int) -> LobbyPage:
    """Return a page of the lobby; `page` counts from 0. Raises `PageUnreadable`. Blocks on the network."""
    return read_message(server_url, f"/lobby?page={page}", LobbyPage)


def describe_lobby(lobby: LobbyPage, server_option: str) -> Iterator[str]:
    """Yield the page for people, with the command to join or to watch each room.

    The names need no cleaning: they were checked when the page was parsed.
    """
    if not lobby.total:
        yield f"No room is listed here. Open one that everybody can see: fairest create --listed{server_option}"
        return
    if not lobby.rooms:
        yield f"There is no such page; the last one is --page {lobby.pages - 1}."
        return
    for listed in lobby.rooms:
        yield f"{describe_players(listed):<42}  {describe_listed_rules(listed)}"
        if listed.phase is Phase.WAITING:
            yield f"    fairest join {listed.room}{server_option}"
        elif listed.spectators is not Spectators.CLOSED:
            yield f"    fairest watch {listed.room}{server_option}"
    if lobby.page + 1 < lobby.pages:
        yield f"{lobby.total} rooms; more with --page {lobby.page + 1}"


def describe_players(listed: ListedRoom) -> str:
    """Return the player who waits, or both players and the rounds that they have won, the leader first."""
    first, second = listed.names
    if listed.phase is Phase.WAITING:
        return f"{first or second} waits"
    (more, leader), (fewer, other) = sorted(zip(listed.wins, listed.names, strict=True), key=lambda seat: -seat[0])
    return f"{leader} {more} : {fewer} {other}"


def describe_listed_rules(listed: ListedRoom) -> str:
    """Return the rules of a listed room, the length of the match, a warning of an open room, and its counts."""
    placed = f", {listed.placed[0]} : {listed.placed[1]} cards" if listed.placed else ""
    watching = f", {listed.watching} watching" if listed.watching else ""
    match = "" if listed.best_of == 1 else f", best of {listed.best_of}"
    redeals = "" if not listed.redeals else f", {listed.redeals} redeal{'s' * (listed.redeals > 1)}"
    warning = ", open: hides nothing" if listed.spectators is Spectators.OPEN else ""
    certified = ", certified" if listed.certified else ""
    return f"{clean(listed.rules)}{redeals}{match}{certified}{warning}{placed}{watching}"
