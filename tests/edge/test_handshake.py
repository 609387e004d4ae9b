"""The answer to `hello`."""

from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Welcome
from fairest_protocol.version import installed_version
from tests.support.wire_client import open_raw_client


async def test_the_welcome_says_which_version_the_server_runs(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Hello())
        assert (await client.receive_a(Welcome)).version == installed_version()
