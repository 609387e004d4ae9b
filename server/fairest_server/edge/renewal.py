"""The renewal of a token: a player whose token somebody else may know takes another one."""

from collections.abc import Callable

from fairest_protocol.messages.from_client import Renew
from fairest_protocol.messages.from_server import Refused, Renewed
from fairest_protocol.messages.refusals import Refusal
from fairest_server.edge.close_errors import bad_token
from fairest_server.edge.room_messages import refuse_message
from fairest_server.store.control import Control, DropOldToken, Envelope
from fairest_server.store.players import Player, Players, TokenTaken, UnknownToken


class Renewal:
    """Renews tokens. One serves all connections of a process."""

    def __init__(self, players: Players, control: Control, may_enroll: Callable[[str], bool]) -> None:
        """`may_enroll` counts a new player from an address: a renewal writes as much, and is counted as one."""
        self._players = players
        self._control = control
        self._may_enroll = may_enroll

    async def renew(self, message: Renew, player: Player, address: str) -> tuple[Player, Renewed | Refused]:
        """Let `player` have the token of `message`; return it with the answer. Safe to repeat.

        All processes close the connections that said hello with the old token, at their next heartbeat. Raises
        ProtocolViolation (`bad_token`) if the client's own token is such a one, RedisError and OSError.
        """
        if not self._may_enroll(address):
            return player, refuse_message(message, Refusal.TOO_MANY_PLAYERS)
        try:
            renewed = await self._players.renew(player, message.token)
        except TokenTaken:
            return player, refuse_message(message, Refusal.TOKEN_TAKEN)
        except UnknownToken:
            raise bad_token() from None
        drop = DropOldToken(player_id=renewed.player_id, token_hash=renewed.token_hash)
        await self._control.send(Envelope(to="", request=drop))
        return renewed, Renewed(id=message.id)
