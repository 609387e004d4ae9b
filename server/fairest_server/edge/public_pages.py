"""The pages on the port of the players, by their paths. docs/openapi.json describes each of them."""

from http import HTTPStatus

from fairest_protocol.messages.codec import encode
from fairest_protocol.version import installed_version
from fairest_server.edge.address_limits import AddressLimits
from fairest_server.edge.daily_pages import DailyPages
from fairest_server.edge.http_pages import JSON, Page, PageRequest, Pages, text_page
from fairest_server.edge.match_cards import MatchCards
from fairest_server.edge.match_pages import MatchPages
from fairest_server.edge.page_files import INDEX_PATHS, page_files
from fairest_server.edge.page_parameters import page_number
from fairest_server.edge.rating_pages import RatingPages
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.edge.record_pages import RecordPages
from fairest_server.edge.room_pages import RoomPages
from fairest_server.edge.round_pages import RoundPages
from fairest_server.edge.tournament_pages import TournamentPages
from fairest_server.live.room_server import RoomServer
from fairest_server.store.lobby import Lobby
from fairest_server.store.redis.durability import Durability


def health_pages(rooms: RoomServer) -> Pages:
    """Return the pages for a liveness probe and for a balancer: whether the process lives, and may get players."""

    async def page_alive(_: PageRequest) -> Page:
        return text_page(f"alive fairest {installed_version()}")

    async def page_ready(_: PageRequest) -> Page:
        if rooms.drain.is_draining:
            return text_page("draining", HTTPStatus.SERVICE_UNAVAILABLE)
        if rooms.clock.decision_window():
            return text_page("ready")
        return text_page(
            f"redis has been silent for {rooms.clock.silent_seconds:.1f} s", HTTPStatus.SERVICE_UNAVAILABLE
        )

    return {"/livez": page_alive, "/readyz": page_ready}


def shared_pages(rooms: RoomServer, lobby: Lobby, durability: Durability, budget: ReadBudget) -> Pages:
    """Return the pages that the scripts of sites may read too, if their origin may connect."""

    async def page_key(_: PageRequest) -> Page:
        return text_page(rooms.key.public.hex())

    async def page_durability(_: PageRequest) -> Page:
        return text_page(durability.promise)

    async def page_lobby(request: PageRequest) -> Page:
        return Page(encode(await lobby.page(page_number(request))), JSON)

    ratings, dailies = RatingPages(rooms, budget), DailyPages(rooms, budget)
    tournaments = TournamentPages(rooms, budget)
    return {
        "/key": page_key,
        "/durability": page_durability,
        "/lobby": page_lobby,
        "/rounds": RoundPages(rooms, budget).show,
        "/records/": RecordPages(rooms.records, budget).show,
        "/matches": MatchPages(rooms, budget).show,
        "/leaderboard": ratings.show_leaderboard,
        "/players/": ratings.show_player,
        "/daily": dailies.show_deal,
        "/daily/": dailies.show_attempt,
        "/tournaments": tournaments.show_list,
        "/tournaments/": tournaments.show_tournament,
        "/tournament-races/": tournaments.show_race,
    }


def site_pages(rooms: RoomServer, budget: ReadBudget, limits: AddressLimits) -> Pages:
    """Return the pages for browsers."""
    files = page_files()
    return {
        **dict.fromkeys(INDEX_PATHS, files.show_index),
        "/r/": RoomPages(files, rooms, budget, limits).show,
        "/m/": MatchCards(files, rooms.records, rooms.slices, budget).show,
        f"{files.base}/": files.show_file,
    }
