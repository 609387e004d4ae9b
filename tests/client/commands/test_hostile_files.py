"""Files of a hostile server, given to the commands that read them: a sentence, and little memory."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.processes import CLIENT_COMMAND

MEGABYTES = 50
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(done.returncode)
print(done.stdout + done.stderr)
"""


def run_measured(*command: str) -> tuple[int, int, str]:
    """Run a program; return its peak memory in KiB, its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, timeout=50, check=True
    )
    peak, code, printed = done.stdout.split("\n", 2)
    return int(peak) // (1024 if sys.platform == "darwin" else 1), int(code), printed


def write_repeated(path: Path, unit: bytes) -> None:
    with path.open("wb") as file:
        for _ in range(MEGABYTES):
            file.write(unit * (2**20 // len(unit) + 1))


FILES: dict[str, Callable[[], bytes]] = {
    "short lines": lambda: b"{}\n",
    "moves": lambda: b'{"type":"move","at_ms":0,"seat":0,"move":"sa","chain":"' + b"0" * 64 + b'"}\n',
    "one line": lambda: b"[" * 4096,
}


@pytest.fixture(scope="module")
def usual_kib() -> int:
    """The peak memory of the command for a file that is not a record."""
    peak, _, _ = run_measured(*CLIENT_COMMAND, "verify", __file__)
    return peak


@pytest.mark.long
@pytest.mark.parametrize("kind", FILES)
def test_a_record_of_fifty_megabytes_is_refused_in_little_memory(kind: str, tmp_path: Path, usual_kib: int) -> None:
    write_repeated(tmp_path / "race.jsonl", FILES[kind]())
    peak, code, printed = run_measured(*CLIENT_COMMAND, "verify", str(tmp_path / "race.jsonl"))
    assert (code, "is larger than a record can be, 4 MiB" in printed) == (3, True)
    assert peak - usual_kib < 16 * 1024


@pytest.mark.long
@pytest.mark.parametrize("kind", FILES)
def test_a_record_of_the_greatest_size_is_parsed_in_little_memory(kind: str, tmp_path: Path, usual_kib: int) -> None:
    write_repeated(tmp_path / "race.jsonl", FILES[kind]())
    with (tmp_path / "race.jsonl").open("r+b") as file:
        file.truncate(4 * 2**20 - 1)
        file.seek(0, 2)
        file.write(b"\n")
    peak, code, _ = run_measured(*CLIENT_COMMAND, "verify", str(tmp_path / "race.jsonl"))
    assert code == 3
    assert peak - usual_kib < 64 * 1024


RECORD = Path(__file__).parents[2] / "data" / "format_3" / "classic.record.jsonl"


def header_of_the_record() -> bytes:
    key = json.loads(RECORD.read_text().splitlines()[0])["key"]
    return json.dumps({"type": "receipt", "server": "ws://there", "key": key}).encode() + b"\n"


RECEIPTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "short lines": (lambda: b"{}\n", "line 1 is not a line of a receipt"),
    "one line": (lambda: b"[" * 4096, "line 1 is longer than a line of a receipt can be"),
    "many runs of a client": (header_of_the_record, "is behind the most that a receipt can have"),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", RECEIPTS)
def test_a_receipt_of_fifty_megabytes_is_refused_in_little_memory(kind: str, tmp_path: Path, usual_kib: int) -> None:
    make, sentence = RECEIPTS[kind]
    write_repeated(tmp_path / "receipt.jsonl", make())
    command = [*CLIENT_COMMAND, "verify", str(RECORD), "--receipt", str(tmp_path / "receipt.jsonl")]
    peak, code, printed = run_measured(*command)
    assert (code, sentence in printed) == (1, True)
    assert peak - usual_kib < 24 * 1024
