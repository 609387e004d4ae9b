"""Lua scripts, and how Redis runs them."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import NoScriptError


class Script:
    """A script from the file `name`, with `head` before its text.

    It is run by its hash, and sent as text only to a Redis, or a node, that does not know it yet.
    """

    def __init__(self, name: str, head: str = "") -> None:
        self.text = head + lua_text(name)
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    async def run(self, redis: Redis, names: Sequence[str], arguments: Sequence[str | bytes | int]) -> Any:
        """Run the script on the keys `names`, which one node must serve, and return its reply. Raises RedisError."""
        try:
            return await cast("Any", redis.evalsha(self.sha, len(names), *names, *arguments))
        except NoScriptError:
            return await cast("Any", redis.eval(self.text, len(names), *names, *arguments))


@cache
def lua_text(name: str) -> str:
    """Return the text of the file `name` of scripts."""
    return files("fairest_server.store").joinpath("lua", name).read_text()
