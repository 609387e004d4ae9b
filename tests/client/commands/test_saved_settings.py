"""Commands that are given no name and no server take those that the player has saved."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from fairest_cli.commands import options
from fairest_cli.commands.options import Name, Server, saved_settings
from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.tui.settings import settings_path
from tests.support.invoking import invoke
from tests.support.ports import free_port

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Have each test read the settings of its own player."""
    saved_settings.cache_clear()
    yield
    saved_settings.cache_clear()


def save(**values: str) -> None:
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text(json.dumps(values))


def chosen(*arguments: str) -> tuple[str | None, str]:
    """Return the name and the server of a command with the usual options."""
    found: list[tuple[str | None, str]] = []
    app = typer.Typer()

    @app.command()
    def enter(server: Server = DEFAULT_SERVER, name: Name = None) -> None:
        found.append((name, server))

    typer.main.get_command(app).main(list(arguments), standalone_mode=False)
    return found[0]


def test_without_options_the_saved_ones_hold() -> None:
    save(name="ann", server="ws://there:1")
    assert chosen() == ("ann", "ws://there:1")


def test_options_come_before_the_saved_ones() -> None:
    save(name="ann", server="ws://there:1")
    assert chosen("--name", "bob", "--server", "ws://here:2") == ("bob", "ws://here:2")


def test_the_default_server_that_is_typed_comes_before_the_saved_one() -> None:
    save(server="ws://there:1")
    assert chosen("--server", DEFAULT_SERVER) == (None, DEFAULT_SERVER)


def test_the_variable_comes_before_the_saved_server(monkeypatch: pytest.MonkeyPatch) -> None:
    save(server="ws://there:1")
    monkeypatch.setenv("FAIREST_SERVER", "ws://variable:3")
    assert chosen()[1] == "ws://variable:3"


def test_without_settings_there_is_no_name_and_the_server_is_that_of_this_machine() -> None:
    assert chosen() == (None, DEFAULT_SERVER)


def test_a_saved_name_or_server_that_is_none_is_not_used() -> None:
    save(name="x y", server="http://there")
    assert chosen() == (None, DEFAULT_SERVER)


def test_a_wrong_option_is_refused_although_a_right_one_is_saved() -> None:
    save(name="ann")
    with pytest.raises(typer.BadParameter):
        chosen("--name", "x y")


def test_a_command_asks_the_saved_server(home: Path) -> None:
    server = f"ws://127.0.0.1:{free_port()}"
    save(server=server)
    assert options.saved_settings().server == server
    assert f"No server answers at {server}" in invoke(home, "lobby").stderr
