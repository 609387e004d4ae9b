"""An error that nothing catches: one file with its traceback, one sentence, and an exit code."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fairest_cli.tui.crash import Crash, CrashReportingApp, save_traceback


def fail_here() -> None:
    raise ZeroDivisionError("division by zero")


async def fail_in_a_worker() -> None:
    fail_here()


def in_a_callback(app: CrashReportingApp) -> object:
    return app.call_later(fail_here)


def in_a_worker(app: CrashReportingApp) -> object:
    return app.run_worker(fail_in_a_worker())


def twice(app: CrashReportingApp) -> object:
    return app.call_later(fail_here), app.call_later(fail_here)


async def crash(folder: Path, start: Callable[[CrashReportingApp], object]) -> CrashReportingApp:
    """Run an app until it has failed, and return it."""
    app = CrashReportingApp(folder)
    with pytest.raises(Crash):
        await run(app, start)
    return app


async def run(app: CrashReportingApp, start: Callable[[CrashReportingApp], object]) -> None:
    async with app.run_test() as pilot:
        start(app)
        while not app.last_words:
            await pilot.pause()


@pytest.mark.parametrize("start", [in_a_callback, in_a_worker])
async def test_the_file_shows_where_the_error_was_raised(
    tmp_path: Path, start: Callable[[CrashReportingApp], object]
) -> None:
    await crash(tmp_path, start)
    [file] = tmp_path.glob("crash-*.log")
    assert "in fail_here" in file.read_text()


@pytest.mark.parametrize("start", [in_a_callback, in_a_worker])
async def test_the_sentence_names_the_error_and_the_file(
    tmp_path: Path, start: Callable[[CrashReportingApp], object]
) -> None:
    app = await crash(tmp_path, start)
    [file] = tmp_path.glob("crash-*.log")
    expected = f"fairest: the program failed (ZeroDivisionError: division by zero). The traceback is in {file}"
    assert app.last_words == [expected]


async def test_only_the_first_of_two_errors_is_reported(tmp_path: Path) -> None:
    assert len((await crash(tmp_path, twice)).last_words) == 1


async def test_a_crash_ends_the_program_with_the_code_of_a_failure(tmp_path: Path) -> None:
    assert (await crash(tmp_path, in_a_callback)).return_code == 1


def test_a_folder_that_cannot_be_written_to_is_named_in_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sentence = save_traceback(ZeroDivisionError("no"), tmp_path / "file")
    assert sentence.endswith("could not be written: File exists")
