"""The gain of a player behind from the placed ticks, the only message about the leader ahead of the horizon.

Two bots race on classic deals, in simulated time, without sockets. Ours looks ahead and takes 1-3 s (uniform) for every
move; the opponent is the greedy house bot and takes as long divided by its speed, which is drawn for each race from 1.0
to the setting's `top_speed`: up to 1.6, so that ours is mostly behind, or 1.0. Three versions of our bot run the same
races: same deals, same thinking times, same opponent. They differ only in the source of the cards that they look
ahead to. Where more than one pile is sensible for a card, a choice weighs `FUTURES` samples of the next cards:

- `without`: drawn from the cards that it has not seen;
- `with_ticks`: drawn from those that the ticks leave possible. A particle filter lets the opponent play on from its
  board at our turn, over random orders of the unseen cards, and keeps the particles that agree with the next
  `TICKS_USED` ticks;
- `sees_ahead`: the cards that the opponent has turned are known, as if there were no horizon; others are drawn.

Generous to `with_ticks`: it knows the opponent's policy, its speed, and when it came to our turn, which no message
reveals.
Left out: an opponent that thinks, and so is harder to foresee; ticks further ahead; how often the ticks say who is
winning, and a bot that plays bolder for it; the notice that the opponent has stopped; other variants; limits of time.
"""

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log2, sqrt
from multiprocessing import Pool
from statistics import fmean, stdev
from typing import Final, NamedTuple

from benchmarks.figure import Figure
from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import rank
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import stock_to_pile
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.messages.fields import TICK_SECONDS


class Setting(NamedTuple):
    """The number of races, the highest speed of an opponent relative to our bot, and the number of particles."""

    races: int
    top_speed: float = 1.6
    particles: int = 320


SETTINGS: Final = {"": Setting(2_000), "_equal": Setting(500, top_speed=1.0)}
"""By the suffix of the names of the figures."""

INFORMATION: Final = Setting(40, particles=2_000)
"""The information in the ticks is measured with more particles than our bot can afford in so many races."""

VERSIONS: Final = ("without", "with_ticks", "sees_ahead")
CHUNK: Final = 10
PROCESSES: Final = 2
FUTURES: Final = 20
DEPTH: Final = 10
TICKS_USED: Final = 3
DOUBT: Final = 0.05
"""The share of the prior in a posterior, since a rank that is in no particle is not impossible."""

RULES: Final = choose_rules("classic")
NEVER: Final = 99
ORDERS: Final = [foundation.sequence() for foundation in make_deal(RULES, b"").foundations]
NEEDED: Final = [(*order, 0) for order in ORDERS]
"""By foundation and cards on it, the rank that comes next, 0 for none."""


@cache
def delays(*counts: int) -> list[int]:
    """By rank, how many cards must be placed before it, on the foundation with these counts that needs it first."""
    rows = [order[count:] for order, count in zip(ORDERS, counts, strict=True)]
    return [min((row.index(number) for row in rows if number in row), default=NEVER) for number in range(14)]


@dataclass(slots=True)
class Table:
    """A board of plain ranks that changes in place, for speed. It plays to foundations as the greedy policy does."""

    counts: list[int]
    needed: list[int]
    piles: list[list[int]]

    def copy(self) -> "Table":
        return Table(self.counts[:], self.needed[:], [pile[:] for pile in self.piles])

    def place(self, number: int) -> bool:
        """Place this rank on the least advanced foundation that needs it; return False if none does."""
        count, target = self._fit(number)
        if count < NEVER:
            self.counts[target] = count + 1
            self.needed[target] = NEEDED[target][count + 1]
        return count < NEVER

    def place_waste(self) -> bool:
        """Place the top of a pile on the least advanced foundation that needs one; return False if none does."""
        fitting = [pile for pile in self.piles if pile and pile[-1] in self.needed]
        if not fitting:
            return False
        pile = fitting[0] if len(fitting) == 1 else min(fitting, key=lambda pile: self._fit(pile[-1])[0])
        return self.place(pile.pop())

    def _fit(self, number: int) -> tuple[int, int]:
        count, target = NEVER, -1
        for each, wanted in enumerate(self.needed):
            if wanted == number and self.counts[each] < count:
                count, target = self.counts[each], each
        return count, target

    def scores(self, number: int) -> list[float]:
        """Score this rank on each pile: it should not cover a rank that is needed sooner."""
        sooner = delays(*self.counts)
        delay = sooner[number]
        scores = []
        for pile in self.piles:
            if not pile:
                scores.append(3.0 if number == 13 else -2.0)
            elif pile[-1] == number:
                scores.append(1.0)
            else:
                late = delay - sooner[pile[-1]]
                score = -0.6 * sum([sooner[each] < delay for each in pile])
                scores.append(score - 4.4 - late if late > 0 else score)
        return scores

    def play_on(self, future: list[int]) -> float:
        """Play these cards and return their value: 2 for each card placed, and the scores of the others."""
        worth = 0.0
        for number in future:
            if self.place(number):
                worth += 2.0
                while self.place_waste():
                    worth += 2.0
            else:
                scores = self.scores(number)
                best = max(scores)
                worth += best
                self.piles[scores.index(best)].append(number)
        return worth

    def sensible_piles(self, number: int) -> dict[int, float]:
        """Return the piles whose scores for this rank are near the best, with the scores; at most one empty pile."""
        scores, piles = self.scores(number), self.piles
        fair = max(scores) - 6.0
        return {to: score for to, score in enumerate(scores) if score >= fair and (piles[to] or [] not in piles[:to])}

    def worth(self, number: int, pile: int, futures: list[list[int]]) -> float:
        """Return the mean value of laying this rank onto this pile, over the sampled futures."""
        total = 0.0
        for future in futures:
            table = self.copy()
            table.piles[pile].append(number)
            total += table.play_on(future)
        return total / len(futures)


def table_of(board: Board) -> Table:
    counts = [len(cards) for cards in board.foundations]
    needed = [NEEDED[target][count] for target, count in enumerate(counts)]
    return Table(counts, needed, [[rank(card) for card in pile] for pile in board.piles])


@dataclass(slots=True)
class Particle:
    """One possible continuation of the opponent from our turn; `turned` is 0 without a turned card."""

    table: Table
    turned: int
    unseen: list[int]
    drawn: list[int]
    next_at: float

    def copy(self) -> "Particle":
        return Particle(self.table.copy(), self.turned, self.unseen[:], self.drawn[:], self.next_at)

    def placed(self, time: float, speed: float, chance: random.Random) -> int:
        """Play on until `time` and return the count that the tick would show."""
        table = self.table
        while self.next_at <= time:
            self.next_at += think(speed, chance)
            if not table.place_waste() and self.turned:
                if not table.place(self.turned):
                    table.piles[int(4 * chance.random())].append(self.turned)
                self.turned = self.draw(chance) if self.unseen else 0
        return sum(table.counts)

    def draw(self, chance: random.Random) -> int:
        self.drawn.append(self.unseen.pop(int(len(self.unseen) * chance.random())))
        return self.drawn[-1]

    def future(self, chance: random.Random) -> list[int]:
        while len(self.drawn) < DEPTH and self.unseen:
            self.draw(chance)
        return self.drawn[:DEPTH]


def think(speed: float, chance: random.Random) -> float:
    return (1 + 2 * chance.random()) / speed


class Belief(NamedTuple):
    """The probability of the true next rank at one choice, before the ticks and after them."""

    prior: float
    posterior: float


class Run(NamedTuple):
    """The result of a race, and the beliefs at those choices for which there were ticks."""

    placed: int
    wins_race: bool
    wins_game: bool
    beliefs: list[Belief]


class Contest:
    """One race: seat 0 is our bot, seat 1 the opponent. `arrivals` are the times and boards with which it turned cards.

    Chance has a stream of its own for every use, so that all versions of our bot meet the same race.
    """

    def __init__(self, version: str, seed: int, setting: Setting) -> None:
        luck, *clocks, self.whim, self.chance = (random.Random(f"tick_gain {seed} {use}") for use in range(5))
        deal = make_deal(RULES, luck.randbytes(32))
        self.version, self.particles = version, setting.particles
        self.speeds, self.clocks = (1.0, luck.uniform(1.0, setting.top_speed)), clocks
        self.stock = [rank(card) for card in deal.orders[0]]
        self.race = start_race(RULES, deal)
        self.arrivals = [(0.0, self.race.racers[1].board)]
        self.ticks: list[int] = []
        self.beliefs: list[Belief] = []

    def run(self) -> Run:
        due = [think(speed, clock) for speed, clock in zip(self.speeds, self.clocks, strict=True)]
        while not self.race.is_over:
            racers = self.race.racers
            seat = min((seat for seat in range(2) if not racers[seat].ending), key=due.__getitem__)
            now = due[seat]
            while TICK_SECONDS * (len(self.ticks) + 1) <= now:
                self.ticks.append(racers[1].board.placed)
            move = choose_greedy(racers[seat].board, self.whim if seat else self.chance)
            if seat == 0 and move.takes_turned and not move.places:
                move = stock_to_pile(self.choose_pile(racers[0].board, racers[0].turn.position))
            self.race = self.race.play(seat, move)
            due[seat] += think(self.speeds[seat], self.clocks[seat])
            opponent = self.race.racers[1]
            if opponent.turn.position == len(self.arrivals) < len(self.stock):
                self.arrivals.append((now, opponent.board))
        outcome = self.race.outcome()
        placed = outcome.scores[0].placed
        return Run(placed, outcome.winner == 0, placed == RULES.goal, self.beliefs)

    def choose_pile(self, board: Board, turn: int) -> int:
        table, number = table_of(board), self.stock[turn]
        piles = table.sensible_piles(number)
        if len(piles) == 1:
            return next(iter(piles))
        futures = self.futures(turn)
        return max(piles, key=lambda pile: piles[pile] + table.worth(number, pile, futures))

    def futures(self, turn: int) -> list[list[int]]:
        """Sample the next cards: in the order of the stock as far as it is known, else at random from its cards."""
        known = self.stock[turn + 1 : len(self.arrivals)][:DEPTH] if self.version == "sees_ahead" else []
        unseen = self.stock[turn + 1 + len(known) :]
        if self.version == "with_ticks" and turn < len(self.arrivals) and len(set(unseen)) > 1:
            first = int(self.arrivals[turn][0] / TICK_SECONDS)
            ticks = self.ticks[first : first + TICKS_USED]
            if ticks:
                return self.posterior(turn, unseen, ticks)
        drawn = min(DEPTH - len(known), len(unseen))
        return [known + self.chance.sample(unseen, drawn) for _ in range(FUTURES)]

    def posterior(self, turn: int, unseen: list[int], ticks: list[int]) -> list[list[int]]:
        """Sample the next cards from continuations of the opponent that agree with the first ticks after this turn."""
        speed, chance = self.speeds[1], self.chance
        came_at, board = self.arrivals[turn]
        start = Particle(table_of(board), self.stock[turn], unseen, [], came_at)
        particles = [start.copy() for _ in range(self.particles)]
        for particle in particles:
            particle.next_at += think(speed, chance)
        for number, placed in enumerate(ticks, int(came_at / TICK_SECONDS) + 1):
            time = number * TICK_SECONDS
            agreeing = [particle for particle in particles if particle.placed(time, speed, chance) == placed]
            if not agreeing:
                break
            missing = range(self.particles - len(agreeing))
            particles = agreeing + [agreeing[place % len(agreeing)].copy() for place in missing]
        chance.shuffle(particles)
        prior = unseen.count(unseen[0]) / len(unseen)
        nexts = [particle.drawn[0] if particle.drawn else particle.draw(chance) for particle in particles]
        share = nexts.count(unseen[0]) / len(nexts)
        self.beliefs.append(Belief(prior, DOUBT * prior + (1 - DOUBT) * share))
        return [particle.future(chance) for particle in particles[:FUTURES]]


def measure_tick_gain() -> list[Figure]:
    """Means, each with the half-width of its 95 % interval: the result of `without`, the gain of the other versions in
    the same races, in cards placed and in percentage points of races won, and what the ticks reveal of the next rank.
    """
    figures = []
    for name, setting in SETTINGS.items():
        runs = _run_all(VERSIONS, setting)
        without = runs["without"]
        figures += _mean(f"without_cards{name}", "cards", [run.placed for run in without])
        figures += _mean(f"without_game_wins{name}", "%", [100 * run.wins_game for run in without])
        figures += _mean(f"without_race_wins{name}", "%", [100 * run.wins_race for run in without])
        for version, gain in (("with_ticks", "tick_gain"), ("sees_ahead", "see_next_gain")):
            pairs = list(zip(runs[version], without, strict=True))
            figures += _mean(f"{gain}_cards{name}", "cards", [run.placed - base.placed for run, base in pairs])
            points = [100 * (run.wins_race - base.wins_race) for run, base in pairs]
            figures += _mean(f"{gain}_race_wins_points{name}", "points", points)
        figures += _belief_figures(name, runs["with_ticks"])
    return figures + _belief_figures("_many_particles", _run_all(("with_ticks",), INFORMATION)["with_ticks"])


def _run_all(versions: Sequence[str], setting: Setting) -> dict[str, list[Run]]:
    jobs = [(versions, seed, setting) for seed in range(0, setting.races, CHUNK)]
    runs: dict[str, list[Run]] = {version: [] for version in versions}
    with Pool(PROCESSES) as pool:
        for done, chunk in enumerate(pool.imap(_run_chunk, jobs), 1):
            for version, more in chunk.items():
                runs[version].extend(more)
            if done % 10 == 0 or done == len(jobs):
                print(f"  {setting}: {done * CHUNK} races", file=sys.stderr)
    return runs


def _run_chunk(job: tuple[Sequence[str], int, Setting]) -> dict[str, list[Run]]:
    versions, first, setting = job
    seeds = range(first, first + CHUNK)
    return {version: [Contest(version, seed, setting).run() for seed in seeds] for version in versions}


def _belief_figures(name: str, runs: list[Run]) -> list[Figure]:
    """Means over races of the means over the choices of each race."""
    choices = [run.beliefs for run in runs if run.beliefs]
    priors = [100 * fmean(each.prior for each in beliefs) for beliefs in choices]
    posteriors = [100 * fmean(each.posterior for each in beliefs) for beliefs in choices]
    bits = [fmean(log2(each.posterior / each.prior) for each in beliefs) for beliefs in choices]
    return [
        *_mean(f"next_rank_prior{name}", "%", priors),
        *_mean(f"next_rank_posterior{name}", "%", posteriors),
        *_mean(f"next_rank_bits{name}", "bits", bits),
    ]


def _mean(figure: str, unit: str, values: Sequence[float]) -> list[Figure]:
    """The mean of independent values, and the half-width of its 95 % interval."""
    half = 1.96 * stdev(values) / sqrt(len(values))
    goal = "(written down)"
    return [Figure(figure, fmean(values), unit, goal, True), Figure(f"{figure}_+-", half, unit, goal, True)]
