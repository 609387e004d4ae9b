"""What this Redis promises about writes that it has answered: read from its settings, said in a sentence."""

from dataclasses import dataclass
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError


@dataclass(frozen=True, slots=True)
class Durability:
    """The promise in force, and warnings for what an operator should change."""

    promise: str
    warnings: tuple[str, ...] = ()


async def read_durability(redis: Redis) -> Durability:
    """The promise of this Redis. Raises RedisError when it is away."""
    settings: dict[str, str] = {}
    try:
        # Redis 6.2 takes one pattern at a time.
        for pattern in ("append*", "maxmemory*"):
            found = cast("dict[Any, Any]", await redis.config_get(pattern))
            settings.update({_text(name): _text(value) for name, value in found.items()})
    except ResponseError:
        return Durability("unknown: this Redis does not let us read its settings")
    return judge_durability(settings)


def judge_durability(settings: dict[str, str]) -> Durability:
    """What these settings promise."""
    warnings = []
    if settings.get("maxmemory", "0") != "0" and settings.get("maxmemory-policy") != "noeviction":
        warnings.append("maxmemory-policy is not noeviction: rooms vanish when memory is full")
    if settings.get("appendonly") != "yes":
        warnings.append("appendonly is off: a Redis that is killed forgets rooms and records")
        return Durability("none: accepted moves are in memory only", tuple(warnings))
    match settings.get("appendfsync"):
        case "always":
            promise = "an accepted move is on disk: none is lost when Redis is killed or the power fails"
        case "everysec":
            promise = "an accepted move survives a killed Redis; a power cut may cost the last two seconds"
        case _:
            promise = "an accepted move survives a killed Redis; a power cut may cost what the system has not written"
    return Durability(promise, tuple(warnings))


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
