"""The sessions of the text client: a player or a spectator in a room, a bot in a room, and a race on a local server."""

import random
import sys
from collections.abc import AsyncIterator, Callable

from fairest_cli.bots.house_room import house_room, new_bot_name
from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.records.files import save_record
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.room_address import requested_room
from fairest_cli.session.room_session import RoomSession
from fairest_cli.session.viewer_connections import open_guest_seat, open_seat, open_unstored
from fairest_cli.session.websocket import EntryRequest
from fairest_cli.text.brief_narration import describe_briefly
from fairest_cli.text.keyboard import reading_lines
from fairest_cli.text.line_player import LinePlayer
from fairest_cli.text.move_text import describe_result
from fairest_cli.text.narration import as_json_lines, describe_boards, describe_changes, describe_update
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.options import RoomOptions


async def race(server: str, name: str | None, entry_request: EntryRequest, as_json: bool) -> None:
    """Race from a seat of a room, by a keyboard or a pipe; by the queue, against one opponent after the other.

    Raises `Rejected`, `IdentityInUse` and `Cheated`; when cancelled, the seat waits.
    """
    goes_on = True
    with reading_lines(has_prompt=not as_json) as read_lines:
        while goes_on:
            with open_seat(server, name, entry_request) as connection:
                rejoin_option = f" --name {name}" if name else ""
                goes_on = await _follow(connection, as_json, read_lines, rejoin_option, requested_room(entry_request))


async def watch_room(server: str, entry_request: EntryRequest, as_json: bool) -> None:
    """Watch a room as a spectator. Raises `Rejected` and `Cheated`."""
    with reading_lines(has_prompt=not as_json) as read_lines:
        await _follow(open_unstored(server, entry_request), as_json, read_lines)


async def let_bot_play(server: str, entry_request: EntryRequest, level: Level, pace_seconds: float | None) -> None:
    """Let a bot play in a seat of a room until the match is over, and print the results.

    `pace_seconds` is as for `play_match`. Raises `Rejected`, `Cheated` and `ThinkingFailed`.
    """
    connection = open_unstored(server, entry_request, name=new_bot_name(level))
    record = await play_match(connection, level, random.Random(), pace_seconds)
    if record is not None:
        played = read_record(record.lines)
        for number, finished in enumerate(played.rounds, 1):
            if finished.outcome is not None:
                print(f"Round {number}:")
                print("\n".join(describe_result(finished.outcome, played.names)))


async def race_house_bot(level: Level, options: RoomOptions, *, is_person: bool) -> None:
    """Race against a house bot on a server of our own; without a person, let two bots race.

    The house bot opens the room; then the person or the other bot joins it. Raises `ServerNotStarted`.
    """
    pace_seconds = None if is_person else 0
    async with house_room(level, options, pace_seconds, rematches=is_person) as (url, room):
        guest = open_guest_seat(url, room, is_person=is_person)
        if is_person:
            with reading_lines() as read_lines:
                await _follow(guest, False, read_lines)
        else:
            await _race_bots(guest, level)


async def _follow(
    connection: Connection,
    as_json: bool,
    read_lines: Callable[[], AsyncIterator[str]],
    rejoin_option: str | None = None,
    entered: str | None = None,
) -> bool:
    """Follow a room from standard input to standard output; hints go to standard error where the output is JSON.

    Returns whether the player has left for the next opponent.
    """
    is_person = sys.stdin.isatty()
    session = RoomSession(connection, rejoin_option=rejoin_option, ends_with_record=not is_person)
    player = LinePlayer(
        session,
        describe_update=as_json_lines if as_json else describe_briefly if is_person else describe_update,
        print_line=lambda line: print(line, flush=True),
        print_hint=lambda line: print(line, file=sys.stderr if as_json else sys.stdout, flush=True),
        is_person=is_person,
        entered=entered,
        read_lines=read_lines,
    )
    await player.run()
    return session.queues_again


async def _race_bots(guest: Connection, level: Level) -> None:
    def print_changes(before: KnownRoom, update: Update) -> None:
        for line in describe_changes(before, update):
            print(line)

    record = await play_match(guest, level, random.Random(), 0, on_update=print_changes)
    print("\n".join(describe_boards(guest.model)))
    if record is not None:
        print(f"The record is at {save_record(record)}")
