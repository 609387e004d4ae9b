"""The durability of writes that Redis has acknowledged: read from its settings, described in a sentence."""

from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from fairest_protocol.value import Value
from fairest_server.ops.metrics import Durability as Level
from fairest_server.store.redis.cluster_client import Cluster

SENTENCES: Final = {
    Level.NONE: "none: accepted moves are in memory only",
    Level.UNKNOWN: "unknown: this Redis does not let us read its settings",
    Level.SYSTEM: "an accepted move survives a killed Redis; a power cut may cost what the system has not written",
    Level.EVERYSEC: "a power cut, or a Redis killed during a flush, may cost the last two seconds",
    Level.ALWAYS: "an accepted move is on disk: none is lost when Redis is killed or the power fails",
}
"""The promise of each level, weakest first."""


class Durability(Value):
    """The level of durability in force, and warnings about settings that an operator should change."""

    level: Level
    warnings: tuple[str, ...] = ()

    @property
    def promise(self) -> str:
        """The level as a sentence."""
        return SENTENCES[self.level]


async def read_durability(redis: Redis) -> Durability:
    """Read the durability of this Redis; of a Cluster, that of the node that promises least.

    A node of a Cluster that does not answer is named in a warning. Raises RedisError if none answers.
    """
    if not isinstance(redis, Cluster):
        return await _read_node(redis)
    found: list[Durability] = []
    silent: dict[str, Exception] = {}
    for address, node in (await redis.nodes()).items():
        try:
            found.append(await _read_node(node))
        except (RedisError, OSError) as reason:
            silent[address] = reason
    if not found:
        raise next(iter(silent.values()))
    warnings = dict.fromkeys(warning for each in found for warning in each.warnings)
    warnings.update(
        dict.fromkeys(f"the node {address} does not answer, so its settings are unknown" for address in silent)
    )
    return Durability(min((each.level for each in found), key=list(SENTENCES).index), tuple(warnings))


async def _read_node(redis: Redis) -> Durability:
    settings: dict[str, str] = {}
    try:
        # Redis 6.2 takes only one pattern in a command.
        for pattern in ("append*", "maxmemory*"):
            found = cast("dict[Any, Any]", await redis.config_get(pattern))
            settings.update({_text(name): _text(value) for name, value in found.items()})
    except ResponseError:
        return Durability(Level.UNKNOWN)
    return judge_durability(settings)


def judge_durability(settings: dict[str, str]) -> Durability:
    """Return the level and the warnings that follow from the settings of a Redis."""
    warnings = []
    if settings.get("maxmemory", "0") != "0" and settings.get("maxmemory-policy") != "noeviction":
        warnings.append("maxmemory-policy is not noeviction: rooms vanish when memory is full")
    if settings.get("appendonly") != "yes":
        warnings.append("appendonly is off: a Redis that is killed forgets rooms and records")
        return Durability(Level.NONE, tuple(warnings))
    match settings.get("appendfsync"):
        case "always":
            level = Level.ALWAYS
        case "everysec":
            level = Level.EVERYSEC
        case _:
            level = Level.SYSTEM
    return Durability(level, tuple(warnings))


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
