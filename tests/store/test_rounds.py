"""The chain of rounds in Redis: which process extends it, what waits in the outboxes, and which pages are kept."""

import hashlib
from typing import cast

import pytest

from fairest_protocol.calculation.seal import NO_ROUNDS
from fairest_protocol.messages.rounds import ChainedOpening, chained_line, describe_round
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.cluster_client import owner_of
from fairest_server.store.rounds import ChainEnd, NewEntry, RoundEntry, RoundStore

AT_MS = 1_795_442_981_891
PAGE = 3


@pytest.fixture
def store(redis: BatchingRedis) -> RoundStore:
    return RoundStore(redis, "one")


@pytest.fixture
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_server.store.rounds.PAGE_LINES", PAGE)


def chain_of(number: int) -> bytes:
    return bytes([number]) * 32


def entry(number: int) -> NewEntry:
    return NewEntry(chain_of(number), f"line {number}", f"mark {number}")


async def extend(store: RoundStore, last: int, oldest: int = 0) -> bool:
    """Extend the chain from its end up to the entry `last`."""
    end = await store.read_end(0)
    return await store.extend(end, [entry(number) for number in range(end.number + 1, last + 1)], AT_MS, oldest)


async def put(redis: BatchingRedis, bucket: int, *texts: str) -> list[bytes]:
    """Put texts into the outbox of a bucket, as append.lua does; return their ids."""
    return [cast("bytes", await redis.xadd(keys.round_outbox(bucket), {"e": text})) for text in texts]


async def waiting_texts(store: RoundStore) -> list[str]:
    found, _ = await store.waiting({})
    return [each.text for each in found]


async def test_a_chain_without_entries_ends_at_number_0(store: RoundStore) -> None:
    end = await store.read_end(0)
    assert end == ChainEnd(end.now_ms, 0, NO_ROUNDS, 0, True, b"")


async def test_the_end_is_read_at_a_time_of_redis(store: RoundStore, redis: BatchingRedis) -> None:
    seconds, _ = await redis.time()
    assert abs((await store.read_end(0)).now_ms - seconds * 1000) < 60_000


async def test_the_end_of_a_chain_is_its_newest_entry(store: RoundStore) -> None:
    await extend(store, 3, oldest=2)
    end = await store.read_end(0)
    assert (end.number, end.chain, end.oldest) == (3, chain_of(3), 2)


@pytest.mark.parametrize(("known", "chain"), [(1, b""), (2, chain_of(2)), (4, b"")])
async def test_the_chain_of_a_known_entry_is_read_if_it_is_kept(store: RoundStore, known: int, chain: bytes) -> None:
    await extend(store, 3, oldest=2)
    assert (await store.read_end(known)).known_chain == chain


async def test_the_first_process_that_reads_the_end_extends_the_chain(store: RoundStore, redis: BatchingRedis) -> None:
    other = RoundStore(redis, "two")
    assert [(await each.read_end(0)).is_writer for each in (store, other, store)] == [True, False, True]


async def test_a_process_that_extends_the_chain_does_so_for_three_seconds(
    store: RoundStore, redis: BatchingRedis
) -> None:
    await store.read_end(0)
    assert 0 < await redis.pttl(keys.ROUND_WRITER) <= 3000


async def test_an_extension_of_the_end_is_added(store: RoundStore) -> None:
    assert await extend(store, 2)
    assert await store.newest(10) == ["line 2", "line 1"]


@pytest.mark.parametrize("known", [(1, chain_of(1)), (2, chain_of(1)), (0, NO_ROUNDS)])
async def test_an_extension_of_another_end_changes_nothing(store: RoundStore, known: tuple[int, bytes]) -> None:
    await extend(store, 2)
    end = ChainEnd(AT_MS, *known, 1, True, b"")
    assert not await store.extend(end, [entry(9)], AT_MS, 0)
    assert await store.newest(10) == ["line 2", "line 1"]


async def test_entries_before_the_oldest_one_are_dropped(store: RoundStore) -> None:
    await extend(store, 4, oldest=3)
    assert await store.newest(10) == ["line 4", "line 3"]


async def test_only_as_many_of_the_newest_entries_as_asked_for_are_read(store: RoundStore) -> None:
    await extend(store, 4)
    assert await store.newest(2) == ["line 4", "line 3"]


async def test_the_marks_of_entries_are_kept_with_the_time_at_which_they_joined(store: RoundStore) -> None:
    await extend(store, 2)
    assert await store.chained() == {"mark 1": AT_MS, "mark 2": AT_MS}


async def test_an_entry_without_a_mark_leaves_none(store: RoundStore) -> None:
    await store.extend(await store.read_end(0), [NewEntry(chain_of(1), "line")], AT_MS, 0)
    assert await store.chained() == {}


async def test_marks_are_forgotten(store: RoundStore) -> None:
    await extend(store, 3)
    await store.forget(["mark 1", "mark 3"])
    assert await store.chained() == {"mark 2": AT_MS}


async def test_nothing_is_forgotten_without_marks(store: RoundStore) -> None:
    await extend(store, 1)
    await store.forget([])
    assert await store.chained() == {"mark 1": AT_MS}


async def test_an_entry_of_an_outbox_has_its_place_its_text_and_its_mark(
    store: RoundStore, redis: BatchingRedis
) -> None:
    [entry_id] = await put(redis, 5, "a")
    mark = hashlib.sha256(b"a").hexdigest()[:32]
    assert await store.waiting({}) == ([RoundEntry(5, entry_id, "a", mark)], True)


async def test_the_entries_of_all_outboxes_wait(store: RoundStore, redis: BatchingRedis) -> None:
    for bucket in (0, 1, keys.BUCKETS - 1):
        await put(redis, bucket, f"first of {bucket}", f"second of {bucket}")
    assert await waiting_texts(store) == [
        f"{word} of {bucket}" for bucket in (0, 1, 15) for word in ("first", "second")
    ]


async def test_entries_behind_an_id_are_read(store: RoundStore, redis: BatchingRedis) -> None:
    _, second, _ = await put(redis, 2, "a", "b", "c")
    await put(redis, 3, "d")
    found, _ = await store.waiting({2: second})
    assert [each.text for each in found] == ["c", "d"]


@pytest.mark.parametrize(("limit", "is_complete"), [(2, False), (3, True)])
async def test_an_outbox_with_as_many_entries_as_are_read_at_once_may_have_more(
    store: RoundStore, redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch, limit: int, is_complete: bool
) -> None:
    monkeypatch.setattr("fairest_server.store.rounds.MAX_ENTRIES", limit)
    await put(redis, 2, "a", "b")
    await put(redis, 4, "c")
    found, complete = await store.waiting({})
    assert ([each.text for each in found], complete) == (["a", "b", "c"], is_complete)


async def test_an_outbox_that_cannot_be_read_may_have_more(store: RoundStore, redis: BatchingRedis) -> None:
    await redis.set(keys.round_outbox(1), "not a stream")
    await put(redis, 0, "a")
    await put(redis, 2, "b")
    found, is_complete = await store.waiting({})
    assert ([each.text for each in found], is_complete) == (["a", "b"], False)


async def test_removed_entries_wait_no_longer(store: RoundStore, redis: BatchingRedis) -> None:
    await put(redis, 0, "a", "b")
    await put(redis, 7, "c", "d")
    found, _ = await store.waiting({})
    await store.remove([found[1], found[2]])
    assert await waiting_texts(store) == ["a", "d"]


async def test_without_entries_nothing_is_removed(store: RoundStore, redis: BatchingRedis) -> None:
    await put(redis, 0, "a")
    await store.remove([])
    assert await waiting_texts(store) == ["a"]


@pytest.mark.usefixtures("_short_pages")
@pytest.mark.parametrize(
    ("page", "before", "numbers"),
    [(0, NO_ROUNDS, (1, 2, 3)), (1, chain_of(3), (4, 5, 6)), (2, chain_of(6), (7,))],
)
async def test_a_page_has_its_lines_and_the_chain_before_them(
    store: RoundStore, page: int, before: bytes, numbers: tuple[int, ...]
) -> None:
    await extend(store, 7)
    assert await store.read_page(page) == (before, [f"line {number}" for number in numbers])


@pytest.mark.usefixtures("_short_pages")
async def test_a_page_behind_the_end_is_not_kept(store: RoundStore) -> None:
    await extend(store, 5)
    assert await store.read_page(2) is None


@pytest.mark.usefixtures("_short_pages")
async def test_the_page_behind_a_full_last_one_has_no_lines(store: RoundStore) -> None:
    await extend(store, 3)
    assert await store.read_page(1) == (chain_of(3), [])


@pytest.mark.usefixtures("_short_pages")
@pytest.mark.parametrize(("oldest", "page"), [(2, 0), (4, 1), (5, 1)])
async def test_a_page_whose_first_line_or_chain_before_it_was_dropped_is_not_kept(
    store: RoundStore, oldest: int, page: int
) -> None:
    await extend(store, 7, oldest=oldest)
    assert await store.read_page(page) is None


@pytest.mark.usefixtures("_short_pages")
async def test_a_page_is_kept_while_the_entry_before_it_is(store: RoundStore) -> None:
    await extend(store, 7, oldest=3)
    assert await store.read_page(1) == (chain_of(3), ["line 4", "line 5", "line 6"])


async def test_the_first_page_of_a_chain_without_entries_is_empty(store: RoundStore) -> None:
    assert await store.read_page(0) == (NO_ROUNDS, [])


async def test_five_hundred_entries_of_an_outbox_are_read_at_once(store: RoundStore, redis: BatchingRedis) -> None:
    await put(redis, 2, *("a",) * 499)
    few = await store.waiting({})
    await put(redis, 2, "b", "c")
    many = await store.waiting({})
    assert [(len(found), is_complete) for found, is_complete in (few, many)] == [(499, True), (500, False)]


def test_an_entry_that_comes_from_no_outbox_has_no_mark() -> None:
    assert NewEntry(chain_of(1), "line").mark == ""


async def extend_with_times(store: RoundStore, *times_ms: int) -> None:
    """Extend a chain without entries by one for each of these times."""
    described = describe_round(
        ChainedOpening(number=0, at_ms=0, type="opened", commitment=bytes(32), rules="classic 4 0")
    )
    lines = [chained_line(described, number, at_ms) for number, at_ms in enumerate(times_ms, 1)]
    entries = [NewEntry(chain_of(number), line) for number, line in enumerate(lines, 1)]
    assert await store.extend(await store.read_end(0), entries, AT_MS, 0)


@pytest.mark.usefixtures("_short_pages")
@pytest.mark.parametrize(
    ("at_ms", "found"),
    [(100, None), (101, (1, chain_of(1))), (300, (2, chain_of(2))), (301, (3, chain_of(3))), (999, (7, chain_of(7)))],
)
async def test_the_newest_entry_before_a_time_is_found_on_any_page(
    store: RoundStore, at_ms: int, found: tuple[int, bytes] | None
) -> None:
    await extend_with_times(store, *range(100, 800, 100))
    assert await store.last_before(at_ms) == found


@pytest.mark.usefixtures("_short_pages")
async def test_without_an_older_entry_a_full_last_page_is_followed_by_none(store: RoundStore) -> None:
    await extend_with_times(store, 100, 200, 300)
    assert await store.last_before(50) is None


@pytest.mark.usefixtures("_short_pages")
async def test_each_page_of_a_chain_is_read_once_to_find_an_older_entry(
    store: RoundStore, redis: BatchingRedis
) -> None:
    await extend_with_times(store, *range(100, 800, 100))
    owner = await owner_of(redis, keys.ROUND_CHAIN)

    async def reads() -> int:
        found = (await owner.info("commandstats")).get("cmdstat_xrevrange", {"calls": 0})
        return int(found["calls"])

    before = await reads()
    await store.last_before(50)
    assert await reads() - before == 3
