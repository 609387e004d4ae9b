"""How much does a player behind learn from the placed ticks, the one thing that is told ahead of the horizon?

Two bots race on classic deals, in simulated time, without sockets. Ours looks ahead and takes 1-3 s (uniform) for every
move; the opponent is the greedy house bot and takes as long divided by its speed. Two settings: its speed is 1.0-1.6,
drawn for each race, so that ours is mostly behind; or it is 1. Three versions of our bot run the same races: the same
deals, the same thinking times, the same opponent. They differ in nothing but where the cards come from that they look
ahead to. Each choice of a pile weighs `FUTURES` samples of the next `DEPTH` cards:

- `without`: drawn from the cards that it has not seen;
- `with_ticks`: drawn from what the ticks leave of those. A particle filter lets the opponent play on from its board at
  our turn, over random orders of the unseen cards, and keeps what agrees with the next `TICKS_USED` ticks;
- `sees_ahead`: what the opponent has turned is known, as if there were no horizon; only cards beyond that are drawn.

Generous to `with_ticks`: it knows the opponent's policy and speed, when the opponent came to our turn (nobody is told),
and at each tick also whether the opponent has stopped (that is told, by another message). Left out: an opponent that
thinks, and so is harder to foresee; a bot that plays bolder when the ticks say that it is losing; people; other
variants; time limits. `with_ticks` learns about cards only, and only from the first ticks after the opponent left our
turn.
"""

import random
from dataclasses import dataclass, field
from typing import NamedTuple

from protocol.calculation.board import Board
from protocol.calculation.cards import rank
from protocol.calculation.deal import make_deal
from protocol.calculation.rules import choose_rules
from protocol.messages.fields import TICK_SECONDS

SETTINGS = {"": (2_000, 1.6), "_equal_speed": (1_000, 1.0)}
"""Races, and the opponent's greatest speed, by what the names of the figures end in."""

VERSIONS = ("without", "with_ticks", "sees_ahead")
CHUNK = 25
PROCESSES = 2
FUTURES = 16
DEPTH = 6
PARTICLES = 96
TICKS_USED = 5

RULES = choose_rules("classic")
FOUNDATIONS = make_deal(RULES, b"").foundations
NEVER = 99
ORDERS = [foundation.sequence() for foundation in FOUNDATIONS]
NEEDED = [(*order, 0) for order in ORDERS]
"""By foundation and cards on it, the rank that comes next, 0 for none."""

DELAYS = [
    [[order.index(each) - count if each in order[count:] else NEVER for each in range(14)] for count in range(14)]
    for order in ORDERS
]
"""By foundation, cards on it and rank, how many cards come before that rank."""


@dataclass(slots=True)
class Table:
    """A board on plain ranks that changes in place: the samples need it fast."""

    counts: list[int]
    needed: list[int]
    piles: list[list[int]]

    def copy(self) -> "Table":
        return Table(self.counts[:], self.needed[:], [pile[:] for pile in self.piles])

    def place(self, number: int) -> bool:
        """To the least advanced foundation that needs this rank, if any does: like `choose_greedy`."""
        best, least = -1, NEVER
        for target, wanted in enumerate(self.needed):
            if wanted == number and self.counts[target] < least:
                best, least = target, self.counts[target]
        if best >= 0:
            self.counts[best] = least + 1
            self.needed[best] = NEEDED[best][least + 1]
        return best >= 0

    def place_waste(self) -> bool:
        """The card from a pile that fits the least advanced foundation, if any does: like `choose_greedy`."""
        fitting = [pile for pile in self.piles if pile and pile[-1] in self.needed]
        if not fitting:
            return False
        return self.place(min(fitting, key=self._count_below).pop() if len(fitting) > 1 else fitting[0].pop())

    def _count_below(self, pile: list[int]) -> int:
        return min(count for count, wanted in zip(self.counts, self.needed, strict=True) if wanted == pile[-1])

    def scores(self, number: int) -> list[float]:
        """How well this rank lies on each pile: it should not cover what is needed sooner."""
        one, two, three, four = (delays[count] for delays, count in zip(DELAYS, self.counts, strict=True))
        delay = min(one[number], two[number], three[number], four[number])
        scores = []
        for pile in self.piles:
            if not pile:
                scores.append(3.0 if number == 13 else -2.0)
            elif pile[-1] == number:
                scores.append(1.0)
            else:
                *below, late = [delay - min(one[each], two[each], three[each], four[each]) for each in pile]
                score = -0.6 * sum([each > 0 for each in below])
                scores.append(score - 5.0 - late if late > 0 else score)
        return scores

    def play_on(self, future: list[int]) -> float:
        """What these cards bring: 2 for each card placed, and the scores of the others."""
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

    def best_pile(self, number: int, futures: list[list[int]]) -> int:
        """Where to put this rank, on the average over what may come."""
        values = []
        for source, score in enumerate(self.scores(number)):
            value = score * len(futures)
            for future in futures:
                table = self.copy()
                table.piles[source].append(number)
                value += table.play_on(future)
            values.append(value)
        return values.index(max(values))


def table_of(board: Board) -> Table:
    counts = [len(cards) for cards in board.foundations]
    needed = [NEEDED[target][count] for target, count in enumerate(counts)]
    return Table(counts, needed, [[rank(card) for card in pile] for pile in board.piles])


class Tick(NamedTuple):
    placed: int
    has_stopped: bool


@dataclass(slots=True)
class Particle:
    """One way in which the opponent may have played on from our turn; nothing turned is 0."""

    table: Table
    turned: int
    unseen: list[int]
    next_at: float
    has_stopped: bool = False
    drawn: list[int] = field(default_factory=list)

    def copy(self) -> "Particle":
        copies = self.table.copy(), self.turned, self.unseen[:], self.next_at, self.has_stopped, self.drawn[:]
        return Particle(*copies)

    def tick(self, time: float, speed: float, chance: random.Random) -> Tick:
        """Play on until then, and say what would be told."""
        table = self.table
        while self.next_at <= time and not self.has_stopped:
            self.next_at += think(speed, chance)
            if not table.place_waste():
                if not table.place(self.turned):
                    table.piles[int(4 * chance.random())].append(self.turned)
                self.turned = self.draw(chance) if self.unseen else 0
            if not self.turned:
                self.has_stopped = not any(pile and pile[-1] in table.needed for pile in table.piles)
        return Tick(sum(table.counts), self.has_stopped)

    def draw(self, chance: random.Random) -> int:
        self.drawn.append(self.unseen.pop(int(len(self.unseen) * chance.random())))
        return self.drawn[-1]

    def future(self, chance: random.Random) -> list[int]:
        """The next cards, as many as are looked ahead to or left."""
        while len(self.drawn) < DEPTH and self.unseen:
            self.draw(chance)
        return self.drawn[:DEPTH]


def think(speed: float, chance: random.Random) -> float:
    return (1 + 2 * chance.random()) / speed


@dataclass(slots=True)
class Lead:
    """What there is to know of an opponent: its board when it came to each turn, and when; and its ticks."""

    speed: float
    arrivals: list[tuple[float, Board]]
    ticks: list[Tick] = field(default_factory=list)

    def imagine(self, turn: int, unseen: list[int], chance: random.Random) -> list[Particle]:
        """Ways in which the opponent played on from this turn that agree with the ticks from there on."""
        came_at, board = self.arrivals[turn]
        assert board.turned is not None
        table, turned = table_of(board), rank(board.turned)
        starts = [came_at + think(self.speed, chance) for _ in range(PARTICLES)]
        particles = [Particle(table.copy(), turned, unseen[:], start) for start in starts]
        first = int(came_at / TICK_SECONDS)
        for number, told in enumerate(self.ticks[first : first + TICKS_USED], first + 1):
            time = number * TICK_SECONDS
            agreeing = [each for each in particles if each.tick(time, self.speed, chance) == told]
            if not agreeing:
                break
            extra = PARTICLES - len(agreeing)
            particles = agreeing + [agreeing[place % len(agreeing)].copy() for place in range(extra)]
        chance.shuffle(particles)
        return particles


class Run(NamedTuple):
    """What one race brought our bot, and what its samples said of the true next rank while the opponent was ahead."""

    placed: int
    wins_race: bool
    wins_game: bool
    choices: int = 0
    prior: float = 0.0
    posterior: float = 0.0
    bits: float = 0.0


def run_race(version: str, name: str, seed: int, top_speed: float) -> Run:
    deal_chance, times, opponent_chance, chance = (random.Random(f"{name} {seed} {use}") for use in range(4))
    deal = make_deal(RULES, deal_chance.randbytes(32))
    stock = [rank(card) for card in deal.orders[0]]
    race = start_round(RULES, deal)
    lead = Lead(deal_chance.uniform(1.0, top_speed), [(0.0, race.racers[1].board)])
    speeds, clocks = (1.0, lead.speed), (times, opponent_chance)
    due = [think(*each) for each in zip(speeds, clocks, strict=True)]
    known: list[tuple[float, float]] = []
    while not race.is_over:
        seat = min((seat for seat in range(2) if not race.racers[seat].ending), key=due.__getitem__)
        now, racer, opponent = due[seat], race.racers[seat], race.racers[1]
        while TICK_SECONDS * (len(lead.ticks) + 1) <= now:
            lead.ticks.append(Tick(opponent.board.placed, opponent.ending is not None))
        move = choose_greedy(racer.board, opponent_chance if seat else chance)
        if seat == 0 and move.kind is Kind.STOCK_TO_PILE and racer.board.stock:
            turn = racer.turn.position
            futures = look_ahead(version, turn, stock, lead, chance, known)
            move = stock_to_pile(table_of(racer.board).best_pile(stock[turn], futures))
        race = race.play(seat, move)
        due[seat] += think(speeds[seat], clocks[seat])
        if race.racers[1].turn.position == len(lead.arrivals) < len(stock):
            lead.arrivals.append((now, race.racers[1].board))
    outcome = race.outcome()
    placed = outcome.scores[0].placed
    beliefs = [statistics.fmean(column) for column in zip(*known)]
"""
"""
