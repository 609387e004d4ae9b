"""The sealed deals of the rounds of tournaments, as a process keeps them."""

from collections import OrderedDict
from typing import Final

from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_server.tournament.progress import seed_of
from fairest_server.tournament.state import Round, Tournament

CACHED_DEALS: Final = 32
"""Sealed deals that a process keeps."""


class RoundDeals:
    """The sealed deals, by their round ids."""

    def __init__(self) -> None:
        self._sealed: OrderedDict[bytes, SealedDeal] = OrderedDict()

    def sealed(self, tournament: Tournament, played: Round) -> SealedDeal:
        """Return the sealed deal of a round that was dealt."""
        assert played.started_ms, "the cards are dealt"
        round_id = tournament.round_id(played.number)
        sealed = self._sealed.get(round_id)
        if sealed is None:
            sealed = seal_deal(tournament.rules, seed_of(tournament, played), round_id)
            self._sealed[round_id] = sealed
            if len(self._sealed) > CACHED_DEALS:
                self._sealed.popitem(last=False)
        return sealed
