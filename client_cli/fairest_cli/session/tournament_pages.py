"""Tournaments of a server over plain HTTP: one of them, and the record of a race in it."""

from urllib.parse import urlencode

from fairest_cli.session.server_pages import PageUnreadable, read_message, read_page
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.tournament_record import TournamentRecord, parse_tournament_record
from fairest_protocol.messages.tournaments import Tournament, TournamentList


def fetch_tournament(server_url: str, code: str) -> Tournament:
    """Return a tournament as everybody is shown it. Raises `PageUnreadable`. Blocks on the network."""
    found = read_message(server_url, f"/tournaments/{code}", Tournament)
    if found.code != code:
        raise PageUnreadable("The server answered with another tournament.")
    return found


def fetch_tournaments(server_url: str) -> TournamentList:
    """Return the tournaments that are open, under way, or have ended last. Raises `PageUnreadable`.

    Blocks on the network.
    """
    return read_message(server_url, "/tournaments", TournamentList)


def fetch_race(server_url: str, code: str, number: int, name: str) -> TournamentRecord:
    """Return the record of a player's race in a round, after replaying it. Raises `PageUnreadable` and `BadRecord`.

    Blocks on the network.
    """
    body = read_page(server_url, f"/tournament-races/{code}?{urlencode({'round': number, 'name': name})}")
    try:
        return parse_tournament_record(body.decode())
    except UnicodeDecodeError as reason:
        raise BadRecord("the record of a race is text") from reason
