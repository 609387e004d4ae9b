"""The codes of rooms: three words without phrases, and free when they are drawn."""

import itertools
from collections.abc import Iterator

import pytest

from fairest_server.live import room_codes
from fairest_server.live.room_codes import draw_code, draw_free_code
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.stored_logs import store_entries


class Generator:
    """Draws these codes, one after the other."""

    def __init__(self, *codes: str) -> None:
        self._codes: Iterator[str] = itertools.chain(codes)

    def generate_slug(self, words: int) -> str:
        assert words == 3
        return next(self._codes)


def test_a_code_with_a_phrase_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_codes, "_GENERATOR", Generator("lynx-of-bliss", "otter-of-luck", "amber-quiet-lynx"))
    assert draw_code() == "amber-quiet-lynx"


def test_a_word_that_only_holds_the_letters_of_a_phrase_may_stand_in_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_codes, "_GENERATOR", Generator("lofty-quiet-lynx"))
    assert draw_code() == "lofty-quiet-lynx"


async def test_a_code_that_is_taken_is_drawn_again(monkeypatch: pytest.MonkeyPatch, redis: BatchingRedis) -> None:
    for taken in ("a-b-c", "d-e-f"):
        await store_entries(redis, taken, "created")
    monkeypatch.setattr(room_codes, "_GENERATOR", Generator("a-b-c", "d-e-f", "g-h-i"))
    assert await draw_free_code(Log(redis)) == "g-h-i"


async def test_a_code_of_which_another_process_serves_the_room_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch, redis: BatchingRedis
) -> None:
    monkeypatch.setattr(room_codes, "_GENERATOR", Generator("a-b-c", "d-e-f"))
    assert await draw_free_code(Log(redis), "d-e-f".__eq__) == "d-e-f"


async def test_a_process_that_serves_no_code_by_preference_draws_one_all_the_same(redis: BatchingRedis) -> None:
    assert await draw_free_code(Log(redis), lambda _: False)
