"""The best runs of this machine's player against ghosts: one small file for each deal, replaced by a better run."""

import hashlib
import json
from pathlib import Path
from typing import Final

import msgspec
from platformdirs import user_data_path

from fairest_cli.model.run import BadRun, Run
from fairest_cli.records.private_file import write_private
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import BadRules, Rules, choose_rules

FORMAT: Final = 1
MAX_BYTES: Final = 2**16
"""The longest run has some three hundred moves, of about 15 bytes each."""


class _File(msgspec.Struct):
    format: int
    rules: str
    piles: int
    redeals: int
    seed: str
    moves: list[tuple[int, str]]


_DECODER: Final = msgspec.json.Decoder(_File)


def runs_folder() -> Path:
    """Return the folder with the best runs of this machine's player."""
    return user_data_path("fairest") / "runs"


def load_best_run(rules: Rules, seed: bytes, folder: Path | None = None) -> Run | None:
    """Return the best run on a deal, None without one. Raises `BadRun` for a file that holds none, and OSError."""
    path = _path(folder or runs_folder(), rules, seed)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    run = _parse(content)
    if (run.rules, run.seed) != (rules, seed):
        raise BadRun("it is a run on another deal")
    return run


def keep_best_run(run: Run, folder: Path | None = None) -> bool:
    """Store a run if it is the best one on its deal; return whether it is. Raises `BadRun` for `run`, and OSError.

    A stored file that holds no run is replaced.
    """
    finish = run.finish()
    try:
        best = load_best_run(run.rules, run.seed, folder)
        if best is not None and not finish.is_better_than(best.finish()):
            return False
    except BadRun:
        pass  # The stored file is damaged, and a damaged file is worth less than any run.
    content = {
        "format": FORMAT,
        "rules": run.rules.name,
        "piles": run.rules.piles,
        "redeals": run.rules.redeals,
        "seed": run.seed.hex(),
        "moves": [(at_ms, move.text) for at_ms, move in run.moves],
    }
    write_private(_path(folder or runs_folder(), run.rules, run.seed), json.dumps(content, separators=(",", ":")))
    return True


def _path(folder: Path, rules: Rules, seed: bytes) -> Path:
    digest = hashlib.sha256(f"{rules.piles} {rules.redeals} {seed.hex()}".encode()).hexdigest()
    return folder / f"{rules.name}-{digest[:16]}.json"


def _parse(content: bytes) -> Run:
    """Return the run in a file, whose moves the rules allow. Raises `BadRun`."""
    if len(content) > MAX_BYTES:
        raise BadRun(f"the file is larger than a run can be, {MAX_BYTES // 2**10} KiB")
    try:
        file = _DECODER.decode(content)
        run = Run(
            choose_rules(file.rules, file.piles, file.redeals),
            bytes.fromhex(file.seed),
            tuple((at_ms, MOVES[text]) for at_ms, text in file.moves),
        )
    except (msgspec.DecodeError, BadRules, ValueError, KeyError) as reason:
        raise BadRun(f"the file does not hold a run: {reason}") from reason
    if file.format != FORMAT:
        raise BadRun(f"the file has the format {file.format}, and this version reads {FORMAT}")
    run.finish()
    return run
