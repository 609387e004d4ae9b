"""The runner by itself, with a host that notes what it is asked to show."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from textual.app import App
from textual.worker import Worker

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.session.connection import Connection, Update
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.room_runner import RoomRunner
from fairest_cli.tui.screens.base import ScreenHost
from fairest_protocol.messages.from_client import Join
from tests.support import staged


class NotedHost:
    """Notes everything; a worker is made and never started."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.homecomings: list[str] = []
        self.workers: list[Worker[Any]] = []
        self.exclusive_groups: list[str] = []

    async def show_update(self, session: RoomSession, before: KnownRoom, update: Update) -> None:
        raise AssertionError(f"{session} has an update ({before} -> {update}), though no work is started")

    async def show_cheat_alert(self, reason: Cheated) -> None:
        raise AssertionError(f"{reason}, though no work is started")

    async def show_home(self, sentence: str) -> None:
        self.homecomings.append(sentence)

    def show_notice(self, sentence: str) -> None:
        self.notices.append(sentence)

    def run_worker(
        self, work: Coroutine[Any, Any, Any], *, group: str, exclusive: bool, exit_on_error: bool = True
    ) -> Worker[Any]:
        work.close()
        worker: Worker[Any] = Worker(App(), work, group=group, exit_on_error=exit_on_error)
        self.workers.append(worker)
        if exclusive:
            self.exclusive_groups.append(group)
        return worker


@pytest.fixture
def host() -> NotedHost:
    return NotedHost()


@pytest.fixture
def runner(host: NotedHost) -> RoomRunner:
    return RoomRunner(host, "ws://127.0.0.1:1", None)


def as_program(app: FairestApp) -> ScreenHost:
    """The type checker accepts this as long as the program offers its screens what they ask for."""
    return app


@pytest.mark.parametrize("code", ["", "no code", "UPPER-CASE-CODE", "\x1b[2J"])
def test_a_code_that_no_room_can_have_is_a_notice(runner: RoomRunner, host: NotedHost, code: str) -> None:
    runner.join(code)
    [notice] = host.notices
    assert notice.endswith("is not a room code; a code looks like quiet-amber-otter.")


def test_a_code_that_no_room_can_have_starts_no_session(runner: RoomRunner, host: NotedHost) -> None:
    runner.watch("no code")
    assert host.workers == []


def test_a_hostile_code_is_cleaned_in_the_notice(runner: RoomRunner, host: NotedHost) -> None:
    runner.join("\x1b[2J")
    assert "\x1b" not in host.notices[0]


def test_a_session_replaces_the_one_before(runner: RoomRunner, host: NotedHost) -> None:
    runner.join("quiet-amber-otter")
    assert host.exclusive_groups == ["session"]


@pytest.mark.parametrize("stage", [staged.racing, staged.counting_down])
async def test_a_race_is_not_left_while_the_server_is_away(
    runner: RoomRunner, host: NotedHost, stage: Callable[[], staged.StagedRoom]
) -> None:
    runner.session = session = stage().session()
    session._connection.model = session.model.with_status(ConnectionStatus.LOST)
    await runner.leave()
    assert (runner.session, host.homecomings) == (session, [])


async def test_leaving_while_the_server_is_away_cancels_the_session_and_goes_home(
    runner: RoomRunner, host: NotedHost
) -> None:
    runner.join("quiet-amber-otter")
    runner.session = RoomSession(Connection("ws://127.0.0.1:1", Identity(), Join(room="quiet-amber-otter")))
    await runner.leave()
    assert host.homecomings == [""]
    assert host.workers[0].is_cancelled


def test_a_bot_is_invited_into_the_room_of_the_session(runner: RoomRunner, host: NotedHost) -> None:
    runner.session = staged.waiting().session()
    runner.invite_bot()
    assert host.exclusive_groups == ["bot"]


def test_without_a_room_no_bot_is_invited(runner: RoomRunner, host: NotedHost) -> None:
    runner.invite_bot()
    assert host.workers == []
