"""The options and arguments of the commands of `fairest`, each with its check and its help."""

import re
import sys
from typing import Annotated, NoReturn
from urllib.parse import urlsplit

import typer

from fairest_cli.exit_codes import FAULT
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.text.keyboard import can_draw
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.rules import VARIANTS, BadRules, Rules, choose_rules
from fairest_protocol.version import describe_version


def check_server(url: str) -> str:
    """Return the address of a server. Raises `typer.BadParameter` for a text that is not one."""
    try:
        address = urlsplit(url)
        # `port` raises ValueError for a port out of range, the codec for a name that DNS cannot hold.
        is_address = address.scheme in ("ws", "wss") and bool(address.hostname) and address.port != 0
        (address.hostname or "").encode("idna")
    except ValueError:
        is_address = False
    if not is_address:
        raise typer.BadParameter(f"a server's address looks like {DEFAULT_SERVER}, not {url!r}")
    return url


def _check_name(name: str | None) -> str | None:
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]{2,20}", name):
        raise typer.BadParameter("a name has 2 to 20 letters, digits, - or _")
    return name


def is_full_screen(*, plain: bool, as_json: bool = False) -> bool:
    """Return whether the full-screen client is wanted, and can be shown on this terminal."""
    # Textual reads from the first and writes to the last of them; if any is redirected, lines are wanted.
    return can_draw() and sys.stderr.isatty() and not plain and not as_json


def _print_version(wanted: bool) -> None:
    if wanted:
        print(describe_version())
        raise SystemExit(0)


def _complete_rules(begun: str) -> list[str]:
    return [name for name in VARIANTS if name.startswith(begun)]


Server = Annotated[str, typer.Option(envvar="FAIREST_SERVER", help="Address of the server.", callback=check_server)]
Name = Annotated[
    str | None,
    typer.Option(
        help="Your name: 2 to 20 letters, digits, - or _. It chooses among your players on this machine.",
        callback=_check_name,
    ),
]
RulesName = Annotated[str, typer.Option(help=f"The variant: {', '.join(VARIANTS)}.", autocompletion=_complete_rules)]
Piles = Annotated[int | None, typer.Option(help="Waste piles, 1 to 8, where the variant leaves a choice.")]
Redeals = Annotated[int | None, typer.Option(help="Redeals, 0 to 2, where the variant leaves a choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print each message of the server as one line of JSON.")]
Plain = Annotated[
    bool,
    typer.Option("--plain", envvar="FAIREST_PLAIN", help="Print lines of text instead of opening the full screen."),
]
Version = Annotated[
    bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
]
Code = Annotated[str, typer.Argument(help="The room's code, which the player who created it sees.")]
VariantName = Annotated[
    str, typer.Argument(help=f"The variant: {', '.join(VARIANTS)}.", autocompletion=_complete_rules)
]
Seed = Annotated[str | None, typer.Option(help="A seed: 64 hexadecimal digits, or any text, which is hashed.")]


def chosen_rules(name: str, piles: int | None, redeals: int | None) -> Rules:
    """Return the rules of a variant with these piles and redeals. Raises `typer.BadParameter` with a sentence."""
    try:
        return choose_rules(name, piles, redeals)
    except BadRules as reason:
        raise typer.BadParameter(str(reason)) from reason


def fail(sentence: str) -> NoReturn:
    """Print a sentence on standard error, made safe for a terminal, and end the program with exit code 1."""
    print(f"fairest: {clean(sentence)}", file=sys.stderr)
    raise SystemExit(FAULT)
