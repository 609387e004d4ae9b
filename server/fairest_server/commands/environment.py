"""Variables of the environment that begin with `FAIREST_`: one that nothing reads is a mistake, and is refused."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

import typer

from fairest_server.settings import ENV_PREFIX, Settings

CLIENT: Final = frozenset({"FAIREST_PLAIN", "FAIREST_SERVER"})
"""The variables of the client. A person who plays and serves on one machine has them in the same environment."""


class UnknownVariable(Exception):
    """A variable that nothing reads; the text names it, and the nearest one that is read."""


def refuse_unknown_variables(environment: Mapping[str, str], operator: typer.Typer) -> None:
    """Raise UnknownVariable for variables that neither settings, the client nor commands of `operator` read.

    The case of a name does not count, as for settings.
    """
    present = sorted(name for name in environment if name.upper().startswith(ENV_PREFIX))
    known = {f"{ENV_PREFIX}{field.upper()}" for field in Settings.model_fields} | CLIENT
    if any(name.upper() not in known for name in present):
        known |= set(_command_variables(typer.main.get_command(operator)))
    sentences = [_describe(name, known) for name in present if name.upper() not in known]
    if sentences:
        raise UnknownVariable("; ".join(sentences))


def _describe(name: str, known: Iterable[str]) -> str:
    # The prefix is common to all and would make any two names alike.
    tails = [each.removeprefix(ENV_PREFIX) for each in known]
    nearest = get_close_matches(name.upper().removeprefix(ENV_PREFIX), tails, n=1)
    remedy = (
        f"did you mean {ENV_PREFIX}{nearest[0]}?" if nearest else "fairest-server --help names them without the prefix"
    )
    if "_SERVICE_" in name or "_PORT_" in name:
        remedy = "Kubernetes sets it for a Service of the name fairest, unless the pod has enableServiceLinks: false"
    return f"the environment has {name}, which nothing reads; {remedy}"


def _command_variables(command: object) -> Iterator[str]:
    """Yield the variables that the options of a command, and of those below it, are read from."""
    for parameter in getattr(command, "params", ()):
        variables = parameter.envvar or ()
        yield from [variables] if isinstance(variables, str) else variables
    for each in getattr(command, "commands", {}).values():
        yield from _command_variables(each)
