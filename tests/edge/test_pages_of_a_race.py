"""No page over HTTP shows anything of a race under way, but that of its room what a spectator sees: a move changes no
byte of any of them.
"""

from fairest_protocol.messages.options import Spectators
from tests.support.limited import Limited
from tests.support.raw_http import Answer, ask
from tests.support.wire_client import QUICK, racing_players


async def test_a_move_changes_no_byte_of_any_page(limited: Limited) -> None:
    async with (
        limited(messages_burst=1_000) as url,
        racing_players(url, options=QUICK.model_copy(update={"listed": True, "spectators": Spectators.CLOSED})) as (
            first,
            second,
        ),
    ):
        assert first.scene is not None
        assert first.scene.match is not None
        match = first.scene.match.hex()
        paths = ("/lobby", "/matches", f"/records/{match}", f"/m/{match}", f"/m/{match}.svg", f"/r/{first.room}")

        async def pages() -> list[tuple[int, bytes]]:
            answers: list[Answer] = [await ask(url, path) for path in paths]
            return [(answer.status, answer.body) for answer in answers]

        before = await pages()
        for move in ("sa", "sb", "sc"):
            await first.play(move)
        await second.play("sa")
        assert await pages() == before
        assert [status for status, _ in before] == [200, 200, 404, 404, 404, 200]
