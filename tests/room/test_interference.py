"""Non-interference: two races that differ only in what a viewer may not know look the same to it, byte for byte.

Each example is a race and its twin. They share the cards up to where the viewer may see, every decision that the viewer
may see, the envelopes, the clock and the placed ticks. The cards beyond, their salts, and the decisions beyond differ.
Everything that the server sends the viewer is compared: frames as they come, resumes from any position, snapshots,
ticks and refusals.
"""

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import Deal, SealedDeal
from fairest_protocol.calculation.moves import MOVES, STOP, Move
from fairest_protocol.calculation.race import Race, Turn
from fairest_protocol.calculation.rules import VARIANTS, Redeal, Rules
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_server.live.subscribers import DropReason, Subscribers, send_placed
from fairest_server.room.catchup import make_catchup
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.view import ORIGIN, ViewCursor, views_of
from tests.support.races import ForgedDeal, Table

BEHIND, AHEAD = 0, 1
SLOW = RoomOptions(limit_seconds=7200, chase_seconds=7200, countdown_seconds=0)


class Subscriber:
    """A subscriber of a room that keeps every frame."""

    def __init__(self, connection_id: str) -> None:
        self.connection_id, self.entry_kind, self.seen_upto = connection_id, "watch", ORIGIN
        self.player_id = "nobody"
        self.frames: list[bytes] = []

    def show(self, data: bytes) -> None:
        self.frames.append(data)

    def replaced(self) -> None: ...
    def unseated(self, *, has_asked: bool) -> None: ...
    def admitted(self, seat: int | None, log_length: int, missed: bytes) -> None: ...
    def refused(self, answer: Refused) -> None: ...
    def sent_away(self, reason: DropReason) -> None: ...


@dataclass
class Run:
    """A race under way; `ticks` holds, for each tick, the number of steps before it."""

    table: Table
    ticks: list[int] = field(default_factory=list)

    @property
    def race(self) -> Race:
        assert self.table.state.race is not None
        return self.table.state.race

    def legal(self, seat: int) -> list[Move]:
        """Return the legal moves after which the seat is still racing."""
        moves = self.race.racers[seat].board.legal_moves()
        return [move for move in moves if not self.race.play(seat, move).racers[seat].ending]

    def play(self, seat: int, move: Move) -> None:
        played = self.table.play(seat, move)
        assert isinstance(played, tuple), played

    def placed(self, seat: int) -> int:
        return self.race.racers[seat].board.placed


@dataclass(frozen=True)
class Decision:
    seat: int
    move: Move
    turn: Turn


def dealt(options: RoomOptions, seed: int, sealed: SealedDeal | None = None) -> Run:
    table = Table(seed, options)
    table.seat_both()
    table.deal()
    if sealed is not None:
        table.swap_deal(sealed)
    table.let_time_pass()
    return Run(table)


def run_ahead(run: Run, chance: random.Random, turns: int) -> list[Decision]:
    """Play a race in which one player waits after `turns` turns while the other runs ahead; return the decisions."""
    made: list[Decision] = []
    waits = chance.randrange(10, 60)
    while waits:
        behind, ahead = (run.race.racers[seat] for seat in (BEHIND, AHEAD))
        is_there = behind.seen + run.race.rules.redeals - behind.board.redeals > turns
        seat = BEHIND if chance.random() < 0.3 and behind.turn < ahead.turn else AHEAD
        moves = [move for move in run.legal(seat) if seat == AHEAD or not is_there or move.source >= 0]
        waits -= is_there or not moves
        if moves:
            move = chance.choices(moves, [3 if move.text[1].isdigit() else 1 for move in moves])[0]
            made.append(Decision(seat, move, run.race.racers[seat].turn))
            run.table.now_ms += 9_000
            run.play(seat, move)
    return made


def hide(rules: Rules, sealed: SealedDeal, seen: Turn, chance: random.Random) -> SealedDeal:
    """Return another deal with the same envelopes, and the same cards up to this turn; later cards and salts differ."""
    orders: list[tuple[Card, ...]] = []
    for number, order in enumerate(sealed.deal.orders):
        kept = len(order) if number < seen.pass_number else 0
        if number == seen.pass_number:
            kept = min(seen.position + 1, len(order))
        orders.append((*order[:kept], *chance.sample(order[kept:], len(order) - kept)))
    if rules.redeal is Redeal.TURNED_OVER:
        orders = [orders[0] if seen.pass_number == 0 else sealed.deal.orders[0]] * len(orders)
    deal = Deal(sealed.deal.foundations, sealed.deal.starters, sealed.deal.markers, tuple(orders))
    salts = [
        [
            sealed.salt(number, position) if card == orders[number][position] else chance.randbytes(32)
            for position, card in enumerate(sealed.deal.orders[number])
        ]
        for number in range(len(sealed.envelopes))
    ]
    return ForgedDeal(sealed.round_id, deal, sealed.seed, salts, sealed.envelopes)


def play_twin(
    first: Run, twin: Run, made: list[Decision], viewer: int | None, horizon: Turn, chance: random.Random
) -> int:
    """Play both races side by side, with other decisions in the twin where the viewer cannot see them.

    The log's clock is the same in both whenever an entry is visible, and ticks come when the counts agree. Returns the
    number of decisions that are the twin's own.
    """
    invented = 0
    for decision in made:
        first.table.now_ms += 9_000
        twin.table.now_ms = first.table.now_ms
        is_hidden = decision.seat != viewer and (
            decision.turn > horizon or (decision.turn == horizon and not first.race.is_last_turn(horizon))
        )
        first.play(decision.seat, decision.move)
        if not is_hidden:
            twin.play(decision.seat, decision.move)
        else:
            invented += invent(twin, decision.seat, first.placed(decision.seat), chance)
        if chance.random() < 0.5 and all(first.placed(seat) == twin.placed(seat) for seat in (BEHIND, AHEAD)):
            for run in (first, twin):
                run.ticks.append(len(run.table.steps))
    if viewer != AHEAD and chance.random() < 0.3 and first.placed(AHEAD) == twin.placed(AHEAD):
        first.table.now_ms += 9_000
        twin.table.now_ms = first.table.now_ms
        for run in (first, twin):
            run.play(AHEAD, STOP)
    return invented


def invent(twin: Run, seat: int, wanted: int, chance: random.Random) -> int:
    """Make up to three decisions of the twin's own, with placed cards close to those of the other race; count them."""
    invented = 0
    for _ in range(chance.randrange(4)):
        moves = [move for move in twin.legal(seat) if seat == AHEAD or move.source >= 0]
        up = [move for move in moves if move.text[-1].isdigit()]
        level = [move for move in moves if move not in up]
        choice = up if up and twin.placed(seat) < wanted else level or (moves if seat == AHEAD else up)
        if choice and (twin.placed(seat) < wanted or level or chance.random() < 0.2):
            twin.play(seat, chance.choice(choice))
            invented += 1
    return invented


def seen_by(viewer: int | None, run: Run, start: int) -> list[bytes]:
    """Return every frame that this viewer is sent from its admission on."""
    subscribers, subscriber, steps = Subscribers(lambda _, call: call()), Subscriber("watcher"), run.table.steps
    subscribers.show(steps[:start])
    subscribers.add_pending(subscriber)
    subscribers.admit(viewer, subscriber, make_catchup("a-b", StepHistory(steps[:start]), viewer, ORIGIN, 0))
    for count, step in enumerate(steps[start:], start + 1):
        subscribers.show([step])
        for _ in range(run.ticks.count(count)):
            send_placed(subscribers, step.after)
    return subscriber.frames


def cursors_of(run: Run, viewer: int | None) -> list[ViewCursor]:
    """Return every cursor from which this viewer might come back."""
    view = views_of(run.table.steps[0].after)[viewer]
    return [view.cursor for step in run.table.steps if view.reveal(project(step))]


def refusals(seat: int, run: Run) -> list[bytes]:
    """Return the answers to all moves of this seat that are against the rules or have a wrong number."""
    board, number = run.race.racers[seat].board, run.race.racers[seat].moves
    answers = [
        run.table.submit(run.table.request(seat, Play(number=number + ahead, move=move)))
        for ahead in (0, 1, 2)
        for move in MOVES.values()
        if board.refusal(move) or ahead != 1
    ]
    assert answers
    return [encode(answer) for answer in answers if isinstance(answer, Refused)]


def make_twins(seed: int, options: RoomOptions, viewer: int | None) -> tuple[Run, Run, int, int]:
    """Return a race, its twin, the step at which it began, and the number of hidden decisions that differ."""
    chance = random.Random(seed)
    draft = dealt(options, seed)
    rules = draft.race.rules
    made = run_ahead(draft, chance, chance.randrange(1, (rules.redeals + 1) * rules.stock))
    horizon = min(draft.race.racers[seat].turn for seat in (BEHIND, AHEAD))
    seen = draft.race.racers[AHEAD].turn if viewer == AHEAD else horizon
    opened = draft.table.state.round
    assert opened is not None and opened.sealed is not None
    first, twin = dealt(options, seed), dealt(options, seed, hide(rules, opened.sealed, seen, chance))
    start = len(first.table.steps)
    return first, twin, start, play_twin(first, twin, made, viewer, horizon, chance)


def lead(run: Run) -> int:
    behind, ahead = (run.race.racers[seat] for seat in (BEHIND, AHEAD))
    return ahead.seen - behind.seen


def slow(name: str, **more: object) -> RoomOptions:
    return SLOW.model_copy(update={"rules": name, **more})


any_options = st.builds(
    lambda name, more: slow(name, redeals=max(VARIANTS[name].redeals) if more else None),
    st.sampled_from(sorted(VARIANTS)),
    st.booleans(),
)
viewers = st.sampled_from([BEHIND, BEHIND, None, AHEAD])


@settings(max_examples=2 * settings().max_examples)
@given(st.integers(0, 2**32), any_options, viewers)
def test_what_a_viewer_may_not_know_never_reaches_it(seed: int, options: RoomOptions, viewer: int | None) -> None:
    first, twin, start, invented = make_twins(seed, options, viewer)
    event(f"leader ahead by three turns: {lead(first) >= 3}")
    event(f"decisions differ: {invented > 0}")
    shown = seen_by(viewer, first, start)
    assert shown == seen_by(viewer, twin, start)
    cursors = cursors_of(first, viewer)
    assert cursors == cursors_of(twin, viewer)
    for seen_upto in (ORIGIN, cursors[seed % len(cursors)], cursors[-1], cursors[-1]._replace(tag="ffffffff")):
        first_text, twin_text = (
            make_catchup("a-b", StepHistory(run.table.steps), viewer, seen_upto, 0).text for run in (first, twin)
        )
        assert first_text == twin_text
    if viewer is not None and not first.race.racers[viewer].ending:
        assert refusals(viewer, first) == refusals(viewer, twin)


@pytest.mark.long
def test_most_twins_have_a_leader_far_ahead_and_hide_direct_plays_and_other_cards() -> None:
    """Otherwise the property above would prove little."""
    found: Counter[str] = Counter()
    for seed in range(60):
        options = slow(sorted(VARIANTS)[seed % len(VARIANTS)])
        first, twin, start, invented = make_twins(seed, options, BEHIND)
        horizon = first.race.racers[BEHIND].turn
        found["three turns ahead"] += lead(first) >= 3
        found["decisions differ"] += invented > 0
        found["cards differ"] += first.race.deal != twin.race.deal
        found["ticks"] += len(first.ticks) > 3
        for run in (first, twin):
            before = run.table.steps[start].after
            assert before.race is not None
            found["hidden direct plays"] += any(
                step.before is not None
                and step.before.race is not None
                and step.after.race is not None
                and step.after.race.racers[AHEAD].board.direct > step.before.race.racers[AHEAD].board.direct
                and step.before.race.racers[AHEAD].turn > horizon
                for step in run.table.steps[start:]
            )
    assert all(found[trait] >= 40 for trait in ("three turns ahead", "decisions differ", "cards differ", "ticks"))
    assert found["hidden direct plays"] >= 60


@pytest.mark.parametrize("viewer", [BEHIND, None])
def test_twins_look_different_to_a_viewer_that_may_see_more(viewer: int | None) -> None:
    """The comparison can fail: a spectator of an open room sees what the others may not."""
    options = slow("classic", spectators=Spectators.OPEN if viewer is None else Spectators.HORIZON)
    first, twin, start, invented = make_twins(11, options, BEHIND)
    assert invented
    other = AHEAD if viewer == BEHIND else None
    assert seen_by(other, first, start) != seen_by(other, twin, start)
