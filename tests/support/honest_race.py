"""Rooms in which two honest players race, each with other options, another past and another end, from a seed."""

import random
from typing import Any, Final

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.entries import Revealed as RevealedEntry
from fairest_protocol.messages.fields import Phase, as_seat
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_server.room.commands import CloseRoom
from fairest_server.room.events import Played, PlayerReady, RoundOpened
from fairest_server.room.state import OpenRound, RoomState
from fairest_server.room.steps import Step
from tests.support.races import Table, choose_any

FEW_MOVES: Final = 12
"""The moves of a round before the one that the lie is about."""


class HonestRace:
    """A room as its log has it, up to the end of one round, and what each player does in it.

    `steps` is the log. The clients enter when the first round is opened, at `entered_at`; the round that ends last is
    opened at `opened_at`. `ending` names how it ends, without a lie.
    """

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.options = draw_options(chance)
        self.ending: str = chance.choice(list(ENDINGS))
        table = Table(seed, self.options)
        table.seat_both()
        self.entered_at = len(table.steps) - 1
        matches, rounds = chance.choice([(1, 1), (1, 1), (1, 2), (2, 1), (2, 2)])
        for _ in range(matches - 1):
            while not table.state.match_is_over:
                _race_shortly(table)
            table.rematch()
        for _ in range(rounds - 1):
            _race_shortly(table)
            if table.state.match_is_over:
                table.rematch()
        if table.state.phase is Phase.FINISHED:
            table.let_time_pass()
        self.opened_at = max(place for place, step in enumerate(table.steps) if isinstance(step.event, RoundOpened))
        ENDINGS[self.ending](table)
        self.steps = _until_end(table.steps, self.opened_at)
        self.entropies = table.entropies

    @property
    def round(self) -> OpenRound:
        """The round that the lies are about, as it is opened."""
        opened = self.steps[self.opened_at].after.round
        assert opened is not None
        return opened

    def moves(self, seat: int, round_id: bytes) -> list[Move]:
        """Return the moves of this seat in a round, in order."""
        return [
            step.event.move
            for step in self.steps
            if isinstance(step.event, Played) and step.event.seat == seat and _round_of(step.after) == round_id
        ]

    def revealing(self, seat: int) -> RevealedEntry:
        """Return the entry that shows the bytes of this seat."""
        return RevealedEntry(seat=as_seat(seat), entropy=self.entropies[self.round.round_id, seat])

    def commit(self, identity: Identity, seat: int, round_id: bytes) -> bool:
        """Let the player of this seat commit to the bytes that the log has; return whether it has some."""
        for step in self.steps:
            if isinstance(step.event, PlayerReady) and step.event.seat == seat and _round_of(step.after) == round_id:
                assert step.after.round is not None
                commitment = commit_secret(round_id, step.after.round.secret)
                entropy = self.entropies[round_id, seat]
                identity.entropy_commitment = EntropyCommitment(
                    round_id, commitment, seat, entropy, step.event.entropy_hash
                )
                return True
        return False


def draw_options(chance: random.Random) -> RoomOptions:
    """Return any options, with any variant. The clocks are short, as in the default, or as long as they may be."""
    variant = chance.choice(list(VARIANTS.values()))
    return RoomOptions(
        rules=variant.rules.name,
        piles=chance.choice([None, *variant.piles]),
        redeals=chance.choice([None, *variant.redeals]),
        best_of=chance.choice([1, 3, 5, 7, 9]),
        limit_seconds=chance.choice([20, 600, 1200, 7200]),
        chase_seconds=chance.choice([15, 180, 7200]),
        grace_seconds=chance.choice([20, 60, 3600]),
        ready_seconds=chance.choice([30, 3600]),
        reveal_seconds=chance.choice([10, 20, 60]),
        countdown_seconds=chance.choice([0, 3, 10]),
        spectators=chance.choice(list(Spectators)),
        direct_breaks_ties=chance.random() < 0.5,
        listed=chance.random() < 0.5,
    )


def _round_of(state: RoomState) -> bytes | None:
    return state.round.round_id if state.round is not None else None


def _until_end(steps: list[Step], opened_at: int) -> list[Step]:
    """Return the log up to the end of the round that is opened at `opened_at`, with all that follows at once."""
    for place in range(opened_at, len(steps)):
        if steps[place].after.phase in (Phase.FINISHED, Phase.WAITING, Phase.CLOSED):
            last = place
            while last + 1 < len(steps) and steps[last + 1].after.phase in (Phase.WAITING, Phase.CLOSED):
                last += 1
            return steps[: last + 1]
    raise AssertionError("each ending ends the round")


def _go_to(table: Table, phase: Phase) -> None:
    """Let both players take part until this phase of the round begins."""
    if phase is Phase.READY:
        return
    bytes_of = table.get_ready(0, 1)
    if phase is Phase.DEALING:
        return
    for seat in table.chance.sample((0, 1), 2):
        table.reveal(seat, bytes_of[seat])
    if phase is Phase.RACING:
        table.let_time_pass()


def _race_shortly(table: Table) -> None:
    """Race the next round of a match, with few moves. Its winner is any of the two players, or nobody."""
    if table.state.phase is Phase.FINISHED:
        table.let_time_pass()
    _go_to(table, Phase.RACING)
    table.race(choose_any, most=table.chance.randint(0, FEW_MOVES))
    for seat in table.chance.sample((0, 1), 2):
        if table.state.phase is Phase.RACING:
            table.play(seat, "stop")


def _race(table: Table) -> None:
    """Race until nobody can or wants to move any more, or until time is out."""
    _go_to(table, Phase.RACING)
    table.race(choose_any, stops=table.chance.choice([0.0, 0.003, 0.03]))


def _race_until_time_is_out(table: Table) -> None:
    _go_to(table, Phase.RACING)
    table.race(choose_any, most=table.chance.randint(0, 40))
    while table.state.phase is Phase.RACING:
        table.let_time_pass()


def _resign(table: Table) -> None:
    _go_to(table, Phase.RACING)
    table.race(choose_any, most=table.chance.randint(0, 40))
    _in_any_order(table, lambda seat: table.play(seat, "resign"))


def _leave(table: Table) -> None:
    """Leave in any phase of the round."""
    phase = table.chance.choice([Phase.READY, Phase.DEALING, Phase.COUNTDOWN, Phase.RACING])
    _go_to(table, phase)
    seat = table.chance.randrange(2)
    if phase is Phase.READY:
        table.get_ready(table.chance.randrange(2))
    elif phase is Phase.RACING:
        table.race(choose_any, most=table.chance.randint(0, 40))
    if table.state.phase is phase:
        table.submit(table.request(seat, Leave()))
    if table.state.phase is Phase.RACING:
        table.play(1 - seat, "stop")


def _get_ready_too_late(table: Table) -> None:
    table.get_ready(table.chance.randrange(2))
    table.let_time_pass()


def _be_away(table: Table) -> None:
    """Be cut off until the bytes, or the seat in a race, have waited long enough."""
    phase = table.chance.choice([Phase.READY, Phase.COUNTDOWN, Phase.RACING])
    _go_to(table, phase)
    if phase is Phase.RACING:
        table.race(choose_any, most=table.chance.randint(0, 40))
    seat = table.chance.randrange(2)
    if phase is Phase.READY:
        table.get_ready(seat)
        table.disconnect(seat)
        entropies = table.get_ready(1 - seat)
        table.reveal(1 - seat, entropies[1 - seat])
    elif table.state.phase is phase:
        table.disconnect(seat)
    while table.state.phase not in (Phase.FINISHED, Phase.WAITING):
        table.let_time_pass()


def _close(table: Table) -> None:
    """Have the room closed by the operator."""
    _go_to(table, table.chance.choice([Phase.COUNTDOWN, Phase.RACING]))
    table.submit(CloseRoom("repairs"))


def _in_any_order(table: Table, act: Any) -> None:
    for seat in table.chance.sample((0, 1), 2):
        if table.state.phase is Phase.RACING:
            act(seat)


ENDINGS: Final = {
    "raced": _race,
    "out of time": _race_until_time_is_out,
    "resigned": _resign,
    "left": _leave,
    "not ready": _get_ready_too_late,
    "away": _be_away,
    "closed": _close,
}
