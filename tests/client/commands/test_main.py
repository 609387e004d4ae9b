"""The program itself, as typed: with real processes and pipes where these matter, else in the process of the test."""

import json
import platform
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from fairest_cli.records.files import load_record
from fairest_cli.text.replay import next_index
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from fairest_protocol.messages.options import RoomOptions
from tests.support.invoking import invoke, run_typed
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import CLIENT_COMMAND, SERVER_COMMAND, STOP_SECONDS
from tests.support.races import raced
from tests.support.records import signed_record, text_of


@pytest.fixture
def record_file(tmp_path: Path) -> Path:
    path = tmp_path / "race.jsonl"
    path.write_text(text_of(signed_record(raced(4))))
    return path


def run(home: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return run_typed(home, *arguments, typed=typed, errors=subprocess.PIPE)


def test_without_a_terminal_two_bots_race_to_the_end(tmp_path: Path) -> None:
    done = run(tmp_path, "play")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("of 52 cards") >= 2
    path = Path(done.stdout.split("The record is at ")[1].strip())
    assert load_record(path).rounds[-1].outcome is not None


def test_replay_prints_every_step_without_a_terminal(tmp_path: Path, record_file: Path) -> None:
    done = invoke(tmp_path, "replay", str(record_file))
    record = load_record(record_file)
    assert done.exit_code == 0
    assert done.stdout.count("-- step") == len(record.rounds[0].events) + 1


def test_replay_of_a_broken_record_says_where(tmp_path: Path, record_file: Path) -> None:
    lines = record_file.read_text().splitlines()
    lines[2] = "{"
    record_file.write_text("".join(f"{line}\n" for line in lines))
    done = invoke(tmp_path, "replay", str(record_file))
    assert done.exit_code == 1
    assert "line 3" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_replay_of_a_missing_file_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, "replay", "nowhere.jsonl")
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "fairest: cannot read nowhere.jsonl: No such file or directory",
    )


@pytest.mark.long
def test_without_a_server_the_client_says_what_it_tried(tmp_path: Path) -> None:
    done = run(tmp_path, "create", "--server", "ws://127.0.0.1:1")
    assert done.returncode == 1
    assert "No server answers at ws://127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create", "--rules", "easy", "--piles", "4"), "5 or 6 piles, not 4; choose classic"),
        (("create", "--rules", "single", "--certified"), "a certified room needs 4 piles and redeals together"),
        (("create", "--best-of", "2"), "--best-of should be 1, 3, 5, 7 or 9, not 2"),
        (("join", "no room"), "is not a room code"),
        (("create", "--server", "http://x"), "looks like ws://127.0.0.1:8765"),
        (("join", "a-b", "--server", "localhost:8765"), "looks like ws://127.0.0.1:8765"),
        (("lobby", "--server", "ws://localhost:99999"), "looks like ws://127.0.0.1:8765"),
        (("lobby", "--server", "ws://[::1"), "looks like ws://127.0.0.1:8765"),
        (("create", "--name", "../x"), "a name has 2 to 20 letters"),
    ],
)
def test_a_bad_option_is_refused_with_what_would_be_right(
    tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = invoke(tmp_path, *arguments)
    assert done.exit_code != 0
    assert sentence in " ".join(done.stderr.replace("│", "").split())


@parametrize_with_long("command", [CLIENT_COMMAND, SERVER_COMMAND], ids=("fairest", "fairest-server"), quick=1)
def test_the_version_is_one_line_with_that_of_python(command: list[str]) -> None:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=50, check=False)
    expected = f"fairest {metadata.version('fairest')} on Python {platform.python_version()}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.long
@pytest.mark.parametrize("package", ["fairest_cli", "fairest_server"])
def test_a_program_collects_garbage_once_it_is_loaded(package: str) -> None:
    at_end = "import atexit, gc, sys; atexit.register(lambda: print(gc.isenabled())); sys.argv[1:] = ['--version'];"
    command = [sys.executable, "-P", "-c", f"{at_end} from {package}.__main__ import main; main()"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.splitlines()[1:] == ["True"]


def test_rules_lists_every_variant(tmp_path: Path) -> None:
    done = invoke(tmp_path, "rules")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(VARIANTS)


def test_rules_prints_the_sequences_of_a_variant(tmp_path: Path) -> None:
    done = invoke(tmp_path, "rules", "betsy-ross")
    assert "4  by +4  8 Q 3 7 J 2 6 10 A 5 9 K" in done.stdout
    assert "44 stock cards, 1 waste pile, 2 redeals, turned over" in done.stdout


def test_rules_of_broken_intervals_are_those_of_the_deal(tmp_path: Path) -> None:
    printed = invoke(tmp_path, "rules", "broken", "--seed", "abc").stdout
    dealt = invoke(tmp_path, "deal", "abc", "--rules", "broken").stdout
    sequences = [line for line in printed.splitlines() if "  by " in line]
    assert len(sequences) == 4
    assert all(line in dealt for line in sequences)


def test_a_deal_prints_every_card_of_the_stock(tmp_path: Path) -> None:
    seed = "00" * 32
    printed = invoke(tmp_path, "deal", seed).stdout
    stock = make_deal(choose_rules("classic"), bytes(32)).orders[0]
    assert " ".join(printed.split("\n", maxsplit=8)[8].split()) == " ".join(stock)


def test_help_names_every_command(tmp_path: Path) -> None:
    done = invoke(tmp_path, "--help")
    assert all(word in done.stdout for word in ("play", "create", "join", "watch", "bot", "replay", "rules", "deal"))


@pytest.mark.parametrize(
    ("typed", "place", "leads_to"),
    [("", 3, 4), ("", 9, 9), ("b", 3, 2), ("b", 0, 0), ("e", 3, 9), ("5", 3, 5), ("99", 3, 9)],
)
def test_replay_steps_forwards_and_back(typed: str, place: int, leads_to: int) -> None:
    assert next_index(typed, place, last=9) == leads_to


def test_replay_quits() -> None:
    assert next_index("q", 3, last=9) is None


def test_options_have_sane_defaults() -> None:
    assert json.loads(RoomOptions().model_dump_json())["rules"] == "classic"


@parametrize_with_long(
    ("arguments", "sentence"),
    [
        (
            ("--redis-url", "foo"),
            "a Redis URL looks like redis://host:6379/0",
        ),
        (("--redis-url", "unix:///nowhere/redis.sock"), "no Redis answers at unix:///nowhere/redis.sock"),
        (("--redis-url", "user:password@host"), "not 'host'"),
        (("--port", "99999"), "--port"),
        (("--data-dir", "/proc/nothing"), "cannot write to /proc/nothing"),
    ],
    quick=1,
)
def test_a_server_that_cannot_start_says_why_and_nothing_else(arguments: tuple[str, ...], sentence: str) -> None:
    command = [*SERVER_COMMAND, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode != 0
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_a_port_in_use_is_named(redis_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*SERVER_COMMAND, "--redis-url", redis_url, "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.stderr == f"fairest-server: cannot listen on 127.0.0.1:{port}: Address already in use\n"


@pytest.mark.long
def test_a_server_ends_when_it_is_told_to(redis_url: str) -> None:
    command = [*SERVER_COMMAND, "--redis-url", redis_url, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("ws://127.0.0.1:")
        server.terminate()
        assert server.wait(timeout=STOP_SECONDS) == 0
