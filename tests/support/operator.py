"""The operator's commands, run as an operator runs them: as processes beside the servers."""

import asyncio
from asyncio.subprocess import PIPE

from fairest_protocol.value import Value
from tests.support.processes import SERVER_COMMAND, START_SECONDS


class Ran(Value):
    """A command that has ended."""

    code: int
    written: str
    errors: str


async def operate(redis_url: str, *words: str) -> Ran:
    """Run `fairest-server` with these words on this Redis until it ends."""
    process = await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, *words, "--redis-url", redis_url, stdout=PIPE, stderr=PIPE
    )
    try:
        async with asyncio.timeout(START_SECONDS):
            written, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Ran(process.returncode, written.decode(), errors.decode())
