"""The options and arguments of the commands of `fairest`, each with its check and its help."""

import sys
from functools import cache
from typing import Annotated, NoReturn

import typer

from fairest_cli.exit_codes import FAULT
from fairest_cli.session.addresses import name_problem, server_problem
from fairest_cli.text.keyboard import can_draw
from fairest_cli.tui.settings import Settings, load_settings, settings_path
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.rules import VARIANTS, BadRules, Rules, choose_rules
from fairest_protocol.version import describe_version


def check_server(url: str) -> str:
    """Return the address of a server. Raises `typer.BadParameter` for a text that is not one."""
    problem = server_problem(url)
    if problem:
        raise typer.BadParameter(problem)
    return url


def _chosen_server(context: typer.Context, param: typer.CallbackParam, url: str) -> str:
    """Return the address given by option or variable, else that of the settings, else that of this machine."""
    source = context.get_parameter_source(param.name or "")
    is_given = source is not None and not source.name.startswith("DEFAULT")
    return check_server(url) if is_given else saved_settings().server or url


def _chosen_name(name: str | None) -> str | None:
    """Return the name that was given, else that of the settings, else None."""
    if name is None:
        return saved_settings().name or None
    problem = name_problem(name)
    if problem:
        raise typer.BadParameter(problem)
    return name


@cache
def saved_settings() -> Settings:
    """Return the player's settings, as far as their file can be read."""
    settings, _ = load_settings(settings_path())
    return settings


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


Server = Annotated[str, typer.Option(envvar="FAIREST_SERVER", help="Address of the server.", callback=_chosen_server)]
Name = Annotated[
    str | None,
    typer.Option(
        help="Your name: 2 to 20 letters, digits, - or _. It chooses among your players on this machine.",
        callback=_chosen_name,
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
OptionalVariant = Annotated[
    str | None,
    typer.Argument(metavar="VARIANT", help=f"The variant: {', '.join(VARIANTS)}.", autocompletion=_complete_rules),
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
