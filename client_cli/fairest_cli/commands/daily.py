"""The command `fairest daily`: race the daily deal of a server, or look at the table of a day that is over."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from fairest_cli.commands.options import Json, Name, Plain, RulesName, Server, chosen_rules, fail, is_full_screen
from fairest_cli.commands.solo_races import analyse_races, replay_races
from fairest_cli.exit_codes import BROKEN_SEAL, INTERRUPTED
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.daily_match import as_match
from fairest_cli.records.daily_notes import daily_folder, day_under_way
from fairest_cli.session.daily_connection import DailyConnection
from fairest_cli.session.daily_pages import fetch_daily
from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.daily_opening import OpenedDaily, describe_opened, fetch_row, open_daily
from fairest_cli.text.daily_player import race_daily
from fairest_cli.text.keyboard import reading_lines
from fairest_cli.text.narration import describe_broken_seal
from fairest_cli.untrusted_text import as_json_line
from fairest_protocol.calculation.daily import day_start_ms, next_day
from fairest_protocol.calculation.rules import Rules

app = typer.Typer()


def _checked_day(day: str | None) -> str | None:
    """Return a day. Raises `typer.BadParameter` for a text that is not one."""
    try:
        if day is not None:
            day_start_ms(day)
    except ValueError as reason:
        raise typer.BadParameter("a day looks like 2026-11-24") from reason
    return day


@app.command()
def daily(
    rules: RulesName = "classic",
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    yesterday: Annotated[bool, typer.Option("--yesterday", help="Show the table of yesterday's deal.")] = False,
    day: Annotated[
        str | None, typer.Option(metavar="DAY", callback=_checked_day, help="Show the deal of this day: 2026-11-24.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Step through an attempt of that day: yours, or that of --rank.")
    ] = False,
    analyse: Annotated[
        bool, typer.Option("--analyse", help="Say what each move of an attempt was worth, beside the best one.")
    ] = False,
    rank: Annotated[int | None, typer.Option(min=1, help="The attempt to replay or analyse, by its rank.")] = None,
    as_json: Json = False,
    plain: Plain = False,
) -> None:
    """Race today's daily deal of a server, once: everybody has the same sealed deck. Ranked when the day is over."""
    chosen = chosen_rules(rules, None, None)
    if yesterday and day is not None:
        raise typer.BadParameter("--yesterday is a day already; leave out --day")
    if (replay or analyse or rank is not None) and not (yesterday or day):
        raise typer.BadParameter("--replay, --analyse and --rank need --yesterday or --day")
    shown = next_day(_today(), -1) if yesterday else day
    try:
        if shown is not None:
            _look_back(
                chosen, server, name, shown, rank, replays=replay, analyses=analyse, as_json=as_json, plain=plain
            )
        elif as_json:
            print(as_json_line(fetch_daily(server, chosen.name, None)))
        else:
            _race(chosen, server, name, plain=plain)
    except (Rejected, IdentityInUse, PageUnreadable) as reason:
        fail(str(reason))
    except Cheated as reason:
        print("\n".join(describe_broken_seal(reason, daily_folder())), file=sys.stderr)
        raise SystemExit(BROKEN_SEAL) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _race(rules: Rules, server: str, name: str | None, *, plain: bool) -> None:
    if is_full_screen(plain=plain):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import InDaily

        run_full_screen(InDaily(rules, server, name))
        return
    asyncio.run(_race_in_lines(rules, server, name))


async def _race_in_lines(rules: Rules, server: str, name: str | None) -> None:
    with open_identity(server, name) as identity:
        day = day_under_way(server, name, rules.name, now_ms())
        connection = DailyConnection(server, identity, rules, name, day)
        try:
            with reading_lines() as read_lines:
                await race_daily(connection, server, read_lines(), print)
        finally:
            await connection.close()


def _look_back(
    rules: Rules,
    server: str,
    name: str | None,
    day: str,
    rank: int | None,
    *,
    replays: bool,
    analyses: bool,
    as_json: bool,
    plain: bool,
) -> None:
    """Show the table of a day, or an attempt of it."""
    opened = open_daily(server, rules, day, name)
    if as_json:
        print(as_json_line(opened.page if isinstance(opened, OpenedDaily) else opened))
        return
    if not replays and not analyses:
        print("\n".join(describe_opened(opened)))
        return
    if not isinstance(opened, OpenedDaily):
        fail("this deal is not opened yet, so no attempt can be shown")
    row, best = opened.find(rank), opened.rows[0]
    record = fetch_row(server, opened, row)
    match = as_match(record, None if row.attempt == best.attempt else fetch_row(server, opened, best))
    if analyses:
        analyse_races(match)
    else:
        replay_races(match, plain=plain)
