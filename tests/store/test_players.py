"""Players on a real Redis: known by a token that is never stored, under a name that is theirs alone."""

import base64
import re

import pytest
from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.players import (
    NameTaken,
    Player,
    Players,
    TokenTaken,
    TooManyNames,
    UnknownToken,
    hash_token,
)
from fairest_server.store.redis.cluster_client import nodes_of


async def every_key(redis: Redis) -> list[bytes]:
    return [key for node in await nodes_of(redis) async for key in node.scan_iter()]


@pytest.fixture
def players(redis: Redis) -> Players:
    return Players(redis)


async def test_a_player_is_recognised_by_its_token(players: Players) -> None:
    player, token = await players.enroll("ann")
    assert await players.recognise(token, None) == player


async def test_an_unknown_token_is_nobody(players: Players) -> None:
    with pytest.raises(UnknownToken):
        await players.recognise("x" * 43, None)


async def test_a_name_in_use_is_taken_whatever_its_case(players: Players) -> None:
    await players.enroll("Ann")
    with pytest.raises(NameTaken):
        await players.enroll("aNN")


async def test_a_player_may_change_its_name_and_frees_the_old_one(players: Players) -> None:
    player, token = await players.enroll("ann")
    assert (await players.recognise(token, "bob")).player_id == player.player_id
    assert (await players.enroll("ann"))[0].name == "ann"


async def test_a_new_name_is_told(players: Players) -> None:
    _, token = await players.enroll("ann")
    assert (await players.recognise(token, "bob")).name == "bob"


async def test_a_new_name_is_stored(players: Players) -> None:
    _, token = await players.enroll("ann")
    await players.recognise(token, "bob")
    assert (await players.recognise(token, None)).name == "bob"


async def test_a_player_without_a_name_is_given_one(players: Players) -> None:
    assert (await players.enroll(None))[0].name.startswith("guest-")


async def test_no_token_is_stored(players: Players, redis: Redis) -> None:
    _, token = await players.enroll("ann")
    for key in await every_key(redis):
        stored = await redis.dump(key)
        assert token.encode() not in key
        assert token.encode() not in (stored or b"")


async def test_every_key_of_a_player_expires(players: Players, redis: Redis) -> None:
    await players.enroll("ann")
    found = await every_key(redis)
    assert found
    assert [key for key in found if await redis.ttl(key) < 0] == []


async def test_a_name_that_somebody_else_has_taken_meanwhile_is_not_freed(players: Players, redis: Redis) -> None:
    """A day has passed, the name was free and another player took it; then the first one comes under another name."""
    _, token = await players.enroll("bob")
    await redis.delete(keys.name("bob"))
    await players.enroll("bob")
    await players.recognise(token, "rob")
    with pytest.raises(NameTaken):
        await players.enroll("bob")


async def test_a_player_without_a_name_is_given_one_that_nobody_has(redis: Redis) -> None:
    names = iter(["guest-1", "guest-1", "guest-2"])
    players = Players(redis, lambda: next(names))
    assert [(await players.enroll(None))[0].name for _ in range(2)] == ["guest-1", "guest-2"]


async def test_a_guest_is_named_by_six_hexadecimal_digits(players: Players) -> None:
    player, _ = await players.enroll(None)
    assert re.fullmatch("guest-[0-9a-f]{6}", player.name)


async def test_a_player_that_the_operator_renames_has_the_new_name(players: Players) -> None:
    _, token = await players.enroll("ann")
    assert await players.rename("ANN", "bob")
    assert (await players.recognise(token, None)).name == "bob"


async def test_a_name_that_the_operator_took_away_is_kept_from_everybody(players: Players) -> None:
    await players.enroll("ann")
    await players.rename("ann", "bob")
    with pytest.raises(NameTaken):
        await players.enroll("ann")


async def test_a_name_that_nobody_uses_cannot_be_taken_away(players: Players) -> None:
    assert not await players.rename("ann", "bob")


async def test_a_player_is_not_renamed_by_a_name_that_it_has_given_up(players: Players, redis: Redis) -> None:
    player, _ = await players.enroll("ann")
    await redis.hset(keys.player(player.player_id), "name", "cyd")
    assert not await players.rename("ann", "bob")


async def test_renaming_a_player_again_changes_nothing_more(players: Players) -> None:
    _, token = await players.enroll("ann")
    assert [await players.rename("ann", "bob") for _ in range(2)] == [True, True]
    assert (await players.recognise(token, None)).name == "bob"


async def test_a_player_is_not_given_the_name_of_another(players: Players) -> None:
    _, token = await players.enroll("ann")
    await players.enroll("bob")
    with pytest.raises(NameTaken):
        await players.rename("ann", "bob")
    assert (await players.recognise(token, None)).name == "ann"


async def test_another_case_of_the_same_name_does_not_take_it_away(players: Players) -> None:
    _, token = await players.enroll("ann")
    await players.rename("ann", "Ann")
    assert (await players.recognise(token, "Ann")).name == "Ann"


async def test_a_player_is_found_by_its_name_whatever_its_case(players: Players) -> None:
    player, _ = await players.enroll("Ann")
    assert await players.find("aNN") == player.player_id


async def test_a_player_that_was_renamed_is_found_by_its_old_name(players: Players) -> None:
    player, _ = await players.enroll("ann")
    await players.rename("ann", "bob")
    assert await players.find("ann") == player.player_id


async def test_a_name_that_another_player_uses_is_taken_for_a_player_who_comes_back(players: Players) -> None:
    await players.enroll("ann")
    _, token = await players.enroll("bob")
    with pytest.raises(NameTaken):
        await players.recognise(token, "ann")


async def test_a_player_whose_name_the_operator_took_is_recognised_under_its_new_one(players: Players) -> None:
    _, token = await players.enroll("ann")
    await players.rename("ann", "guest-1")
    assert (await players.recognise(token, "ann")).name == "guest-1"


async def test_a_player_whose_name_the_operator_took_keeps_the_new_one_alive(players: Players, redis: Redis) -> None:
    _, token = await players.enroll("ann")
    await players.rename("ann", "guest-1")
    await redis.expire(keys.name("guest-1"), 10)
    await players.recognise(token, "ann")
    assert await redis.ttl(keys.name("guest-1")) > 10


async def test_a_player_is_found_by_a_name_that_it_has_changed(players: Players) -> None:
    player, token = await players.enroll("ann")
    await players.recognise(token, "bob")
    await players.recognise(token, "cid")
    assert [await players.find(name) for name in ("ANN", "bob", "cid")] == [player.player_id] * 3


async def test_a_changed_name_leads_to_the_player_who_has_taken_it_since(players: Players) -> None:
    _, token = await players.enroll("ann")
    await players.recognise(token, "bob")
    taker, _ = await players.enroll("Ann")
    assert await players.find("ann") == taker.player_id


async def test_a_player_may_take_a_name_back_that_it_has_changed(players: Players) -> None:
    _, token = await players.enroll("ann")
    await players.recognise(token, "bob")
    assert (await players.recognise(token, "ann")).name == "ann"


async def test_a_changed_name_is_forgotten_after_a_day(players: Players, redis: Redis) -> None:
    _, token = await players.enroll("ann")
    await players.recognise(token, "bob")
    assert 0 < await redis.ttl(keys.name("ann")) <= keys.NAME_SECONDS


async def test_a_player_that_may_take_no_other_name_keeps_its_own(players: Players) -> None:
    _, token = await players.enroll("ann")
    with pytest.raises(TooManyNames):
        await players.recognise(token, "bob", lambda: False)
    assert (await players.recognise(token, "ANN", lambda: False)).name == "ANN"


NEW, NEWER = "n" * 43, "m" * 43


async def test_a_player_that_renewed_its_token_is_recognised_by_the_new_one(players: Players) -> None:
    player, _ = await players.enroll("ann")
    await players.renew(player, NEW)
    known = await players.recognise(NEW, None)
    assert (known.player_id, known.name) == (player.player_id, "ann")


async def test_a_token_that_was_renewed_is_nobodys(players: Players) -> None:
    player, token = await players.enroll("ann")
    await players.renew(player, NEW)
    with pytest.raises(UnknownToken):
        await players.recognise(token, None)


async def test_a_token_is_renewed_as_often_as_one_likes(players: Players) -> None:
    player, _ = await players.enroll("ann")
    again = await players.renew(await players.renew(player, NEW), NEWER)
    assert (await players.recognise(NEWER, None)).player_id == again.player_id == player.player_id
    with pytest.raises(UnknownToken):
        await players.recognise(NEW, None)


async def test_a_renewal_may_be_said_twice(players: Players) -> None:
    player, _ = await players.enroll("ann")
    assert await players.renew(player, NEW) == await players.renew(player, NEW)


async def test_who_holds_the_old_token_cannot_renew_it_any_more(players: Players) -> None:
    player, _ = await players.enroll("ann")
    await players.renew(player, NEW)
    with pytest.raises(UnknownToken):
        await players.renew(player, NEWER)


@pytest.mark.parametrize("renews", [False, True])
async def test_the_token_of_another_player_cannot_be_taken(players: Players, renews: bool) -> None:
    other, token = await players.enroll("bob")
    if renews:
        await players.renew(other, token := NEW)
    player, _ = await players.enroll("ann")
    with pytest.raises(TokenTaken):
        await players.renew(player, token)
    assert (await players.recognise(token, None)).name == "bob"


async def test_a_process_that_dies_before_the_player_has_the_new_token_leaves_the_old_one(
    players: Players, redis: Redis
) -> None:
    player, token = await players.enroll("ann")
    await redis.hset(keys.player(hash_token(NEW)), "player", player.player_id)
    assert (await players.recognise(token, None)).name == "ann"
    with pytest.raises(UnknownToken):
        await players.recognise(NEW, None)


async def test_a_renewal_that_a_process_left_half_done_may_be_said_again(players: Players, redis: Redis) -> None:
    player, _ = await players.enroll("ann")
    await redis.hset(keys.player(hash_token(NEW)), "player", player.player_id)
    await players.renew(player, NEW)
    assert (await players.recognise(NEW, None)).player_id == player.player_id


async def test_a_player_with_a_renewed_token_is_kept_by_each_hello(players: Players, redis: Redis) -> None:
    player, _ = await players.enroll("ann")
    await players.renew(player, NEW)
    for name in (keys.player(player.player_id), keys.player(hash_token(NEW))):
        await redis.expire(name, 10)
    await players.recognise(NEW, None)
    for name in (keys.player(player.player_id), keys.player(hash_token(NEW))):
        assert await redis.ttl(name) > keys.NEW_PLAYER_SECONDS


async def test_a_renewed_token_is_not_stored(players: Players, redis: Redis) -> None:
    player, _ = await players.enroll("ann")
    await players.renew(player, NEW)
    assert not [key for key in await every_key(redis) if NEW.encode() in key]
    assert NEW.encode() not in (await redis.hgetall(keys.player(player.player_id))).values()


async def test_the_keys_of_a_player_do_not_grow_with_its_renewals(players: Players, redis: Redis) -> None:
    player, _ = await players.enroll("ann")
    player = await players.renew(player, NEW)
    before = len(await every_key(redis))
    await players.renew(player, NEWER)
    assert len(await every_key(redis)) == before


def test_a_player_that_says_no_hello_has_no_token() -> None:
    assert Player("aa", "ann").token_hash == ""


async def test_a_token_has_32_random_bytes(players: Players) -> None:
    _, token = await players.enroll("ann")
    assert len(base64.urlsafe_b64decode(f"{token}=")) == 32


async def test_a_name_that_is_taken_is_named(players: Players) -> None:
    await players.enroll("ann")
    with pytest.raises(NameTaken, match="the name Ann is taken") as taken:
        await players.enroll("Ann")
    assert taken.value.name == "Ann"


async def test_whether_a_player_was_renamed_is_told(players: Players) -> None:
    await players.enroll("ann")
    assert [await players.rename(name, "bob") for name in ("eve", "ann")] == [False, True]
