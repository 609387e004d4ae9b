"""The requests of the operator about players: bans, and names. Any process carries them out, in Redis alone."""

from redis.exceptions import RedisError

from fairest_server.store.bans import BadNetwork, Ban, BanStore, parse_network
from fairest_server.store.control import AddBan, ControlAnswer, RemoveBan, Rename
from fairest_server.store.players import NameTaken, Players


class PlayerVerbs:
    """Bans and renames players. All processes learn of a ban with their next heartbeat."""

    def __init__(self, players: Players, bans: BanStore) -> None:
        self._players = players
        self._bans = bans

    async def carry_out(self, request: AddBan | RemoveBan | Rename) -> ControlAnswer:
        """Carry out a request; a failure of Redis is an answer as well."""
        try:
            match request:
                case AddBan():
                    return await self._ban(request)
                case RemoveBan(subject=subject):
                    removed = await self._bans.remove(subject)
                    return ControlAnswer(done=bool(removed), sentence="" if removed else "there is no such ban")
                case Rename(name=name, new_name=new_name):
                    return await self._rename(name, new_name)
        except (RedisError, OSError) as reason:
            return ControlAnswer(done=False, sentence=f"Redis does not answer: {str(reason)[:200]}")

    async def _ban(self, request: AddBan) -> ControlAnswer:
        now_ms = await self._bans.now_ms()
        until_ms = None if request.seconds is None else now_ms + request.seconds * 1000
        subject, reason = request.subject, request.reason
        if "." in subject or ":" in subject:
            try:
                network = str(parse_network(subject))
            except BadNetwork as wrong:
                return ControlAnswer(done=False, sentence=str(wrong))
            ban = Ban(network=network, since_ms=now_ms, until_ms=until_ms, reason=reason)
        else:
            player_id = await self._players.find(subject)
            if player_id is None:
                return ControlAnswer(done=False, sentence=f"no player has used the name {subject} in the last day")
            ban = Ban(player=player_id, name=subject, since_ms=now_ms, until_ms=until_ms, reason=reason)
        await self._bans.put(ban)
        return ControlAnswer(done=True, sentence=ban.subject)

    async def _rename(self, name: str, new_name: str) -> ControlAnswer:
        try:
            is_known = await self._players.rename(name, new_name)
        except NameTaken:
            return ControlAnswer(done=False, sentence=f"another player uses the name {new_name}")
        sentence = "" if is_known else f"no player uses the name {name}"
        return ControlAnswer(done=is_known, sentence=sentence)
