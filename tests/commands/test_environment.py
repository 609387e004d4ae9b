"""A variable `FAIREST_...` that nothing reads is refused, with the nearest name that is read."""

import os
import subprocess
from collections.abc import Iterator
from typing import Annotated

import pytest
import typer

from fairest_cli.commands.main import app
from fairest_server.commands.environment import CLIENT, UnknownVariable, refuse_unknown_variables
from fairest_server.commands.main import operator
from fairest_server.settings import Settings
from tests.support.processes import SERVER_COMMAND


def test_the_nearest_name_is_shown() -> None:
    with pytest.raises(UnknownVariable, match=r"has FAIREST_REDIS_ULR, .* did you mean FAIREST_REDIS_URL\?"):
        refuse_unknown_variables({"FAIREST_REDIS_ULR": "redis://127.0.0.1"}, operator)


def test_a_name_that_is_near_to_none_leads_to_the_help() -> None:
    with pytest.raises(UnknownVariable, match="has FAIREST_XYZZY, which nothing reads; fairest-server --help"):
        refuse_unknown_variables({"FAIREST_XYZZY": "1"}, operator)


def test_all_unknown_names_are_shown_at_once() -> None:
    with pytest.raises(UnknownVariable, match=r"FAIREST_HOTS, .*; the environment has FAIREST_PROT, "):
        refuse_unknown_variables({"FAIREST_PROT": "1", "FAIREST_HOTS": "h"}, operator)


@pytest.mark.parametrize("name", ["FAIREST_SERVICE_HOST", "FAIREST_PORT_8765_TCP"])
def test_a_variable_that_kubernetes_sets_is_explained(name: str) -> None:
    with pytest.raises(UnknownVariable, match="enableServiceLinks: false"):
        refuse_unknown_variables({name: "10.0.0.1"}, operator)


def test_each_setting_is_read_whatever_its_case() -> None:
    refuse_unknown_variables({f"fairest_{name}": "1" for name in (*Settings.model_fields, "Redis_Url")}, operator)


def test_a_variable_without_the_prefix_is_not_looked_at() -> None:
    refuse_unknown_variables({"MY_FAIREST_HOST": "1", "HOME": "/"}, operator)


def client_variables(command: object) -> Iterator[str]:
    for parameter in getattr(command, "params", ()):
        if parameter.envvar:
            yield parameter.envvar
    for each in getattr(command, "commands", {}).values():
        yield from client_variables(each)


def test_the_variables_of_the_client_are_known() -> None:
    assert set(client_variables(typer.main.get_command(app))) == CLIENT


def test_a_variable_of_an_operator_s_command_is_known() -> None:
    commands = typer.Typer()

    @commands.command()
    def keep(folder: Annotated[str, typer.Option(envvar="FAIREST_KEPT")]) -> None:
        typer.echo(folder)

    refuse_unknown_variables({"FAIREST_KEPT": "here"}, commands)


@pytest.mark.long
def test_a_server_with_an_unknown_variable_does_not_start() -> None:
    environment = os.environ | {"FAIREST_WORKRES": "4"}
    done = subprocess.run(SERVER_COMMAND, env=environment, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "fairest-server: the environment has FAIREST_WORKRES, which nothing reads; did you mean FAIREST_WORKERS?\n"
    )
