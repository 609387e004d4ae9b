"""The operator's commands about rooms and processes: `rooms`, `processes` and `close`."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer

from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import Value
from fairest_server.commands.asking import Asking, VerbFailed, asking, run
from fairest_server.commands.operator_redis import DEFAULT_DATA_DIR, DataDir, RedisUrl, operator_redis
from fairest_server.commands.reporting import print_table
from fairest_server.room.steps import fold, from_checkpoint
from fairest_server.store.control import Close, Control, Describe, RoomRow
from fairest_server.store.log import Log

AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON for each row.")]
CLOSING_REASON = "closed by the operator"


class OpenRoom(Value):
    """A room that is not closed, the processes that have it open, and when it was created (ms)."""

    row: RoomRow
    processes: tuple[str, ...]
    since_ms: int


def rooms(as_json: AsJson = False, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """List all rooms that are not closed, listed in the lobby or not."""
    run(_print_rooms(as_json=as_json, redis_url=redis_url, data_dir=data_dir))


def processes(as_json: AsJson = False, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """List the server processes that are alive."""
    run(_print_processes(as_json=as_json, redis_url=redis_url, data_dir=data_dir))


def close(
    room: Annotated[str, typer.Argument(metavar="CODE", help="The room's code.")],
    reason: Annotated[str, typer.Option(help="Shown to everybody in the room.")] = CLOSING_REASON,
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Close a room. A race under way ends at once, as if its time were over, and its record is kept."""
    run(_close(room, reason, redis_url, data_dir))


def add_to(operator: typer.Typer) -> None:
    """Add the commands of this module."""
    operator.command()(rooms)
    operator.command()(processes)
    operator.command()(close)


async def _print_rooms(*, as_json: bool, redis_url: RedisUrl, data_dir: DataDir) -> None:
    async with operator_redis(redis_url, data_dir) as redis:
        found = await _open_rooms(Asking(Control(redis)), Log(redis))
    if as_json:
        for each in found:
            shown = each.row.model_dump(mode="json") | {"processes": each.processes, "since_ms": each.since_ms}
            print(json.dumps(shown))
        return
    cells = [("room", "phase", "watch", "listed", "since", "process", "players")]
    for each in found:
        row = each.row
        names = ", ".join(name or "-" for name in row.names)
        listed = "yes" if row.listed else "no"
        processes = ", ".join(each.processes) or "-"
        since = format_time(each.since_ms)[5:-4]
        cells.append((row.room, row.phase, str(row.spectators), listed, since, processes, names))
    print_table(cells, head=5)


async def _open_rooms(asked: Asking, log: Log) -> list[OpenRoom]:
    """Return the rooms that processes have open, and those that wait in Redis, the oldest first."""
    rows: dict[str, tuple[RoomRow, tuple[str, ...]]] = {}
    answers = await asked.ask_all(Describe(rooms=True)) if await asked.control.living() else {}
    for process_id, answer in answers.items():
        for row in answer.rooms if answer else ():
            known, processes = rows.get(row.room, (None, ()))
            spectators = row.spectators + (known.spectators if known else 0)
            rows[row.room] = row.model_copy(update={"spectators": spectators}), (*processes, process_id)
    for code in await log.indexed_rooms():
        if code not in rows and (waiting := await _read_room(log, code)) is not None:
            rows[code] = waiting, ()
    created = await log.created_ms(list(rows))
    found = [OpenRoom(row, ids, at_ms) for (row, ids), at_ms in zip(rows.values(), created, strict=True)]
    return sorted(found, key=lambda each: (each.since_ms, each.row.room))


async def _read_room(log: Log, code: str) -> RoomRow | None:
    """Return a room that no process has open, from its log; None if it is closed, gone, or cannot be read."""
    try:
        steps = fold(from_checkpoint(await log.read(code)))
    except ValueError:
        return None
    if not steps or steps[-1].after.phase is Phase.CLOSED:
        return None
    state = steps[-1].after
    first, second = (seat.name if seat else None for seat in state.seats)
    return RoomRow(room=code, phase=state.phase, names=(first, second), spectators=0, listed=state.options.listed)


async def _print_processes(*, as_json: bool, redis_url: RedisUrl, data_dir: DataDir) -> None:
    async with asking(redis_url, data_dir) as asked:
        answers = await asked.ask_all(Describe(rooms=False))
    cells: list[tuple[str, ...]] = [("process", "host", "pid", "connections", "rooms", "races", "state")]
    for process_id, answer in answers.items():
        row = answer.process if answer else None
        if as_json:
            print(json.dumps({"process": process_id} | (row.model_dump(mode="json") if row else {"silent": True})))
        elif row is None:
            cells.append((process_id, "-", "-", "-", "-", "-", "does not answer"))
        else:
            counts = (str(each) for each in (row.pid, row.connections, row.rooms, row.races))
            cells.append((process_id, row.host, *counts, "drains" if row.draining else "serves"))
    if not as_json:
        print_table(cells)


async def _close(room: str, reason: str, redis_url: RedisUrl, data_dir: DataDir) -> None:
    request = Close(room=room, reason=reason)
    async with asking(redis_url, data_dir) as asked:
        process_id, answer = await asked.ask_any(request)
    if not answer.done:
        raise VerbFailed(f"{room} is not closed by this: {answer.sentence}")
    print(f"{room} is closed, by process {process_id}")


def format_time(at_ms: int) -> str:
    """Return a time in ms as text, in UTC; a dash for 0."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}Z" if at_ms else "-"
