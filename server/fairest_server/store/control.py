"""Requests of the operator to the server processes, and their answers, over Redis.

A request is an entry of one stream, which every process reads with its heartbeat. It is addressed to one process or
to all of them. The answers are kept in a hash for each request, in which every process has a field of its own.
"""

from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, TypeAdapter, ValidationError
from redis.asyncio import Redis

from fairest_protocol.messages.fields import Message, Name, Phase, PlainText, RoomCode
from fairest_server.store import keys
from fairest_server.store.redis.clock import read_clock


class Describe(Message):
    """Describe the process; with `rooms`, also each room that it has open."""

    verb: Literal["describe"] = "describe"
    rooms: bool


class Close(Message):
    """Close a room."""

    verb: Literal["close"] = "close"
    room: RoomCode
    reason: PlainText


class DrainProcess(Message):
    """Let the process end when its races have ended, or after this time."""

    verb: Literal["drain"] = "drain"
    within_seconds: Annotated[int, Field(ge=0, le=86_400)] | None


class Announce(Message):
    """Show a sentence to every client of the process."""

    verb: Literal["announce"] = "announce"
    text: PlainText


class AddBan(Message):
    """Ban the player with this name, or an address, until a time on Redis' clock or for good."""

    verb: Literal["ban"] = "ban"
    subject: PlainText
    seconds: Annotated[int, Field(ge=1, le=100 * 366 * 86_400)] | None
    reason: PlainText | None


class RemoveBan(Message):
    """End a ban, which is named by the name or the address that was banned."""

    verb: Literal["unban"] = "unban"
    subject: PlainText


class Rename(Message):
    """Give the player with this name another one."""

    verb: Literal["rename"] = "rename"
    name: Name
    new_name: Name


class DropOldToken(Message):
    """Close the connections of a player whose clients have said hello with another token than this, by its hash.

    A process sends it to all of them after the player has renewed its token; no command of the operator does.
    """

    verb: Literal["drop_old_token"] = "drop_old_token"
    player_id: str
    token_hash: str


Verb = Annotated[
    Describe | Close | DrainProcess | Announce | AddBan | RemoveBan | Rename | DropOldToken,
    Field(discriminator="verb"),
]


class Envelope(Message):
    """A request: the process that it is for, empty for all of them, and what to do."""

    to: str
    request: Verb


class RoomRow(Message):
    """A room that a process has open. `spectators` are those that watch it from this process."""

    room: RoomCode
    phase: Annotated[Phase, Field(strict=False)]
    names: tuple[Name | None, Name | None]
    spectators: int
    listed: bool


class ProcessRow(Message):
    """A server process: the machine that it runs on, its number there, what it has open, and whether it drains.

    `races` counts the rooms with a race under way whose players are connected to this process.
    """

    host: str
    pid: int
    connections: int
    rooms: int
    races: int
    draining: bool


class ControlAnswer(Message):
    """The answer of a process: whether it did what it was asked to, a sentence, and what it was asked for."""

    done: bool
    sentence: str = ""
    process: ProcessRow | None = None
    rooms: tuple[RoomRow, ...] = ()


class BadRequest(ValueError):
    """An entry of the stream that is not a request of this version; the text says why."""


_ENVELOPES: Final = TypeAdapter[Envelope](Envelope)


def parse_envelope(text: bytes) -> Envelope:
    """Parse an entry of the stream. Raises `BadRequest` with a printable sentence."""
    try:
        return _ENVELOPES.validate_json(text)
    except ValidationError as reason:
        first = reason.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part)[:40] for part in first["loc"])
        raise BadRequest(ascii(f"{place}: {first['msg'][:200]}")) from None


class Control:
    """The operator's requests and their answers on one Redis. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def living(self) -> list[str]:
        """Return the ids of the processes that are alive, sorted. Lapsed ones are left out."""
        since_ms = await read_clock(self._redis) - keys.LAPSE_MS
        found = await self._redis.zrangebyscore(keys.PROCESSES, since_ms, "+inf")
        return sorted(each.decode() for each in cast("list[bytes]", found))

    async def send(self, envelope: Envelope) -> str:
        """Send a request; return its id."""
        pipeline = self._redis.pipeline(transaction=False)
        text = envelope.model_dump_json().encode()
        pipeline.xadd(keys.CONTROL, {"request": text}, maxlen=keys.CONTROL_KEPT)
        pipeline.expire(keys.CONTROL, keys.CONTROL_ANSWER_SECONDS)
        request_id, _ = cast("tuple[bytes, bool]", await pipeline.execute())
        return request_id.decode()

    async def answer(self, request_id: str, process_id: str, parts: list[bytes]) -> None:
        """Store the answer of a process, in as many fields as it has parts."""
        pipeline = self._redis.pipeline(transaction=False)
        name = keys.control_answers(request_id)
        pipeline.hset(name, mapping={f"{process_id} {number}": part for number, part in enumerate(parts)})
        pipeline.expire(name, keys.CONTROL_ANSWER_SECONDS)
        await pipeline.execute()

    async def answers(self, request_id: str) -> dict[str, ControlAnswer]:
        """Return the answers so far, by process id. One that cannot be parsed is left out."""
        stored = cast("dict[bytes, bytes]", await cast("Any", self._redis.hgetall(keys.control_answers(request_id))))
        answers: dict[str, ControlAnswer] = {}
        for field, text in sorted(stored.items()):
            try:
                part = ControlAnswer.model_validate_json(text)
            except ValidationError:
                continue
            process_id = field.decode().partition(" ")[0]
            known = answers.setdefault(process_id, part)
            if known is not part:
                answers[process_id] = known.model_copy(update={"rooms": known.rooms + part.rooms})
        return answers
