"""One session each: a player in a room, a spectator, a bot, a race at home. They put the client's parts together."""

import random
import sys

from fairest_cli.bots.house_room import HOUSE_PACE_SECONDS, house_room
from fairest_cli.bots.player import play_match
from fairest_cli.bots.policies import Policy
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.records.files import save_record
from fairest_cli.session.connection import Connection, EntryRequest, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.open import MAX_ATTEMPTS, open_guest_seat, open_seat, open_view
from fairest_cli.text.board_text import draw_result
from fairest_cli.text.line_player import Player
from fairest_cli.text.narration import as_json_lines, describe_changes, draw, tell
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.options import RoomOptions


async def race(server: str, name: str | None, request: EntryRequest, as_json: bool) -> None:
    """A person, or a pipe, in a seat of a room. Raises `Rejected`, `IdentityInUse`; when cancelled, the seat waits."""
    with open_seat(server, name, request) as connection:
        await _sit(connection, as_json, way_back=f" --name {name}" if name else "")


async def watch_room(server: str, request: EntryRequest, as_json: bool) -> None:
    """A spectator of a room. Raises `Rejected`."""
    await _sit(open_view(server, request), as_json)


async def let_bot_play(server: str, request: EntryRequest, policy: Policy, pace_seconds: float) -> None:
    """A bot in a seat of a room, until the match is over; then the results. Raises `Rejected`."""
    connection = Connection(server, Identity(), request, gives_up_after=MAX_ATTEMPTS)
    record = await play_match(connection, policy, random.Random(), pace_seconds)
    if record is not None:
        played = read_record(record.lines)
        for number, finished in enumerate(played.rounds, 1):
            if finished.outcome is not None:
                print(f"Round {number}:")
                print("\n".join(draw_result(finished.outcome, played.names)))


async def race_at_home(policy: Policy, options: RoomOptions, *, is_person: bool) -> None:
    """A race against a house bot on a server of our own, or of two bots. Raises `ServerNotStarted`.

    The house bot opens the room; then the person, or the other bot, comes in.
    """
    pace_seconds = HOUSE_PACE_SECONDS if is_person else 0
    async with house_room(policy, options, pace_seconds, rematches=is_person) as (url, room):
        guest = open_guest_seat(url, room, is_person=is_person)
        if is_person:
            await _sit(guest, as_json=False)
        else:
            await _race_bots(guest, policy)


async def _sit(connection: Connection, as_json: bool, way_back: str | None = None) -> None:
    notes = sys.stderr if as_json else sys.stdout
    player = Player(
        connection,
        tell=as_json_lines if as_json else tell,
        write=lambda line: print(line, flush=True),
        note=lambda line: print(line, file=notes, flush=True),
        is_person=sys.stdin.isatty(),
        way_back=way_back,
    )
    await player.run()


async def _race_bots(guest: Connection, policy: Policy) -> None:
    def show(before: KnownRoom, update: Update) -> None:
        for line in describe_changes(before, update):
            print(line)

    record = await play_match(guest, policy, random.Random(), 0, show=show)
    print("\n".join(draw(guest.model)))
    if record is not None:
        print(f"The record is at {save_record(record)}")
