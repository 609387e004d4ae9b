"""The process that finds the steps of certified deals: it reads seeds from standard input, and writes their steps.

It is started by `step_finder`, with `python -m fairest_server.live.step_worker`, and ends when its input does: also
when the server that started it was killed.
"""

import os
import signal
import sys
from typing import Final

from fairest_protocol.calculation.certified import find_step
from fairest_protocol.calculation.rules import Rules, choose_rules

NICENESS: Final = 5
"""The worker gives way to the server on the same machine, where the system knows niceness."""


def write_request(rules: Rules, seed: bytes) -> str:
    """Return the line that asks for the step of a round with this seed."""
    return f"{rules.name} {rules.piles} {rules.redeals} {seed.hex()}"


def answer(line: str) -> str:
    """Return the step for a line of `write_request`, in decimal."""
    name, piles, redeals, seed = line.split()
    return str(find_step(choose_rules(name, int(piles), int(redeals)), bytes.fromhex(seed)).step)


def main() -> None:
    """Answer one line after the other until the input ends."""
    # Ctrl-C reaches all processes of a terminal; the server decides whether it ends, and the worker ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.nice(NICENESS)
    for line in sys.stdin:
        sys.stdout.write(f"{answer(line)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
