"""The rounds of a player's own receipts: to what the server has committed itself, and how it said that each ended."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fairest_protocol.calculation.certified import STEPS
from fairest_protocol.calculation.seal import make_seed, make_step_seed
from fairest_protocol.messages.rounds import describe_rules

MAX_RECEIPTS: Final = 2_000
MAX_RECEIPT_BYTES: Final = 32 * 1024 * 1024


@dataclass(slots=True)
class SeenRound:
    """A round as a receipt shows it; bytes are hexadecimal text.

    `seen_ms` is when it was first shown, on the server's clock as far as the client knew it. `entropies` are those that
    the server has shown. `is_bound`: both players were ready. `how` is "voided", "finished" or nothing, with the
    secret, and the endings if there was a result. `step` is the step that was dealt in a certified room.
    """

    file: str
    commitment: str
    round_id: str
    rules: str
    seen_ms: int
    entropies: list[str | None] = field(default_factory=lambda: [None, None])
    ready: set[int] = field(default_factory=set)
    how: str = ""
    secret: str | None = None
    endings: list[str] | None = None
    step: int | None = None

    @property
    def seed(self) -> str | None:
        """The seed of its deck, None if secret and entropies are not all known, or damaged in the file."""
        first, second = self.entropies
        if self.secret is None or first is None or second is None:
            return None
        try:
            secret, *entropies, round_id = map(bytes.fromhex, (self.secret, first, second, self.round_id))
        except ValueError:
            return None
        seed = make_seed(secret, entropies, round_id)
        return (seed if self.step is None else make_step_seed(seed, self.step)).hex()

    @property
    def is_bound(self) -> bool:
        """Whether both players were ready, so that there was a deck."""
        return len(self.ready) == 2


def read_receipts(folder: Path, key: bytes) -> list[SeenRound]:
    """Return the rounds in the newest receipts of sessions with the server of this key. Files that are not are skipped.

    Raises OSError.
    """
    files = [path for path in folder.glob("*.jsonl") if path.is_file()] if folder.is_dir() else []
    files.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    found: dict[str, SeenRound] = {}
    for path in files[:MAX_RECEIPTS]:
        if path.stat().st_size <= MAX_RECEIPT_BYTES:
            _read(path, key.hex(), found)
    return list(found.values())


def _read(path: Path, key: str, found: dict[str, SeenRound]) -> None:
    reader: _Reader | None = None
    for line in path.read_bytes().splitlines():
        try:
            fields = json.loads(line)
            if fields.get("type") == "receipt":
                reader = _Reader(path.name, found) if fields.get("key") == key else None
            elif reader is not None:
                reader.take(fields["heard"], int(fields["at_ms"]))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            # Not a message of the server; or cut short by a crash, or by a client of another version: `fairest verify`
            # names such lines.
            continue


class _Reader:
    """A receipt of one session, while its lines are read."""

    def __init__(self, file: str, found: dict[str, SeenRound]) -> None:
        self._file = file
        self._found = found
        self._rules = ""
        self._ahead_ms = 0
        self._now: SeenRound | None = None

    def take(self, message: Mapping[str, Any], at_ms: int) -> None:
        """Take a message of the server. Raises KeyError and others for one that no server sends."""
        if message["type"] == "snapshot":
            self._take_snapshot(message, at_ms)
        elif message["type"] == "view":
            for entry in message["entries"]:
                self._take_entry(entry, at_ms)

    def _take_snapshot(self, message: Mapping[str, Any], at_ms: int) -> None:
        scene = message["scene"]
        options = scene["options"]
        self._rules = describe_rules(
            options["rules"], options["piles"], options["redeals"], is_certified=bool(options.get("certified"))
        )
        self._ahead_ms = at_ms - int(message["now_ms"])
        if scene["round"] is None or scene["commitment"] is None:
            return
        seen = self._open(scene["round"], scene["commitment"], at_ms)
        if scene.get("step") is not None:
            seen.step = int(scene["step"]) % STEPS
        for seat, each in enumerate(scene["seats"]):
            if each["entropy_hash"] is not None:
                self._take_entry({"type": "player_ready", "seat": seat}, at_ms)
            if each["entropy"] is not None:
                self._take_entry({"type": "revealed", "seat": seat, "entropy": each["entropy"]}, at_ms)
        if scene["outcome"] is not None:
            ended = {"type": "round_finished", "secret": scene["secret"], "outcome": scene["outcome"]}
            self._take_entry(ended, at_ms)

    def _take_entry(self, entry: Mapping[str, Any], at_ms: int) -> None:
        seen = self._now
        match entry["type"]:
            case "round_opened":
                self._open(entry["round"], entry["commitment"], at_ms)
            case "player_ready" if seen is not None:
                seen.ready.add(int(entry["seat"]))
            case "revealed" if seen is not None:
                seen.entropies[int(entry["seat"])] = str(entry["entropy"])
            case "dealt" if seen is not None and entry.get("step") is not None:
                seen.step = int(entry["step"]) % STEPS
            case "round_voided" if seen is not None:
                seen.how, seen.secret = "voided", str(entry["secret"])
            case "round_finished" if seen is not None:
                seen.how, seen.secret = "finished", str(entry["secret"])
                seen.endings = [str(score["ending"]) for score in entry["outcome"]["scores"]]

    def _open(self, round_id: str, commitment: str, at_ms: int) -> SeenRound:
        self._now = seen = self._found.setdefault(
            commitment,
            SeenRound(self._file, commitment, round_id, self._rules, at_ms - self._ahead_ms),
        )
        return seen


def compare_end(seen: SeenRound, end: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the end of the round in the chain, as JSON, says differently from what its player was shown."""
    for seat, (shown, is_there) in enumerate(zip(seen.entropies, end["revealed"], strict=True)):
        if shown is not None and not is_there:
            yield f"lacks there the bytes that were shown for seat {seat + 1}"
    if seen.seed is not None and end["seed"] not in (None, seen.seed):
        yield "has another deck there"
    if seen.is_bound and end["how"] == "voided":
        yield "is called off there, although both players were bound to it"
    if seen.how == "voided" and end["how"] != "voided":
        yield f"was called off, and is there as {end['how'].replace('_', ' ')}"
    if seen.endings is not None and seen.endings != end["endings"]:
        yield f"ended as {' and '.join(seen.endings)}, and there as {' and '.join(end['endings'] or ['nothing'])}"
