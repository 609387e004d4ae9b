"""Asking the running server processes to do something, over Redis, and waiting for what they answer."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import typer
from pydantic import ValidationError
from redis.exceptions import RedisError

from fairest_server.commands.operator_redis import NoRedis, operator_redis
from fairest_server.commands.reporting import without_full_stop
from fairest_server.store.control import Control, ControlAnswer, Envelope, Verb

ANSWER_SECONDS: Final = 5.0
"""A process reads requests once a second, and tries for three seconds to do what it is asked."""
POLL_SECONDS: Final = 0.05
_NAME: Final = "it has 2 to 20 letters, digits, _ or -"
_LINE: Final = "it is one line of printable characters, at most 500"
EXPECTED: Final = {
    "room": "one looks like amber-quiet-lynx; `fairest-server rooms` lists them",
    "name": _NAME,
    "new_name": _NAME,
    "subject": "it is a player's name, an address, or a network such as 10.0.0.0/8",
    "text": _LINE,
    "reason": _LINE,
    "seconds": "it is 1 second to 100 years",
    "within_seconds": "it is 0 seconds to one day",
}
"""The form of each field of a request, for the operator who gave something else."""


class VerbFailed(Exception):
    """The operator's command has not done what it should; the text says why, and what to do."""


class Asking:
    """Requests to the processes of one deployment. Every method raises VerbFailed, and RedisError."""

    def __init__(self, control: Control) -> None:
        self.control = control

    async def processes(self) -> list[str]:
        """Return the ids of the processes that are alive; raises VerbFailed if there is none."""
        living = await self.control.living()
        if not living:
            raise VerbFailed("no server process runs on this Redis; start one with fairest-server")
        return living

    async def ask_any(self, request: Verb) -> tuple[str, ControlAnswer]:
        """Let one process do what any of them may; return its id and its answer.

        If a process dies before it has answered, the next one is asked: every request of this kind may be repeated.
        """
        for process_id in await self.processes():
            answers = await self._ask(process_id, request, {process_id})
            if process_id in answers:
                return process_id, answers[process_id]
            print(f"process {process_id} does not answer, the next one is asked", file=sys.stderr)
        raise VerbFailed(f"no process answered within {ANSWER_SECONDS:.0f} seconds; see their logs, and try again")

    async def ask_one(self, process_id: str, request: Verb) -> tuple[str, ControlAnswer]:
        """Ask one process by its id, of which the beginning is enough; return its whole id and its answer."""
        living = await self.processes()
        named = [each for each in living if each.startswith(process_id)]
        if not process_id or not named:
            raise VerbFailed(f"no process that runs has the id {process_id!a}; their ids are {', '.join(living)}")
        if len(named) > 1:
            raise VerbFailed(f"{len(named)} ids begin with {process_id!a}; give more of one: {', '.join(named)}")
        answers = await self._ask(named[0], request, set(named))
        if not answers:
            raise VerbFailed(f"process {named[0]} did not answer within {ANSWER_SECONDS:.0f} seconds; see its log")
        return named[0], answers[named[0]]

    async def ask_all(self, request: Verb) -> dict[str, ControlAnswer | None]:
        """Ask all processes; return each one's answer by its id, None for a process that did not answer."""
        living = await self.processes()
        answers = await self._ask("", request, set(living))
        left = set(await self.control.living())
        return {each: answers.get(each) for each in sorted({*living, *answers}) if each in left or each in answers}

    async def _ask(self, to: str, request: Verb, awaited: set[str]) -> dict[str, ControlAnswer]:
        """Send a request; wait until all that are alive of `awaited` have answered, and return their answers."""
        request_id = await self.control.send(Envelope(to=to, request=request))
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            answers = await self.control.answers(request_id)
            missing = awaited - answers.keys()
            if not missing or time.monotonic() > deadline or not missing & set(await self.control.living()):
                return answers
            await asyncio.sleep(POLL_SECONDS)


@asynccontextmanager
async def asking(redis_url: str | None, data_dir: Path) -> AsyncIterator[Asking]:
    """Yield a way to ask the processes that run on this Redis. Raises NoRedis."""
    async with operator_redis(redis_url, data_dir) as redis:
        yield Asking(Control(redis))


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run the work of a command; a failure is one sentence on standard error, and exit code 1."""
    try:
        asyncio.run(work)
    except (NoRedis, VerbFailed) as reason:
        problem = str(reason)
    except ValidationError as reason:
        first = reason.errors(include_url=False, include_context=False)[0]
        field = str(first["loc"][0])
        problem = f"{first['input']!a} cannot be the {field.replace('_', ' ')}: {EXPECTED[field]}"
    except (RedisError, OSError) as reason:
        problem = f"Redis does not answer any more: {without_full_stop(reason)}"
    else:
        return
    print(f"fairest-server: {problem}", file=sys.stderr)
    raise typer.Exit(1)
