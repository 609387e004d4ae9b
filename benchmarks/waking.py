"""The time that a sleeping process takes to wake when something is sent to it from another core. It is no CPU time.

Run by itself, this module is the process that is woken, on the core of its argument.
"""

import os
import socket
import statistics
import struct
import subprocess
import sys
import time

TIMES = 1_000
PAUSE_SECONDS = 0.0005
"""Between two wakings. After some milliseconds a core sleeps more deeply, and takes up to twice as long."""
_TIME = struct.Struct("d")


def waking_us() -> float:
    """Return the median time from a write on one core to the return of the read that waited for it on another one."""
    here, there = socket.socketpair()
    cores = os.sched_getaffinity(0)
    woken = subprocess.Popen([sys.executable, "-m", "benchmarks.waking", str(max(cores))], stdin=there.fileno())
    there.close()
    delays = list[float]()
    os.sched_setaffinity(0, {min(cores)})
    try:
        # The first answer comes when the process has started.
        for _ in range(TIMES + 1):
            time.sleep(PAUSE_SECONDS)
            sent_at = time.monotonic()
            here.send(b"x")
            delays.append(_TIME.unpack(here.recv(_TIME.size))[0] - sent_at)
    finally:
        os.sched_setaffinity(0, cores)
        here.close()
        woken.wait()
    return statistics.median(delays[1:]) * 1e6


def main() -> None:
    """Answer each byte with the time at which it came, until the other end closes."""
    os.sched_setaffinity(0, {int(sys.argv[1])})
    with socket.socket(fileno=sys.stdin.fileno()) as waker:
        while waker.recv(1):
            waker.send(_TIME.pack(time.monotonic()))


if __name__ == "__main__":
    main()
