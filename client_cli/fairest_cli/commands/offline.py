"""The commands of `fairest` that enter no room: practice, replay, history, verify, rules and deal."""

import re
import shlex
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import typer

from fairest_cli.commands.options import (
    Piles,
    Plain,
    Redeals,
    RulesName,
    Seed,
    Server,
    VariantName,
    chosen_rules,
    fail,
    is_full_screen,
)
from fairest_cli.commands.record_source import RECORD_HELP, RecordSource, read_record_text
from fairest_cli.exit_codes import BROKEN_SEAL
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.files import records_folder, split_lines
from fairest_cli.records.history import describe_history, past_matches
from fairest_cli.records.receipt_replay import BadReceipt, judge_receipt
from fairest_cli.records.receipts import read_receipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import LIMITS_OF_RECEIPT, LIMITS_OF_RECORD, WrongRecord, verify_record
from fairest_cli.text import replay as replaying
from fairest_cli.text import variant_reference
from fairest_cli.text.practice import HELP, answer, describe_practice, start_practice
from fairest_cli.text.seeds import daily_seed, new_seed, read_seed
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.rules import find_variant

QUIT: Final = ("quit", "q", "leave")

app = typer.Typer()


@app.command()
def practice(
    variant: VariantName = "classic",
    piles: Piles = None,
    redeals: Redeals = None,
    seed: Seed = None,
    daily: Annotated[bool, typer.Option("--daily", help="Today's training deal, the same for everybody.")] = False,
    open_stock: Annotated[bool, typer.Option("--open-stock", help="Show the cards still to come.")] = False,
) -> None:
    """Play alone, offline: take moves back, look into the stock, play a deal again."""
    rules = chosen_rules(variant, piles, redeals)
    if daily and seed is not None:
        raise typer.BadParameter("--daily has a seed of its own; leave out --seed")
    if daily:
        seed = daily_seed(rules, datetime.now(UTC).date())
    game = start_practice(rules, new_seed() if seed is None else seed, shows_stock=open_stock)
    print(HELP)
    print("\n".join(describe_practice(game)))
    try:
        for line in typed_lines():
            if line.strip().lower() in QUIT:
                break
            game, lines = answer(game, line, new_seed)
            print("\n".join(lines))
    except KeyboardInterrupt:
        print()
    chosen = f"{game.rules.name} --piles {game.rules.piles} --redeals {game.rules.redeals}"
    print(f"This deal again: fairest practice {chosen} --seed {clean(shlex.quote(game.seed))}")


@app.command()
def replay(source: RecordSource, server: Server = DEFAULT_SERVER, plain: Plain = False) -> None:
    """Step through the record of a match. Without a terminal, print every step."""
    replay_record(source, server, plain=plain)


def replay_record(source: str, server: str, *, plain: bool) -> None:
    """Step through the record of a match: a file, or from a server by the match's id."""
    text = read_record_text(source, server)
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
def history() -> None:
    """List the matches recorded on this machine, the newest first."""
    print("\n".join(describe_history(past_matches(records_folder()))))


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
    record_text = None if source is None else read_record_text(source, server)
    shown = () if receipt is None else read_receipt(receipt)
    try:
        if record_text is None:
            sentences = judge_receipt(shown)
        else:
            record, checks = verify_record(record_text, known)
            sentences = chain(checks, compare_receipt(record, shown) if receipt is not None else ())
        for sentence in sentences:
            print(sentence)
    except BadReceipt as reason:
        fail(f"{receipt} is not a receipt: {reason}")
    except OSError as reason:
        fail(f"cannot read {receipt}: {reason.strerror}")
    except WrongRecord as reason:
        print(f"WRONG: {clean(str(reason))}")
        raise SystemExit(BROKEN_SEAL) from None
    print("Everything that can be checked is right.")
    print(LIMITS_OF_RECORD if receipt is None else LIMITS_OF_RECEIPT)


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
