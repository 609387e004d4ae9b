"""Whole rooms without a server: logs made by `decide` and `evolve` from a random source."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.certified import find_step
from fairest_protocol.calculation.deal import SealedDeal
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Play, Ready, Rematch, Reveal
from fairest_protocol.messages.from_server import ListedRoom
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from fairest_server.room.commands import (
    Command,
    CreateRoom,
    DealStep,
    Disconnect,
    ExpireDeadline,
    MakeMove,
    MarkRecorded,
    PlayerRequest,
    RoomRequest,
    TakeSeat,
)
from fairest_server.room.decide import Verdict, decide
from fairest_server.room.events import RoundOpened
from fairest_server.room.evolve import evolve
from fairest_server.room.state import RoomState, awaits_step, round_seed
from fairest_server.room.steps import Step

KEY = SigningKey(bytes(32))
Choose = Callable[[Board, random.Random], Move]


def make_listed_room(number: int = 0, **changes: Any) -> ListedRoom:
    """Return the lobby's row of a room; the smaller `number`, the older the room."""
    letters = chr(ord("a") + number // 26) + chr(ord("a") + number % 26)
    fields: dict[str, Any] = {
        "room": f"room-{letters}",
        "phase": Phase.WAITING,
        "names": ("ann", None),
        "wins": (0, 0),
        "rules": "classic",
        "piles": 4,
        "redeals": 0,
        "best_of": 1,
        "spectators": Spectators.HORIZON,
        "since_ms": number,
    }
    return ListedRoom(**fields | changes)


@dataclass(frozen=True, slots=True)
class ForgedDeal(SealedDeal):
    """A deal whose envelopes were sealed for another deal."""

    forged: tuple[tuple[bytes, ...], ...]

    @property
    def envelopes(self) -> tuple[tuple[bytes, ...], ...]:
        return self.forged


class Table:
    """A room under test: takes commands and keeps the log; the clock advances by a second with each event."""

    def __init__(
        self, seed: int = 0, options: RoomOptions | None = None, players: tuple[str, str] = ("player-0", "player-1")
    ) -> None:
        self.players = players
        self.chance = random.Random(seed)
        self.steps: list[Step] = []
        self.now_ms = 1_000_000
        self.entropies: dict[tuple[bytes, int], bytes] = {}
        """The entropy of each round and seat that is bound to it."""
        self.submit(CreateRoom(options or RoomOptions(), players[0], "ann", "link-0"))

    @property
    def state(self) -> RoomState:
        """The room now."""
        return self.steps[-1].after

    def submit(self, command: Command) -> Verdict:
        """Decide a command and log the events that follow from it."""
        verdict = decide(self.steps[-1].after if self.steps else None, command, self.draw_round)
        if isinstance(verdict, tuple):
            for event in verdict:
                self.now_ms += 1000
                before = self.steps[-1].after if self.steps else None
                self.steps.append(
                    Step(before, event, self.now_ms, evolve(before, event, self.now_ms), f"{self.now_ms:08x}")
                )
        return verdict

    def request(self, seat: int, message: RoomRequest | Play) -> PlayerRequest | MakeMove:
        """Return the command for a message that the player in this seat sends over its current connection."""
        holder = self.state.seats[seat]
        connection_id = holder.connection_id or "" if holder else ""
        return (
            MakeMove(connection_id, message.number, message.move)
            if isinstance(message, Play)
            else PlayerRequest(connection_id, message)
        )

    def draw_round(self, match_id: bytes | None, number: int, terms: str) -> RoundOpened:
        """Open a round with values from the random source of this table."""
        return KEY.open_round(self.chance.randbytes(16), self.chance.randbytes(32), match_id, number, terms)

    def seat_both(self) -> None:
        """Seat the second player, which opens a round."""
        self.submit(TakeSeat(self.players[1], "bob", "link-1"))

    def get_ready(self, *seats: int) -> dict[int, bytes]:
        """Let these seats get ready; return the entropy that each is bound to."""
        assert self.state.round is not None
        entropies = {seat: self.chance.randbytes(32) for seat in seats}
        for seat, entropy in entropies.items():
            round_id = self.state.round.round_id
            self.entropies[round_id, seat] = entropy
            self.submit(self.request(seat, Ready(round=round_id, entropy_hash=commit_entropy(round_id, seat, entropy))))
        return entropies

    def deal(self, revealing: Iterable[int] = (0, 1)) -> None:
        """Let both seats get ready, and these reveal their entropy: once both have, the cards are dealt."""
        entropies = self.get_ready(0, 1)
        for seat in revealing:
            self.reveal(seat, entropies[seat])
        if awaits_step(self.state):
            self.deal_step()

    def deal_step(self) -> Verdict:
        """Find the step of the certified round that awaits it, as a server process does."""
        assert self.state.round is not None
        found = find_step(self.state.rules, round_seed(self.state))
        return self.submit(DealStep(self.state.round.round_id, found.step))

    def reveal(self, seat: int, entropy: bytes) -> Verdict:
        """Let this seat reveal its entropy for the open round."""
        assert self.state.round is not None
        return self.submit(self.request(seat, Reveal(round=self.state.round.round_id, entropy=entropy)))

    def disconnect(self, seat: int) -> Verdict:
        """Disconnect this seat."""
        return self.submit(Disconnect(self.state.seat(seat).connection_id or ""))

    def let_time_pass(self) -> Verdict:
        """Advance the clock to the next deadline and let it expire."""
        deadline = self.state.next_deadline()
        assert deadline is not None
        self.now_ms = max(self.now_ms, deadline.at_ms)
        return self.submit(ExpireDeadline(deadline.at_ms))

    def swap_deal(self, sealed: SealedDeal) -> None:
        """Replace the deal that was just made by another one."""
        step = self.steps[-1]
        opened = step.after.round
        assert opened is not None
        race = start_race(
            step.after.rules,
            sealed.deal,
            direct_breaks_ties=step.after.options.direct_breaks_ties,
            has_credit=step.after.options.credit is not None,
        )
        after = replace(step.after, round=replace(opened, sealed=sealed), race=race)
        self.steps[-1] = replace(step, after=after)

    def start(self) -> None:
        """Go from one taken seat to a race that has started."""
        self.seat_both()
        self.deal()
        self.let_time_pass()
        assert self.state.phase is Phase.RACING

    def play(self, seat: int, move: str | Move) -> Verdict:
        """Make a move for this seat under the number that comes next."""
        assert self.state.race is not None
        number = self.state.race.racers[seat].moves + 1
        return self.submit(self.request(seat, Play(number=number, move=MOVES[move] if isinstance(move, str) else move)))

    def record_match(self) -> Verdict:
        """Tell the room that the record of its last match is stored."""
        return self.submit(MarkRecorded(self.state.unrecorded_match))

    def rematch(self) -> None:
        """Open another match, which both players ask for."""
        self.record_match()
        for seat in (0, 1):
            self.submit(self.request(seat, Rematch()))

    def race(
        self, choose: Choose, eagerness: tuple[int, int] = (1, 1), stops: float = 0.0, most: int = 100_000
    ) -> None:
        """Play both seats to the end, or `most` moves at most. `eagerness` weighs the seats for the next move, so that
        one of them may run far ahead.
        """
        for _ in range(most):
            if self.state.phase is not Phase.RACING or self.state.race is None:
                return
            racing = [seat for seat in (0, 1) if not self.state.race.racers[seat].ending]
            seat = self.chance.choices(racing, [eagerness[seat] for seat in racing])[0]
            board = self.state.race.racers[seat].board
            if self.chance.random() < stops:
                self.play(seat, "stop")
            else:
                self.play(seat, choose(board, self.chance))


def choose_any(board: Board, chance: random.Random) -> Move:
    """Choose any legal move; moves to foundations are three times as likely as moves to piles."""
    moves = list(board.legal_moves())
    return chance.choices(moves, [3 if move.text[1].isdigit() else 1 for move in moves])[0]


def raced(
    seed: int, options: RoomOptions | None = None, eagerness: tuple[int, int] = (1, 1), stops: float = 0.0
) -> Table:
    """Play a whole match of one round, from the empty room to the result."""
    table = Table(seed, options)
    table.start()
    table.race(choose_any, eagerness, stops)
    return table


def start_next_round(table: Table) -> None:
    """Go from the result of a round to the race of the next one in its match."""
    table.let_time_pass()
    table.deal()
    table.let_time_pass()
    assert table.state.phase is Phase.RACING


def race_match(table: Table, stops: float = 0.0) -> None:
    """Race the round that has started, and all later ones of its match, with any legal moves."""
    table.race(choose_any, stops=stops)
    while not table.state.match_is_over:
        start_next_round(table)
        table.race(choose_any, stops=stops)
