"""The commands `fairest tournament create`, `join`, `watch`, `list`, `replay` and `analyse`."""

import asyncio
import secrets
import sys
from typing import Annotated, NoReturn

import typer

from fairest_cli.bots.levels import Level
from fairest_cli.commands.options import (
    Json,
    Name,
    Plain,
    RulesName,
    Server,
    chosen_rules,
    fail,
    is_full_screen,
    saved_settings,
)
from fairest_cli.commands.solo_races import analyse_races, replay_races
from fairest_cli.exit_codes import BROKEN_SEAL, INTERRUPTED
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.own_names import own_names
from fairest_cli.records.receipts import receipts_folder
from fairest_cli.records.tournament_receipt import own_names_in
from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.tournament_connection import Entering, TournamentConnection
from fairest_cli.session.tournament_pages import fetch_tournaments
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.keyboard import reading_lines
from fairest_cli.text.tournament import describe_list, describe_standings
from fairest_cli.text.tournament_opening import open_races
from fairest_cli.text.tournament_player import follow_tournament
from fairest_cli.untrusted_text import as_json_line, clean
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.tournament import MOST_PLAYERS, MOST_ROUNDS
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    TournamentFormat,
    TournamentPhase,
    WatchTournament,
)

app = typer.Typer()
tournament = typer.Typer(help="Tournaments: everybody races the same deals. They are not rated.", no_args_is_help=True)
app.add_typer(tournament, name="tournament")

Code = Annotated[str, typer.Argument(metavar="CODE", help="The code of the tournament.")]


@tournament.command("create")
def create_tournament(
    rules: RulesName = "classic",
    kind: Annotated[
        TournamentFormat, typer.Option("--format", help="How players are paired.")
    ] = TournamentFormat.SWISS,
    rounds: Annotated[
        int | None, typer.Option(min=1, max=MOST_ROUNDS, help="Rounds of a Swiss tournament; else as many as needed.")
    ] = None,
    players: Annotated[int, typer.Option(min=2, max=MOST_PLAYERS, help="Most players.")] = 16,
    rivals: Annotated[
        Level | None, typer.Option(help="Fill the tournament up with rivals of this level when it is started.")
    ] = None,
    ready_seconds: Annotated[int, typer.Option(min=5, max=3600, help="Time to get ready for a round.")] = 120,
    limit_seconds: Annotated[int, typer.Option(min=30, max=3600, help="Time for a race.")] = 1200,
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    as_json: Json = False,
    plain: Plain = False,
) -> None:
    """Create a tournament, and enter it. You start it when all are here."""
    request = CreateTournament(
        rules=chosen_rules(rules, None, None).name,
        format=kind,
        rounds=rounds,
        most_players=players,
        rival_level=None if rivals is None else rivals.value,
        ready_seconds=ready_seconds,
        limit_seconds=limit_seconds,
        key=secrets.token_hex(16),
    )
    _follow(server, name, request, plain=plain, as_json=as_json)


@tournament.command("join")
def join_tournament(
    code: Code, server: Server = DEFAULT_SERVER, name: Name = None, as_json: Json = False, plain: Plain = False
) -> None:
    """Enter a tournament, or come back to it."""
    _follow(server, name, _with_code(JoinTournament, code), plain=plain, as_json=as_json)


@tournament.command("watch")
def watch_tournament(
    code: Code, server: Server = DEFAULT_SERVER, name: Name = None, as_json: Json = False, plain: Plain = False
) -> None:
    """Watch a tournament: its pairs, the cards that are placed, and the standings."""
    _follow(server, name, _with_code(WatchTournament, code), plain=plain, as_json=as_json)


@tournament.command("list")
def list_tournaments(server: Server = DEFAULT_SERVER, as_json: Json = False) -> None:
    """List the tournaments of a server that are open or under way."""
    try:
        rows = fetch_tournaments(server).tournaments
    except PageUnreadable as reason:
        fail(str(reason))
    for line in map(as_json_line, rows) if as_json else describe_list(rows):
        print(line)


RoundOption = Annotated[int | None, typer.Option("--round", min=1, help="The round; else the last one that is over.")]
PlayerOption = Annotated[
    str | None, typer.Option(help="The player whose race is shown; else you, or the one with the best score.")
]


@tournament.command("replay")
def replay_tournament(
    code: Code,
    number: RoundOption = None,
    player: PlayerOption = None,
    server: Server = DEFAULT_SERVER,
    name: Name = None,
    plain: Plain = False,
) -> None:
    """Step through the races of a pair in a round that is over."""
    replay_races(_races(server, code, number, player, name), plain=plain)


@tournament.command("analyse")
def analyse_tournament(
    code: Code,
    number: RoundOption = None,
    player: PlayerOption = None,
    server: Server = DEFAULT_SERVER,
    name: Name = None,
) -> None:
    """Say what each move of a pair in a round that is over was worth, beside the best one."""
    analyse_races(_races(server, code, number, player, name))


def _races(server: str, code: str, number: int | None, player: str | None, name: str | None) -> Record:
    """Return the races of a pair as a match; end the program with a sentence if they cannot be shown."""
    code = _with_code(WatchTournament, code).tournament
    known = [*own_names_in(receipts_folder(), code), *own_names(saved_settings().name)]
    own = [name] if name is not None else known
    try:
        return open_races(server, code, number, player, own)
    except PageUnreadable as reason:
        fail(str(reason))
    except Cheated as reason:
        _end_cheated(reason)


def _end_cheated(reason: Cheated) -> NoReturn:
    print(f"fairest: THE SEAL IS BROKEN. {clean(str(reason))}", file=sys.stderr)
    raise SystemExit(BROKEN_SEAL)


def _with_code(kind: type[JoinTournament] | type[WatchTournament], code: str) -> JoinTournament | WatchTournament:
    try:
        return kind(tournament=code.strip().lower())
    except ValueError as reason:
        raise typer.BadParameter(f"{code!r} is not a code; one looks like quiet-amber-otter") from reason


def _follow(server: str, name: str | None, entering: Entering, *, plain: bool, as_json: bool) -> None:
    if is_full_screen(plain=plain, as_json=as_json):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import InTournament

        run_full_screen(InTournament(entering, server, name))
        return
    try:
        asyncio.run(_follow_in_lines(server, name, entering, as_json=as_json))
    except (Rejected, IdentityInUse) as reason:
        fail(str(reason))
    except Cheated as reason:
        _end_cheated(reason)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


async def _follow_in_lines(server: str, name: str | None, entering: Entering, *, as_json: bool) -> None:
    with open_identity(server, name) as identity:
        connection = TournamentConnection(server, identity, name, receipts_folder())
        try:
            entered = await connection.enter(entering)
            if connection.problem:
                print(clean(connection.problem), file=sys.stderr)
            with reading_lines(has_prompt=not as_json) as read_lines:
                shown = await follow_tournament(connection, read_lines(), _ignore if as_json else _print)
            if as_json:
                print(as_json_line(shown))
            elif shown.phase is TournamentPhase.OVER and entered.phase is TournamentPhase.OVER:
                print("\n".join(describe_standings(shown, connection.name)))
        finally:
            await connection.close()


def _print(line: str) -> None:
    print(line, flush=True)


def _ignore(_: str) -> None:
    """Print nothing: programs get the tournament when it is over."""
