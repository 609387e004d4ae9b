"""The heads of chains of rounds that this machine's clients were shown: a file for each key of a server.

A head is signed, so two of them that cannot belong to one chain prove that the server has changed its chain.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from platformdirs import user_data_path
from pydantic import TypeAdapter

from fairest_cli.model.signature import is_signed
from fairest_cli.records.private_file import write_private
from fairest_protocol.calculation.seal import rounds_head_statement
from fairest_protocol.messages.rounds import MERGE_SECONDS, RoundsHead

MAX_HEADS: Final = 500
"""Beyond this, every second one of the older half is dropped."""
CLOCK_MS: Final = 5_000
"""By this much the clocks of two nodes of Redis may differ, each of which has stamped a head."""
OLDEST_MS: Final = 2 * MERGE_SECONDS * 1000
"""A head that is older than this when it is shown hides what came after it."""

_HEADS: Final[TypeAdapter[tuple[RoundsHead, ...]]] = TypeAdapter(tuple[RoundsHead, ...])


def heads_folder() -> Path:
    """Return the folder with the heads that this machine's players were shown."""
    return user_data_path("fairest") / "heads"


def load_heads(folder: Path, key: bytes) -> tuple[RoundsHead, ...]:
    """Return the heads signed with `key` that were shown, by number. Their signatures were checked when they were kept.

    Raises OSError, and ValueError for a file that does not hold heads.
    """
    try:
        text = _file(folder, key).read_bytes()
    except FileNotFoundError:
        return ()
    return _HEADS.validate_json(text)


def keep_head(folder: Path, key: bytes, head: RoundsHead) -> None:
    """Add a head, whose signature was checked, to those that were shown. Raises OSError.

    Of heads that differ in their time alone, the first and the last one stay: nothing joined the chain between them.
    """
    try:
        known = load_heads(folder, key)
    except ValueError:
        known = ()
    same = [each for each in known if (each.number, each.chain) == (head.number, head.chain)]
    if any(head.at_ms <= each.at_ms for each in same):
        return
    heads = sorted(
        (*(each for each in known if each not in same[1:]), head), key=lambda each: (each.number, each.at_ms)
    )
    if len(heads) > MAX_HEADS:
        half = len(heads) // 2
        heads = [*heads[:half:2], *heads[half:]]
    write_private(_file(folder, key), json.dumps([head.model_dump(mode="json") for head in heads]))


def is_head_signed(head: RoundsHead, key: bytes) -> bool:
    """Return whether the holder of `key` has signed this head."""
    return is_signed(rounds_head_statement(head.number, head.chain, head.at_ms), head.signature, key)


def head_problem(head: RoundsHead, key: bytes, now_ms: int, known: Sequence[RoundsHead]) -> str:
    """Return a sentence if the head, shown when the server's clock was `now_ms`, contradicts `known`; else nothing."""
    if not is_head_signed(head, key):
        return "Beware: the head of this server's chain of rounds is not signed with its key."
    for other in known:
        if other.number == head.number and other.chain != head.chain:
            return (
                f"Beware: this server has shown two chains of rounds, both signed: their entries {head.number} differ. "
                f"{_CAUSE}"
            )
        if head.number < other.number and head.at_ms > other.at_ms + CLOCK_MS:
            return (
                f"Beware: this server's chain of rounds went back, from entry {other.number} to {head.number}. {_CAUSE}"
            )
    if head.at_ms > now_ms + CLOCK_MS:
        seconds = (head.at_ms - now_ms) // 1000
        return f"Beware: the head of this server's chain of rounds was signed {seconds} seconds in the future."
    if head.at_ms + OLDEST_MS < now_ms:
        seconds = (now_ms - head.at_ms) // 1000
        return f"Beware: the head of this server's chain of rounds is {seconds} seconds old."
    return ""


_CAUSE: Final = "Unless its Redis has lost data, it has dropped rounds: fairest audit says more."


def _file(folder: Path, key: bytes) -> Path:
    return folder / f"{key.hex()}.json"
