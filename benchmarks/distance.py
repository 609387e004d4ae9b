"""Races over a distance: the share of a far bot with the credit and without it, and what tricks gain.

Each race is one of classic with eight piles and two redeals, between bots that think for 0.5 s a card on average.
Packets are delayed by a device of this machine (`distant_link`), so that the kernel of the server measures the
distance too. So the races run in a network namespace of their own.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.figure import Figure, within, written_down

RACES = 1_000
TRICK_RACES = 200
COMMAND = ("unshare", "--user", "--map-root-user", "--net", sys.executable, "-m", "benchmarks.distant_races")
MOST_GAINED = 1.0
"""Points in 100 that a trick may gain. Behind a proxy that does not state how far away a client is, one gains more."""


def measure_distance(races: int = RACES, trick_races: int = TRICK_RACES) -> list[Figure]:
    """The share of races that a bot at 200 ms wins of one at 20 ms, and of a bot with a trick against an honest one.

    Raises SystemExit where this machine does not allow a network namespace and a TUN device to a user.
    """
    done = subprocess.run([*COMMAND, str(races), str(trick_races)], check=False, stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit("the races need `unshare --user --net`, `ip` and /dev/net/tun; the reason stands above")
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    figures = [
        within("distance_far_won_with_credit", found["direct_with"]["share"], "%", 50, 3),
        written_down("distance_far_won_without_credit", found["without"]["share"], "%"),
        written_down("distance_dead_heats", found["direct_with"]["dead_heats"], "%"),
        written_down("distance_far_round_trip", found["direct_with"]["round_trips"][0], "ms"),
        written_down("distance_proxied_far_won_with_credit", found["proxied_with"]["share"], "%"),
        written_down("distance_stated_far_won_with_credit", found["stated_with"]["share"], "%"),
    ]
    for name in ("pongs", "acknowledgements", "moves", "moves_and_pongs", "pongs_of_a_cautious_player"):
        for mode in ("direct", "proxied", "stated"):
            row = found[f"{mode}_{name}"]
            figures.append(written_down(f"distance_{mode}_{name}_delayed_won", row["share"], "%"))
            gain, goal = row["gain"], f"<= {MOST_GAINED:g}"
            figures.append(Figure(f"distance_{mode}_{name}_delayed_gain", gain, "points", goal, gain <= MOST_GAINED))
    return figures
