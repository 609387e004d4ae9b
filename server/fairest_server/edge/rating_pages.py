"""Ratings over HTTP: the leaderboard of a variant, page by page, and the page of a player."""

from fairest_protocol.messages.codec import encode
from fairest_server.edge.http_pages import JSON, Page, PageRequest, not_found
from fairest_server.edge.page_parameters import page_number, player_name, variant_name
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.live.room_server import RoomServer
from fairest_server.ratings.match_result import DAY_MS


class RatingPages:
    """The pages of ratings. Each costs an address what a record does."""

    def __init__(self, rooms: RoomServer, budget: ReadBudget) -> None:
        self._rooms = rooms
        self._budget = budget

    async def show_leaderboard(self, request: PageRequest) -> Page:
        """Return a page of the leaderboard of the variant that `rules` names."""
        rules, number = variant_name(request), page_number(request)
        self._budget.charge(request.address)
        return Page(encode(await self._rooms.ratings.leaderboard(rules, number, self._today())), JSON)

    async def show_player(self, request: PageRequest) -> Page:
        """Return the page of the player with this name, and with `against` the score against another one."""
        others = [request.params["against"]] if "against" in request.params else []
        names = [player_name(name) for name in (request.name, *others)]
        self._budget.charge(request.address)
        views = self._rooms.ratings
        found = []
        for name in names:
            player = await views.find(name)
            if player is None:
                raise not_found(f"Nobody is known by the name {name}.")
            found.append(player)
        return Page(encode(await views.player_page(found[0], self._today(), *found[1:])), JSON)

    def _today(self) -> int:
        """Return the present day, counted from 1970 in UTC, by Redis' clock."""
        return self._rooms.clock.now_ms() // DAY_MS
