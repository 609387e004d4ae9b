"""The operator's commands about players and clients: `ban`, `unban`, `bans`, `rename` and `announce`."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from fairest_server.commands.asking import VerbFailed, asking, run
from fairest_server.commands.operator_redis import DEFAULT_DATA_DIR, DataDir, RedisUrl, operator_redis
from fairest_server.commands.reporting import print_table
from fairest_server.commands.rooms import AsJson, format_time
from fairest_server.store.bans import BanStore
from fairest_server.store.control import AddBan, Announce, RemoveBan, Rename, Verb

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}


def parse_duration(text: str) -> int:
    """Return the seconds of a duration such as 90s, 30m, 12h, 7d or 2w. Raises typer.BadParameter."""
    found = re.fullmatch(r"([1-9][0-9]{0,6})([smhdw])", text)
    if found is None:
        raise typer.BadParameter(f"{text!a} is not a duration; one looks like 30m, 12h, 7d or 2w")
    return int(found[1]) * _UNITS[found[2]]


Subject = Annotated[
    str, typer.Argument(metavar="NAME|ADDRESS", help="A player's name, an address, or a network such as 10.0.0.0/8.")
]


def ban(
    subject: Subject,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="30m, 12h, 7d or 2w; without it, until `unban`.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Shown to those who are banned.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Keep a player, or everybody from an address, off these servers; open connections are closed."""
    seconds = None if duration is None else parse_duration(duration)

    def make_request() -> AddBan:
        return AddBan(subject=subject, seconds=seconds, reason=reason)

    run(_ask_any(make_request, f"{subject} is banned", redis_url, data_dir))


def unban(subject: Subject, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """End a ban."""
    run(_ask_any(lambda: RemoveBan(subject=subject), f"{subject} is banned no more", redis_url, data_dir))


def bans(as_json: AsJson = False, redis_url: RedisUrl = None, data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """List the bans that hold."""
    run(_print_bans(as_json=as_json, redis_url=redis_url, data_dir=data_dir))


def rename(
    name: Annotated[str, typer.Argument(help="The name that the player has now.")],
    new_name: Annotated[str, typer.Argument(metavar="NEW", help="The name that it gets.")],
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Give a player another name, from its next connection on; nobody can take the old one for 30 days."""
    run(_ask_any(lambda: Rename(name=name, new_name=new_name), f"{name} is {new_name} now", redis_url, data_dir))


def announce(
    text: Annotated[str, typer.Argument(help="One line of at most 500 characters.")],
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Show a sentence to everybody who is connected."""
    run(_announce(text, redis_url, data_dir))


def add_to(operator: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (ban, unban, bans, rename, announce):
        operator.command()(command)


async def _ask_any(make_request: Callable[[], Verb], success: str, redis_url: str | None, data_dir: Path) -> None:
    """Let any process carry out a request. Raises ValidationError for a text that cannot be part of one."""
    request = make_request()
    async with asking(redis_url, data_dir) as asked:
        process_id, answer = await asked.ask_any(request)
    if not answer.done:
        raise VerbFailed(answer.sentence)
    print(f"{success}, by process {process_id}")


async def _announce(text: str, redis_url: str | None, data_dir: Path) -> None:
    request = Announce(text=text)
    async with asking(redis_url, data_dir) as asked:
        answers = await asked.ask_all(request)
    for process_id, answer in answers.items():
        print(f"process {process_id}: {answer.sentence if answer else 'does not answer'}")
    if not all(answers.values()):
        raise VerbFailed("not every process has announced it; see their logs")


async def _print_bans(*, as_json: bool, redis_url: str | None, data_dir: Path) -> None:
    async with operator_redis(redis_url, data_dir) as redis:
        store = BanStore(redis)
        now_ms, (_, known) = await store.now_ms(), await store.read()
    holding = [each for each in known if each.holds(now_ms)]
    if as_json:
        for each in holding:
            print(json.dumps(each.model_dump(mode="json")))
        return
    cells = [("banned", "since", "until", "reason")]
    for each in holding:
        until = format_time(each.until_ms) if each.until_ms is not None else "for good"
        cells.append((each.subject, format_time(each.since_ms), until, each.reason or "-"))
    print_table(cells)
