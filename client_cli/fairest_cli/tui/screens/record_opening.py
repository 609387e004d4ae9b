"""Opens a record for one of its uses: the replay, a practice game or a ghost on its deal, or its verification."""

import asyncio
from enum import StrEnum

from textual.app import App

from fairest_cli.model.practice import start_from_record
from fairest_cli.records.files import split_lines
from fairest_cli.records.history import seat_of
from fairest_cli.records.own_names import own_names
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session.record_source import RecordUnavailable, read_record_text
from fairest_cli.text.verification import describe_wrong, verify
from fairest_cli.tui.board.timeline import Timeline, timeline_of
from fairest_cli.tui.screens.ghost_choice import choose_ghost
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.text_page import TextPage, made_in_thread
from fairest_cli.tui.settings import Settings
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record


class Use(StrEnum):
    """The use of a chosen record."""

    REPLAY = "replay"
    PRACTISE = "practise"
    VERIFY = "verify"
    GHOST = "ghost"


async def open_record(
    app: App[object], source: str, use: Use, server: str, settings: Settings, round_number: int | None = None
) -> str:
    """Open a screen for the record that `source` names, a path or the id of a match; return why that is impossible.

    `server` is asked for an id. `round_number`, from 0, chooses the deal to practise; without it, the last one.
    """
    if use is Use.VERIFY:
        await app.push_screen(verification_page(source, server))
        return ""
    try:
        record, timeline = await asyncio.to_thread(_load, source, server)
        if use is Use.PRACTISE:
            await app.push_screen(PracticeScreen(start_from_record(record, round_number)))
        elif not timeline.moments:
            return "No round of this match was dealt, so there is nothing to replay or to race."
        elif use is Use.GHOST:
            choose_ghost(app, record, timeline.moments[-1].round_number - 1, settings)
        else:
            own_seat = seat_of(record.names, own_names(settings.name))
            await app.push_screen(ReplayScreen(record, timeline, own_seat or 0))
    except (RecordUnavailable, WrongRecord, BadRecord) as reason:
        return f"{source}: {reason}"
    return ""


def verification_page(source: str, server: str) -> TextPage:
    """Return the page with the lines that `fairest verify` prints about the record that `source` names."""

    def lines() -> list[str]:
        try:
            return list(verify(read_record_text(source, server)).lines)
        except RecordUnavailable as reason:
            return [f"fairest: {reason}"]
        except WrongRecord as reason:
            return [describe_wrong(reason)]

    return TextPage(f"fairest verify {source}", lambda: made_in_thread(lines))


def _load(source: str, server: str) -> tuple[Record, Timeline]:
    record = read_record(split_lines(read_record_text(source, server)))
    return record, timeline_of(record)
