"""Provocations of the close codes that come without an `error`."""

from websockets.frames import Opcode

from fairest_protocol.messages.refusals import CloseCode
from tests.support.provoking import Deployment, Ending, Provocations, ending_of
from tests.support.raw_websocket import raw_websocket
from tests.support.wire_client import open_client

silent_close: Provocations[CloseCode, Ending] = Provocations(CloseCode)


@silent_close
async def normal(deployment: Deployment) -> Ending:
    async with deployment.server() as url, open_client(url) as client:
        await client.socket.close()
        return await ending_of(client)


@silent_close
async def too_big(deployment: Deployment) -> Ending:
    async with deployment.server() as url, open_client(url) as client:
        await client.send(" " * 5_000)
        return await ending_of(client)


@silent_close
async def internal(deployment: Deployment) -> Ending:
    """This client answers no ping."""
    async with deployment.server(heartbeat_seconds=0.05) as url, raw_websocket(url) as client:
        await client.receive_all()
        errors = [data.decode() for opcode, data in client.frames if opcode is Opcode.TEXT]
        return Ending(errors[0] if errors else None, client.close_code, None)
