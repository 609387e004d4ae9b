"""The commands of `fairest` that enter no room: practice, replay, history, verify, rules and deal."""

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from fairest_cli.bots.hints import choose_hint
from fairest_cli.commands.options import (
    OptionalVariant,
    Piles,
    Plain,
    Redeals,
    RulesName,
    Seed,
    Server,
    chosen_rules,
    fail,
    is_full_screen,
    saved_settings,
)
from fairest_cli.commands.record_source import RECORD_HELP, RecordSource, find_record_text
from fairest_cli.exit_codes import BROKEN_SEAL
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.model.practice import Practice, start_from_record, start_practice, toggle_stock
from fairest_cli.model.seeds import daily_seed, new_seed, read_seed
from fairest_cli.records.files import records_folder, split_lines
from fairest_cli.records.history import past_matches
from fairest_cli.records.own_names import own_names
from fairest_cli.records.receipt_replay import BadReceipt
from fairest_cli.records.receipts import read_receipt
from fairest_cli.records.statistics import statistics_of
from fairest_cli.text import replay as replaying
from fairest_cli.text import variant_reference
from fairest_cli.text.ghost import QUIT
from fairest_cli.text.history import describe_history, history_as_json
from fairest_cli.text.practice import HELP, answer, describe_deal_again, describe_practice
from fairest_cli.text.verification import verify as verification_of
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.rules import find_variant

app = typer.Typer()


@app.command()
def practice(
    variant: OptionalVariant = None,
    piles: Piles = None,
    redeals: Redeals = None,
    seed: Seed = None,
    daily: Annotated[bool, typer.Option("--daily", help="Today's training deal, the same for everybody.")] = False,
    open_stock: Annotated[bool, typer.Option("--open-stock", help="Show the cards still to come.")] = False,
    record: Annotated[
        str | None, typer.Option(metavar="RECORD", help=f"Play the deal of a record. {RECORD_HELP}")
    ] = None,
    round_number: Annotated[
        int | None, typer.Option("--round", min=1, help="The round of the record; by default its last one.")
    ] = None,
    server: Server = DEFAULT_SERVER,
    plain: Plain = False,
) -> None:
    """Play alone, offline: take moves back, ask for hints, look into the stock, play a deal again."""
    if record is None and round_number is not None:
        raise typer.BadParameter("--round chooses a round of --record RECORD")
    if record is not None:
        if (variant, piles, redeals, seed, daily) != (None, None, None, None, False):
            raise typer.BadParameter("a record has its own variant, piles, redeals and seed")
        game = _start_from_record(record, round_number, server)
    else:
        rules = chosen_rules(variant or "classic", piles, redeals)
        if daily and seed is not None:
            raise typer.BadParameter("--daily has a seed of its own; leave out --seed")
        seed = daily_seed(rules, datetime.now(UTC).date()) if daily else seed
        game = start_practice(rules, new_seed() if seed is None else seed)
    game = toggle_stock(game) if open_stock else game
    if is_full_screen(plain=plain):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import InPractice

        run_full_screen(InPractice(game))
        return
    print(HELP)
    print("\n".join(describe_practice(game)))
    try:
        for line in typed_lines():
            if line.strip().lower() in QUIT:
                break
            game, lines = answer(game, line, new_seed, choose_hint)
            print("\n".join(lines))
    except KeyboardInterrupt:
        print()
    print(describe_deal_again(game))


@app.command()
def replay(source: RecordSource, server: Server = DEFAULT_SERVER, plain: Plain = False) -> None:
    """Step through the record of a match. Without a terminal, print every step."""
    replay_record(source, server, plain=plain)


def replay_record(source: str, server: str, *, plain: bool) -> None:
    """Step through the record of a match: a file, or from a server by the match's id."""
    text = find_record_text(source, server)
    try:
        record = read_record(split_lines(text))
        steps = replaying.all_steps(record)
    except BadRecord as reason:
        fail(f"{source} is not a valid record: {reason}")
    if steps and is_full_screen(plain=plain):
        from fairest_cli.tui.app import run_full_screen
        from fairest_cli.tui.launch import AtReplay

        run_full_screen(AtReplay(record))
        return
    print("\n".join(replaying.describe_record(record)))
    if sys.stdin.isatty() and sys.stdout.isatty():
        _step_through(record, steps)
    else:
        for number in range(len(steps)):
            print("\n".join(replaying.describe_step(record, steps, number)))


@app.command()
def history(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures and the matches as JSON.")] = False,
) -> None:
    """Show your bests, streaks and win rates, and list the matches recorded on this machine, the newest first."""
    matches = past_matches(records_folder(), own_names(saved_settings().name))
    figures = statistics_of(matches)
    if as_json:
        print(json.dumps(history_as_json(matches, figures), indent=2))
    else:
        print("\n".join(describe_history(matches, figures)))


@app.command()
def verify(
    source: Annotated[str | None, typer.Argument(metavar="RECORD", help=RECORD_HELP)] = None,
    receipt: Annotated[Path | None, typer.Option(help="Your own receipt, as your client saved it.")] = None,
    key: Annotated[str | None, typer.Option(help="The server's public key, 64 hexadecimal digits.")] = None,
    server: Server = DEFAULT_SERVER,
) -> None:
    """Prove a record, offline: seal, deal, every move, the result. The exit code is 3 if something is wrong.

    With --receipt and no RECORD, judge how each round in the receipt ended.
    """
    if source is None and receipt is None:
        raise typer.BadParameter("name a RECORD, or a receipt with --receipt")
    if key is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", key):
        raise typer.BadParameter("a key has 64 hexadecimal digits; the server shows its own under /key")
    known = None if key is None else bytes.fromhex(key)
    record_text = None if source is None else find_record_text(source, server)
    try:
        verification = verification_of(record_text, known, None if receipt is None else read_receipt(receipt))
    except BadReceipt as reason:
        fail(f"{receipt} is not a receipt: {reason}")
    except OSError as reason:
        fail(f"cannot read {receipt}: {reason.strerror}")
    print("\n".join(verification.lines))
    if not verification.is_right:
        raise SystemExit(BROKEN_SEAL)


@app.command()
def rules(
    variant: Annotated[str | None, typer.Argument(help="The variant; without one, all variants are listed.")] = None,
    piles: Piles = None,
    redeals: Redeals = None,
    seed: Seed = None,
) -> None:
    """List the variants, or print the reference card of one."""
    if variant is None and (piles, redeals, seed) != (None, None, None):
        raise typer.BadParameter("name a variant to see it with these piles, redeals or this seed")
    if variant is None:
        print("\n".join(variant_reference.describe_variants()))
        return
    chosen = chosen_rules(variant, piles, redeals)
    given = None if seed is None else read_seed(seed)
    print("\n".join(variant_reference.describe_variant(find_variant(variant), chosen, given)))


@app.command()
def deal(
    seed: Annotated[str, typer.Argument(help="64 hexadecimal digits, or any text.")],
    rules: RulesName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
) -> None:
    """Print the deal of a seed, to check it or to lay it out with real cards."""
    print("\n".join(variant_reference.describe_deal(chosen_rules(rules, piles, redeals), read_seed(seed))))


def _start_from_record(source: str, round_number: int | None, server: str) -> Practice:
    """Return a game on a deal of the record that `source` names; end the program with a sentence if there is none."""
    text = find_record_text(source, server)
    try:
        return start_from_record(read_record(split_lines(text)), None if round_number is None else round_number - 1)
    except BadRecord as reason:
        fail(f"{source} cannot be practised: {reason}")


def _step_through(record: Record, steps: list[replaying.Step]) -> None:
    index: int | None = 0
    while index is not None and steps:
        print("\n".join(replaying.describe_step(record, steps, index)))
        try:
            index = replaying.next_index(input(f"{replaying.HELP} > "), index, len(steps) - 1)
        except ValueError as reason:
            print(reason)
        except EOFError:
            return


def typed_lines() -> Iterator[str]:
    """Yield the lines of standard input; a terminal gets a prompt for each."""
    prompt = "> " if sys.stdin.isatty() and sys.stdout.isatty() else ""
    while True:
        try:
            yield input(prompt)
        except EOFError:
            return
