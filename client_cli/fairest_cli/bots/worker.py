"""The process in which bots think: it reads searches from standard input, and writes each back a part further.

It is started by `thinking`, with `python -m fairest_cli.bots.worker`, and ends when its input does: also when the
program that started it was killed.
"""

import os
import pickle
import signal
import sys
from typing import Final

from fairest_cli.bots.search import Search

PART: Final = 100
"""Roll-outs between two looks at the input: 10 to 20 ms, for which the search of another bot may wait."""
NICENESS: Final = 5
"""The worker gives way to the screen and the server on the same machine, where the system knows niceness."""


def main() -> None:
    """Advance searches until the input ends."""
    # Ctrl-C reaches all processes of a terminal; the program decides whether it ends, and the worker ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.nice(NICENESS)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            search: Search = pickle.load(source)
        except EOFError:
            return
        search.advance(PART)
        pickle.dump(search, target)
        target.flush()


if __name__ == "__main__":
    main()
