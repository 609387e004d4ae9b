"""The controls: what a bare server on `websockets` costs, with the loop and the settings of ours.

`echo` sends every message back. `relay` sends it back, and a notice of it to another client: the frames of a race in
which both players see every move, without rules, log or anything else.
"""

import sys

import uvloop
from websockets.asyncio.server import ServerConnection, serve

from server.settings import Settings


async def _serve(kind: str) -> None:
    alone: list[ServerConnection] = []
    partners: dict[ServerConnection, ServerConnection] = {}

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async def relay(socket: ServerConnection) -> None:
        if alone:
            partners[socket] = partner = alone.pop()
            partners[partner] = socket
        else:
            alone.append(socket)
        async for message in socket:
            await socket.send(message)
            if socket in partners:
                await partners[socket].send(f"!{message!s}")

    settings = Settings()
    async with serve(
        echo if kind == "echo" else relay,
        "127.0.0.1",
        0,
        compression=None,
        ping_interval=settings.heartbeat_seconds,
        ping_timeout=settings.heartbeat_seconds,
        max_size=settings.max_frame_bytes,
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(sys.argv[1]))
