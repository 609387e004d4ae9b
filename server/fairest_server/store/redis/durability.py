"""The durability of writes that Redis has acknowledged: read from its settings, described in a sentence."""

from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from fairest_protocol.value import Value
from fairest_server.store.redis.cluster import nodes_of

MEMORY: Final = "none: accepted moves are in memory only"
UNKNOWN: Final = "unknown: this Redis does not let us read its settings"
SYSTEM: Final = "an accepted move survives a killed Redis; a power cut may cost what the system has not written"
EVERYSEC: Final = "an accepted move survives a killed Redis; a power cut may cost the last two seconds"
ALWAYS: Final = "an accepted move is on disk: none is lost when Redis is killed or the power fails"
_PROMISES: Final = (MEMORY, UNKNOWN, SYSTEM, EVERYSEC, ALWAYS)
"""All promises, weakest first."""


class Durability(Value):
    """The promise in force, and warnings about settings that an operator should change."""

    promise: str
    warnings: tuple[str, ...] = ()


async def read_durability(redis: Redis) -> Durability:
    """Read the promise of this Redis; of a Cluster, that of the node that promises least. Raises RedisError."""
    found = [await _read_node(node) for node in await nodes_of(redis)]
    warnings = dict.fromkeys(warning for each in found for warning in each.warnings)
    return Durability(min((each.promise for each in found), key=_PROMISES.index), tuple(warnings))


async def _read_node(redis: Redis) -> Durability:
    settings: dict[str, str] = {}
    try:
        # Redis 6.2 takes only one pattern in a command.
        for pattern in ("append*", "maxmemory*"):
            found = cast("dict[Any, Any]", await redis.config_get(pattern))
            settings.update({_text(name): _text(value) for name, value in found.items()})
    except ResponseError:
        return Durability(UNKNOWN)
    return judge_durability(settings)


def judge_durability(settings: dict[str, str]) -> Durability:
    """Return the promise and the warnings that follow from the settings of a Redis."""
    warnings = []
    if settings.get("maxmemory", "0") != "0" and settings.get("maxmemory-policy") != "noeviction":
        warnings.append("maxmemory-policy is not noeviction: rooms vanish when memory is full")
    if settings.get("appendonly") != "yes":
        warnings.append("appendonly is off: a Redis that is killed forgets rooms and records")
        return Durability(MEMORY, tuple(warnings))
    match settings.get("appendfsync"):
        case "always":
            promise = ALWAYS
        case "everysec":
            promise = EVERYSEC
        case _:
            promise = SYSTEM
    return Durability(promise, tuple(warnings))


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
