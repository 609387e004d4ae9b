"""`announce`, `ban`, `unban`, `bans` and `rename` as processes beside real servers."""

import json
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Create, Hello
from fairest_protocol.messages.from_server import Announcement, Error, Welcome
from tests.support.operator import operate
from tests.support.processes import Fleet
from tests.support.wire_client import WireClient, open_client, open_raw_client, racing_players

pytestmark = pytest.mark.long


async def last_error(client: WireClient) -> tuple[str, int | None]:
    """Receive until the server closes the connection; return its error's sentence and the close code."""
    with suppress(ConnectionClosed):
        while True:
            await client.receive()
    errors = [message.sentence for message in client.received if isinstance(message, Error)]
    return errors[-1] if errors else "", client.socket.close_code


async def test_an_announcement_reaches_every_client_of_every_process(fleet: Fleet, redis_url: str) -> None:
    urls = [await fleet.start(), await fleet.start()]
    async with open_client(urls[0]) as first, open_client(urls[1]) as second:
        await second.enter(Create())
        ran = await operate(redis_url, "announce", "We restart at 20:00 [b]UTC[/b].")
        assert ran.code == 0, ran.errors
        for client in (first, second):
            assert (await client.receive_a(Announcement)).text == "We restart at 20:00 [b]UTC[/b]."
    assert sorted(line.split(": ")[1] for line in ran.written.splitlines()) == ["shown to 1 clients"] * 2


@pytest.mark.parametrize("text", ["", "two\nlines", "\x1b[2J", "x" * 501])
async def test_a_text_that_cannot_be_announced_is_refused(fleet: Fleet, redis_url: str, text: str) -> None:
    await fleet.start()
    ran = await operate(redis_url, "announce", text)
    assert (ran.code, "cannot be the text: it is one line of printable characters" in ran.errors) == (1, True)


async def test_a_banned_player_is_cut_off_and_not_welcomed_again(fleet: Fleet, redis_url: str) -> None:
    urls = [await fleet.start(), await fleet.start()]
    async with open_client(urls[0], name="ann") as ann, open_client(urls[1], name="bob") as bob:
        ran = await operate(redis_url, "ban", "ANN", "--for", "7d", "--reason", "bad manners")
        assert ran.code == 0, ran.errors
        sentence, code = await last_error(ann)
        assert (sentence.startswith("You are banned from this server until 2"), code) == (True, 4410)
        assert sentence.endswith("UTC: bad manners")
        for url in urls:
            async with open_raw_client(url) as again:
                await again.send(Hello(token=ann.token))
                assert (await last_error(again))[1] == 4410
        await bob.enter(Create())


async def test_the_race_of_a_banned_player_is_that_of_a_lost_connection(fleet: Fleet, redis_url: str) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, second):
        name = next(each.name for each in first.received if isinstance(each, Welcome))
        await operate(redis_url, "ban", name)
        await second.receive_until(lambda seen: seen.seats[0].until_ms is not None)


async def test_a_ban_holds_in_a_process_that_starts_later_and_ends_with_unban(fleet: Fleet, redis_url: str) -> None:
    url = await fleet.start()
    async with open_client(url, name="ann") as ann:
        await operate(redis_url, "ban", "ann")
    later = await fleet.start()
    async with open_raw_client(later) as again:
        await again.send(Hello(token=ann.token))
        assert await last_error(again) == ("You are banned from this server.", 4410)
    listed = [json.loads(line) for line in (await operate(redis_url, "bans", "--json")).written.splitlines()]
    assert [(each["name"], each["until_ms"]) for each in listed] == [("ann", None)]
    assert (await operate(redis_url, "unban", "Ann")).code == 0
    assert len((await operate(redis_url, "bans")).written.splitlines()) == 1
    fresh = await fleet.start()
    async with open_client(fresh, token=ann.token):
        pass


async def test_a_banned_address_gets_a_sentence_and_our_client_does_not_try_again(fleet: Fleet, redis_url: str) -> None:
    url = await fleet.start()
    async with open_client(url) as client:
        assert (await operate(redis_url, "ban", "127.0.0.0/8", "--reason", "a flood")).code == 0
        assert await last_error(client) == ("You are banned from this server: a flood", 4410)
        with pytest.raises(InvalidStatus) as refused:
            async with open_client(url):
                pass
        assert refused.value.response.status_code == 403
        with pytest.raises(Rejected, match="You are banned from this server: a flood"):
            async for _ in Connection(url, Identity(), Create()).updates():
                pass


async def test_a_renamed_player_has_the_new_name_from_its_next_hello_on(fleet: Fleet, redis_url: str) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, second):
        name = next(each.name for each in first.received if isinstance(each, Welcome))
        ran = await operate(redis_url, "rename", name, "good-name")
        assert ran.code == 0, ran.errors
        await first.play("sa")
        await second.play("sa")
        async with open_raw_client(url) as again:
            await again.send(Hello(token=first.token, name=name))
            assert (await again.receive_a(Welcome)).name == "good-name"
        async with open_raw_client(url) as stranger:
            assert (await stranger.expect_refusal(Hello(name=name))).code == "name_taken"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("ban", "nobody"), 1, "no player has used the name nobody"),
        (("ban", "10.0.0.0/4"), 1, "too large a network"),
        (("ban", "1.2.3.999"), 1, "does not appear to be"),
        (("ban", "ann", "--for", "soon"), 2, "is not a duration"),
        (("unban", "nobody"), 1, "there is no such ban"),
        (("rename", "nobody", "somebody"), 1, "no player uses the name nobody"),
        (("rename", "nobody", "\x1b[2J"), 1, r"'\x1b[2J' cannot be the new name: it has 2 to 20 letters"),
        (("ban", ""), 1, "'' cannot be the subject: it is a player's name, an address, or a network"),
        (("close", "badcode!"), 1, "'badcode!' cannot be the room: one looks like amber-quiet-lynx"),
    ],
)
async def test_what_cannot_be_done_is_said_in_a_sentence(
    fleet: Fleet, redis_url: str, words: tuple[str, ...], code: int, sentence: str
) -> None:
    await fleet.start()
    ran = await operate(redis_url, *words)
    # The usage of a command is drawn in a box, which may break lines.
    assert (ran.code, sentence in " ".join(ran.errors.replace("│", "").split())) == (code, True), ran.errors


async def test_a_name_that_another_player_uses_cannot_be_given_away(fleet: Fleet, redis_url: str) -> None:
    url = await fleet.start()
    async with open_client(url, name="ann"), open_client(url, name="bob"):
        ran = await operate(redis_url, "rename", "ann", "BOB")
        assert (ran.code, ran.errors) == (1, "fairest-server: another player uses the name BOB\n")
