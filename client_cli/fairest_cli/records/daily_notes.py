"""Notes of what this machine was shown of its player's attempts at daily deals: one small file for each.

It leads a program that was started again back to an attempt that midnight has left behind, and holds the server to its
seal and to our result when the deal is opened.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from fairest_cli.model.daily_game import DailyGame
from fairest_cli.records.private_file import write_private
from fairest_protocol.calculation.daily import day_of
from fairest_protocol.messages.daily import AttemptResult, DailySeal
from fairest_protocol.value import Value


class DailyNote(Value):
    """A note of an attempt: its player, the seal, the envelopes, the end of its time by our clock, and its result."""

    day: str
    variant: str
    name: str
    seal: DailySeal
    envelopes: tuple[tuple[bytes, ...], ...]
    until_ms: int
    result: AttemptResult | None

    def is_under_way(self, now_ms: int) -> bool:
        """Return whether the attempt has not ended, as far as we know, and has time left."""
        return self.result is None and self.until_ms > now_ms


def daily_folder() -> Path:
    """Return the folder with the notes of daily deals."""
    return user_data_path("fairest") / "daily"


def keep_note(server: str, name: str, game: DailyGame, folder: Path | None = None) -> None:
    """Write the note of an attempt, in the place of an older one. Raises OSError."""
    fields = {
        "day": game.day,
        "rules": game.rules.name,
        "name": name,
        "seal": game.seal.model_dump(mode="json"),
        "envelopes": [[envelope.hex() for envelope in sealed] for sealed in game.envelopes],
        "until_ms": game.until_ms + game.ahead_ms,
        "result": game.result.model_dump(mode="json") if game.result else None,
    }
    write_private(_path(server, name, game.day, game.rules.name, folder), json.dumps(fields))


def load_notes(server: str, variant: str, folder: Path | None = None) -> Iterator[DailyNote]:
    """Yield the notes of attempts at deals of this variant on a server, the newest day first.

    Files that are no notes are passed over: a file is not worth a race.
    """
    base = folder or daily_folder()
    for path in sorted(base.glob(f"{_server_part(server)}-*-{variant}-*.json"), reverse=True):
        try:
            note = _read(json.loads(path.read_text()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        if note.variant == variant:
            yield note


def noted_attempt(
    server: str, name: str | None, variant: str, now_ms: int, folder: Path | None = None
) -> DailyNote | None:
    """Return the note of an attempt that is under way, else of one at today's deal; None if there is neither.

    `name` is the player's, None for any player of this machine.
    """
    own = [note for note in load_notes(server, variant, folder) if name is None or note.name.lower() == name.lower()]
    under_way = (note for note in own if note.is_under_way(now_ms))
    of_today = (note for note in own if note.day == day_of(now_ms))
    return next(under_way, None) or next(of_today, None)


def day_under_way(server: str, name: str | None, variant: str, now_ms: int, folder: Path | None = None) -> str | None:
    """Return the day of an attempt that is under way; None if there is none. `name` is as for `noted_attempt`."""
    note = noted_attempt(server, name, variant, now_ms, folder)
    return note.day if note is not None and note.is_under_way(now_ms) else None


def _read(fields: dict[str, Any]) -> DailyNote:
    result = fields["result"]
    return DailyNote(
        day=fields["day"],
        variant=fields["rules"],
        name=fields["name"],
        seal=DailySeal.model_validate_json(json.dumps(fields["seal"])),
        envelopes=tuple(tuple(bytes.fromhex(envelope) for envelope in sealed) for sealed in fields["envelopes"]),
        until_ms=int(fields["until_ms"]),
        result=None if result is None else AttemptResult.model_validate_json(json.dumps(result)),
    )


def _path(server: str, name: str, day: str, variant: str, folder: Path | None) -> Path:
    return (folder or daily_folder()) / f"{_server_part(server)}-{day}-{variant}-{name.lower()}.json"


def _server_part(server: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", server.partition("://")[2])
