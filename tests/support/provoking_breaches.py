"""Provocations of the breaches, each of which ends a connection."""

from fairest_protocol.messages.from_client import Create, Hello, Leave
from fairest_protocol.messages.refusals import Breach
from fairest_server.app import running
from fairest_server.live.drain import Drain
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.players import Players
from fairest_server.store.redis.clients import make_client
from tests.support.operator import operate
from tests.support.provoking import Deployment, Ending, Provocations, ending_of
from tests.support.wire_client import open_client, open_raw_client

SITE = "https://friend.example"

breach: Provocations[Breach, Ending] = Provocations(Breach)


async def ending_after(deployment: Deployment, frame: str | bytes) -> Ending:
    """Send a frame on a connection that was welcomed; return how it ends."""
    async with deployment.server() as url, open_client(url) as client:
        await client.send(frame)
        return await ending_of(client)


@breach
async def bad_json(deployment: Deployment) -> Ending:
    return await ending_after(deployment, "{")


@breach
async def unknown_type(deployment: Deployment) -> Ending:
    return await ending_after(deployment, '{"type":"dance"}')


@breach
async def unknown_key(deployment: Deployment) -> Ending:
    return await ending_after(deployment, '{"type":"leave","colour":1}')


@breach
async def bad_value(deployment: Deployment) -> Ending:
    return await ending_after(deployment, '{"type":"join","room":"../x"}')


@breach
async def binary_frame(deployment: Deployment) -> Ending:
    return await ending_after(deployment, b"{}")


@breach
async def hello_first(deployment: Deployment) -> Ending:
    async with deployment.server() as url, open_raw_client(url) as client:
        await client.send(Create())
        return await ending_of(client)


@breach
async def hello_twice(deployment: Deployment) -> Ending:
    async with deployment.server() as url, open_client(url) as client:
        await client.send(Hello())
        return await ending_of(client)


@breach
async def hello_late(deployment: Deployment) -> Ending:
    async with deployment.server(hello_seconds=0.05) as url, open_raw_client(url) as client:
        return await ending_of(client)


@breach
async def bad_token(deployment: Deployment) -> Ending:
    async with deployment.server() as url, open_raw_client(url) as client:
        await client.send(Hello(token="A" * 43))
        return await ending_of(client)


@breach
async def too_fast(deployment: Deployment) -> Ending:
    """A flood of more messages than are read at once; half of those do not come back within ten seconds."""
    settings = {"messages_per_second": 5, "messages_burst": 100, "flood_seconds": 0.1}
    async with deployment.server(**settings) as url, open_client(url) as client:
        for _ in range(150):
            await client.send(Leave())
        return await ending_of(client)


@breach
async def replaced(deployment: Deployment) -> Ending:
    async with (
        deployment.server() as url,
        open_client(url) as older,
        open_client(url, token=older.token) as newer,
    ):
        await newer.resume((await older.enter(Create())).room)
        return await ending_of(older)


@breach
async def banned(deployment: Deployment) -> Ending:
    async with deployment.server() as url, open_client(url, name="ann") as client:
        await operate(deployment.redis_url, "ban", "ann")
        return await ending_of(client)


@breach
async def restarting(deployment: Deployment) -> Ending:
    drain = Drain()
    settings = Settings(port=0, redis_url=deployment.redis_url)
    async with running(settings, drain=drain) as url, open_client(url) as client:
        drain.request(within_seconds=None)
        return await ending_of(client)


@breach
async def internal(deployment: Deployment) -> Ending:
    """The name of a player in Redis is not text, which no server has written."""
    redis = make_client(deployment.redis_url)
    player, token = await Players(redis).enroll("ann")
    await redis.hset(keys.player(player.player_id), "name", b"\xff")
    await redis.aclose()
    async with deployment.server() as url, open_raw_client(url) as client:
        await client.send(Hello(token=token))
        return await ending_of(client)


@breach
async def other_site(deployment: Deployment) -> Ending:
    return await ending_in_browser(deployment, origins="")


@breach
async def too_many_connections(deployment: Deployment) -> Ending:
    return await ending_in_browser(deployment, connections_per_address=1)


@breach
async def server_full(deployment: Deployment) -> Ending:
    return await ending_in_browser(deployment, max_connections=1)


async def ending_in_browser(deployment: Deployment, **settings: object) -> Ending:
    """Connect from a page in a browser, beside another client; return how that ends."""
    async with (
        deployment.server(**{"origins": SITE, **settings}) as url,
        open_client(url),
        open_raw_client(url, origin=SITE) as browser,
    ):
        return await ending_of(browser)
