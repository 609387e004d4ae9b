"""`fairest-server recompute`: compute all ratings again from the records, and say each difference."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer
from redis.exceptions import RedisError

from fairest_server.archive.places import ArchiveUnavailable, open_place
from fairest_server.archive.record_archive import RecordArchive
from fairest_server.archive.record_proof import BrokenRecord, prove_record
from fairest_server.commands.operator_redis import DEFAULT_DATA_DIR, DataDir, NoRedis, RedisUrl, operator_redis
from fairest_server.commands.reporting import fail, make_progress, without_full_stop
from fairest_server.ratings.match_result import MatchResult, Unrated, read_result
from fairest_server.ratings.recomputation import RatedMatch, Recomputation, differing
from fairest_server.store.ratings import RatingStore
from fairest_server.store.records import RecordStore

COMPARED_AT_ONCE: Final = 500
RECENT_PASSES: Final = 5
"""So often the results that were added meanwhile are read as well, before a difference is taken for one."""

_Item = TypeVar("_Item")
_Subject = tuple[str, str] | tuple[str, str, str]
"""A variant, and a player or a pair."""

ArchivePlace = Annotated[
    str | None,
    typer.Option("--archive", metavar="DEST", help="The archive of records, if there is one: a folder or a URL."),
]


class Recomputed:
    """The result of a recomputation: how far it came, and a sentence for each difference."""

    def __init__(self, recomputation: Recomputation) -> None:
        self.recomputation = recomputation
        self.differences: list[str] = []


def recompute(archive: ArchivePlace = None, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Compute all ratings again from the records, beside running servers, and say each difference; nothing is changed.

    Each record is proved first. The exit code is 1 if there is a difference.
    """
    show = make_progress()
    try:
        done = asyncio.run(_recompute(archive, redis_url, data_dir, show))
    except (NoRedis, ArchiveUnavailable) as reason:
        fail(str(reason))
    except (RedisError, OSError) as reason:
        fail(f"Redis does not answer any more: {without_full_stop(reason)}. Run the command again")
    for sentence in done.differences:
        print(f"differs: {sentence}", file=sys.stderr)
    print(describe_recomputed(done))
    if done.differences:
        raise SystemExit(1)


def describe_recomputed(done: Recomputed) -> str:
    """Return a summary in one or two sentences."""
    found = done.recomputation
    differences = f"{len(done.differences)} differences" if done.differences else "no difference"
    taken_over = (
        f" {found.taken_over} more are older than what is kept, so their effect was taken as it is."
        if found.taken_over
        else ""
    )
    return f"{found.computed} matches computed again for {len(found.tallies)} ratings: {differences}.{taken_over}"


async def _recompute(
    archive: str | None, redis_url: str | None, data_dir: Path, show: Callable[[str], None]
) -> Recomputed:
    archived = RecordArchive(open_place(archive, must_exist=True)) if archive is not None else None
    async with operator_redis(redis_url, data_dir) as redis:
        ratings, records = RatingStore(redis), RecordStore(redis)

        async def find(match_id: str) -> bytes | None:
            text = await records.read(match_id)
            if text is not None:
                return text.removesuffix(b"\n") + b"\n"
            return await asyncio.to_thread(archived.read, match_id) if archived is not None else None

        first = await ratings.results_after(0)
        done = Recomputed(Recomputation(is_whole=not first or first[0].number == 1))
        number = 0
        suspects: dict[_Subject, str] = {}
        for _ in range(RECENT_PASSES):
            newest = number
            async for rated in _results_after(ratings, number):
                number = rated.number
                await _add(done, rated, await find(rated.match_id))
                show(f"{done.recomputation.computed} matches computed again")
            if suspects and number == newest:
                break
            # A difference may be the effect of a match that was rated after the results were read.
            suspects = {of: sentence async for of, sentence in _compare(done.recomputation, ratings, suspects)}
            if not suspects:
                break
        done.differences += suspects.values()
    return done


async def _results_after(ratings: RatingStore, number: int) -> AsyncIterator[RatedMatch]:
    while found := await ratings.results_after(number):
        for rated in found:
            yield rated
        number = found[-1].number


async def _add(done: Recomputed, rated: RatedMatch, text: bytes | None) -> None:
    """Prove the record of a match that was rated, and compute what followed from it."""
    result: MatchResult | Unrated | None = None
    if text is not None:
        try:
            result = read_result(await asyncio.to_thread(prove_record, text, rated.match_id), rated.players)
        except BrokenRecord as reason:
            done.differences.append(f"match {rated.match_id} was rated, and its record does not prove itself: {reason}")
    if isinstance(result, Unrated):
        done.differences.append(f"match {rated.match_id} was rated, and should not be: {result.value}")
        result = None
    done.differences += done.recomputation.add(rated, result)


async def _compare(
    computed: Recomputation, ratings: RatingStore, only: Mapping[_Subject, str]
) -> AsyncIterator[tuple[_Subject, str]]:
    """Yield each rating and score that is not stored as computed, with a sentence; of all, or `only` of these."""
    subjects: Sequence[_Subject] = list(only or (*computed.tallies, *computed.pairs))
    for variant in sorted({subject[0] for subject in subjects}):
        players = [subject[1] for subject in subjects if subject[0] == variant and len(subject) == 2]
        couples = [(subject[1], subject[2]) for subject in subjects if subject[0] == variant and len(subject) == 3]
        for part in _parts(players):
            means = await ratings.read_means(variant, part)
            for player, held, mean in zip(part, await ratings.read_tallies(variant, part), means, strict=True):
                tally = computed.tallies[variant, player]
                if held != tally:
                    yield (variant, player), f"{variant} of player {player}: {differing(held, tally)}"
                elif mean not in (None, tally.mean):
                    yield (variant, player), f"{variant} of player {player}: the board has {mean}, not {tally.mean}"
        for pairs in _parts(couples):
            for couple, score in zip(pairs, await ratings.read_pairs(variant, pairs), strict=True):
                expected = computed.pairs[(variant, *couple)]
                if score != expected:
                    sentence = f"{variant} of the pair {' and '.join(couple)}: {differing(score, expected)}"
                    yield (variant, *couple), sentence


def _parts(items: Sequence[_Item]) -> Iterable[list[_Item]]:
    """Yield the items, COMPARED_AT_ONCE at a time."""
    remaining = iter(items)
    while part := list(islice(remaining, COMPARED_AT_ONCE)):
        yield part
