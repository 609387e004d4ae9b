"""The house: a program beside a server that keeps rivals ready for players who wait alone in the lobby.

It is an ordinary client. Once a second it reads the lobby over HTTP, and sends a rival into each room that has asked
for one and waited long enough; and the list of tournaments, of which it fills up those that wish for rivals. It keeps
nothing: after a restart of the server or of the house, the next look at the lobby says all there is to know, and a
rival in a race comes back to its seat as every client does.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Final

from fairest_cli.bots.faults import describe_fault
from fairest_cli.bots.house_room import bot_name
from fairest_cli.bots.levels import DEFAULT_LEVEL, PROFILES, Level
from fairest_cli.bots.player import BotPlayer, may_ask_rematch
from fairest_cli.bots.thinking import ThinkingFailed
from fairest_cli.bots.tournament_rivals import TournamentRivals
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession
from fairest_cli.session.server_pages import PageUnreadable, read_message
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Join
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from fairest_protocol.messages.rivals import is_bot_name
from fairest_protocol.messages.tournaments import ListedTournament, TournamentList
from fairest_protocol.value import Value

LOOK_SECONDS: Final = 1.0
"""Time between two looks at the lobby; a server reads its own once a second."""
REFUSED_SECONDS: Final = 30.0
"""Time for which a room that refused a rival is left alone."""
AGAIN_SECONDS: Final = 5.0
"""Time after which another program is sent into a room, where the server refused one for itself: its name, or a ban."""
NAME_DIGITS: Final = 4
"""Digits behind the level in a rival's name: names are unique on a server, and a level plays in several rooms."""


class House(Value):
    """The levels that are offered, the least time that a room waits, and the most rivals at the same time."""

    levels: tuple[Level, ...] = (Level.LEARNER, Level.CLUB, Level.STRONG)
    wait_seconds: float = 0.0
    most_rooms: int = 8


class Program(Value):
    """A player of the house, under a name that says its level. Its identity lives as long as the house."""

    level: Level
    name: str
    identity: Identity


class Programs:
    """The programs of a house that sit in no room. One that has left a room plays in the next one.

    So a house enrolls only as many players as it needs at the same time, however many races it plays: a server limits
    new players, and keeps their names for days.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._free: list[Program] = []

    def take(self, level: Level) -> Program:
        """Return a program of this level: a free one, or a new one under a random name."""
        for program in self._free:
            if program.level is level:
                self._free.remove(program)
                return program
        return Program(level, self.new_name(level), Identity())

    def new_name(self, level: Level) -> str:
        """Return a random name that says the level."""
        digits = self._chance.randrange(10**NAME_DIGITS)
        return f"{bot_name(level)}-{digits:0{NAME_DIGITS}}"

    def give_back(self, program: Program) -> None:
        """Keep a program that has left its room, for the next one."""
        self._free.append(program)


class Waiting:
    """The rooms that wait for a rival, each since the house first saw it so, by the house's own clock.

    A server's clock may differ, so `since_ms` says only whether the room still waits as it did.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[str, int], float] = {}

    def due(self, page: LobbyPage, house: House, now: float) -> Iterator[tuple[ListedRoom, Level]]:
        """Yield each room of the page that a rival may join at `now`, in seconds, with the level that it gets.

        The level is the one that the room wishes for; one that is not offered becomes the nearest offered one, and no
        wish the default level or the nearest to it.
        """
        waiting = [each for each in page.rooms if asks_for_rival(each)]
        self._since = {(each.room, each.since_ms): self._since.get((each.room, each.since_ms), now) for each in waiting}
        for each in waiting:
            seconds = max(each.rival_after_seconds or 0, house.wait_seconds)
            if now - self._since[each.room, each.since_ms] >= seconds:
                yield each, nearest_level(each.rival_level, house.levels)


def asks_for_rival(listed: ListedRoom) -> bool:
    """Return whether a person waits in the room and has asked for a rival."""
    is_waiting = listed.phase is Phase.WAITING and listed.rival_after_seconds is not None
    return is_waiting and not any(map(is_bot_name, listed.names))


def nearest_level(wished: str | None, offered: tuple[Level, ...]) -> Level:
    """Return the offered level that is nearest in strength to the wished one; of two, the weaker one."""
    order = list(Level)
    wanted = order.index(Level(wished) if wished in order else DEFAULT_LEVEL)
    return min(offered, key=lambda level: (abs(order.index(level) - wanted), order.index(level)))


async def keep_house(server_url: str, house: House, print_line: Callable[[str], None]) -> None:
    """Serve the lobby of a server until cancelled; `print_line` gets a line for each race. Rivals end with it."""
    races: dict[str, asyncio.Task[float]] = {}
    """By the code of its room, each race under way: its task returns for how long the room is left alone then."""
    left_until: dict[str, float] = {}
    waiting, programs, clock = Waiting(), Programs(random.Random()), asyncio.get_running_loop().time
    in_tournaments = TournamentRivals(server_url, programs.new_name, print_line, clock)
    print_line(f"The house offers {', '.join(house.levels)} at {server_url}.")
    try:
        while True:
            left_until = {code: until for code, until in left_until.items() if until > clock()}
            left_until |= {
                code: clock() + _seconds_after(code, race, print_line) for code, race in races.items() if race.done()
            }
            races = {code: race for code, race in races.items() if not race.done()}
            page = await _look(server_url)
            for listed, level in waiting.due(page, house, clock()) if page is not None else ():
                if (
                    len(races) + len(in_tournaments) < house.most_rooms
                    and listed.room not in races
                    and listed.room not in left_until
                ):
                    rival = _send_rival(server_url, listed.room, programs, level, print_line)
                    races[listed.room] = asyncio.create_task(rival)
            free = max(0, house.most_rooms - len(races) - len(in_tournaments))
            rows = await _look_at_tournaments(server_url) if page is not None else ()
            in_tournaments.send(rows, lambda wished: nearest_level(wished, house.levels), free)
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await in_tournaments.end()
        for race in races.values():
            race.cancel()
        endings = await asyncio.gather(*races.values(), return_exceptions=True)
        for code, ending in zip(races, endings, strict=True):
            if isinstance(ending, Exception):
                _print_fault(code, ending, print_line)


def _seconds_after(code: str, race: "asyncio.Task[float]", print_line: Callable[[str], None]) -> float:
    """Return the seconds for which the room of a race that is over is left alone.

    A fault in one race is printed, and costs no other room its rival.
    """
    fault = race.exception()
    if fault is None:
        return race.result()
    _print_fault(code, fault, print_line)
    return REFUSED_SECONDS


def _print_fault(code: str, fault: BaseException, print_line: Callable[[str], None]) -> None:
    print_line(f"A rival in {code} ended by a fault: {describe_fault(fault)}")


async def _look(server_url: str) -> LobbyPage | None:
    """Return the lobby's first page, which has the rooms with a free seat; None while the server does not answer."""
    try:
        return await asyncio.to_thread(read_message, server_url, "/lobby?page=0", LobbyPage)
    except PageUnreadable:
        return None


async def _look_at_tournaments(server_url: str) -> tuple[ListedTournament, ...]:
    """Return the tournaments that are open or under way; none while the server does not answer, or has none."""
    try:
        found = await asyncio.to_thread(read_message, server_url, "/tournaments", TournamentList)
    except PageUnreadable:
        return ()
    return found.tournaments


async def _send_rival(
    server_url: str, room: str, programs: Programs, level: Level, print_line: Callable[[str], None]
) -> float:
    """Play in a room until the rival is alone in it, or has lost its seat.

    Returns the seconds for which the room is left alone then: more if it refused the rival.
    """
    program = programs.take(level)
    connection = Connection(server_url, program.identity, Join(room=room), name=program.name)
    print_line(f"{program.name} joins {room}.")
    ending, seconds = "the room is closed or its seat was given to a person", LOOK_SECONDS
    try:
        if await play_as_rival(connection, level, random.Random()):
            ending = "it was left alone"
        programs.give_back(program)
    except Rejected as reason:
        ending, seconds = str(reason), AGAIN_SECONDS
        if reason.way_out is not WayOut.BANNED and program.identity.token is not None:
            # The server knows the program, so it was the room that refused it.
            programs.give_back(program)
            seconds = REFUSED_SECONDS
    except (Cheated, ThinkingFailed) as reason:
        ending, seconds = str(reason), REFUSED_SECONDS
    print_line(f"{program.name} is gone from {room}: {ending}.")
    return seconds


async def play_as_rival(connection: Connection, level: Level, chance: random.Random) -> bool:
    """Play matches and rematches in a room; leave it once the rival is alone in it, and return whether it was.

    Raises `Rejected`, `Cheated` and `ThinkingFailed`. Safe to cancel: the seat waits for its grace period.
    """
    session = RoomSession(connection, asks_record=False, saves_record=False)
    player = BotPlayer(session, level, chance, PROFILES[level].pace_seconds)
    left_alone = False

    async def react(_: KnownRoom, update: Update) -> None:
        nonlocal left_alone
        player.follow(update)
        if update.message is None:
            return
        if is_alone(update.model) and not left_alone:
            left_alone = True
            await session.leave()
        elif session.is_ready_wanted:
            await session.get_ready()
        elif may_ask_rematch(update.model):
            await session.ask_rematch()

    try:
        await session.run(react)
    finally:
        player.close()
    return left_alone


def is_alone(model: KnownRoom) -> bool:
    """Return whether we have a seat of a room whose other seat is free, or only another program sits there."""
    scene, seat = model.scene, model.seat
    if scene is None or seat is None or scene.phase in (Phase.DEALING, Phase.COUNTDOWN, Phase.RACING):
        return False
    other = scene.seats[1 - seat].name
    return other is None or is_bot_name(other)
