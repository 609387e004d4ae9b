"""Who comes back is told what it has missed, and not one entry more: found from where it left, not by reading it all.

The oracle is the viewer that never left: its view went through every step of the log.
"""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave, Rematch
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.value import replace
from fairest_server.room.commands import ApplyPauses, Pause, TakeSeat
from fairest_server.room.projection import StepHistory, count_entries, project
from fairest_server.room.steps import Step
from fairest_server.room.view import ViewCursor, make_catchup, views_of
from tests.support.races import Table, choose_any, raced

STEPS = 260
seeds = st.integers(min_value=0, max_value=2**32)
viewers = st.sampled_from([0, 1, None])
any_options = st.sampled_from(
    [
        RoomOptions(best_of=3),
        RoomOptions(best_of=3, spectators=Spectators.OPEN),
        RoomOptions(rules="redeal", redeals=2),
        RoomOptions(rules="betsy-ross"),
    ]
)


def sit_down(table: Table) -> None:
    """Whoever has no seat, or no connection to it, is there again."""
    for seat in (0, 1):
        holder = next((each for each in table.state.seats if each and each.player == table.players[seat]), None)
        if holder is None or holder.connection_id is None:
            table.submit(TakeSeat(table.players[seat], f"guest-{seat}", f"link-{seat}-{len(table.steps)}"))


def disturb(table: Table) -> None:
    """A link is lost, or nobody serves for a while."""
    seat = table.chance.randrange(2)
    if table.chance.random() < 0.5:
        table.now_ms += 60_000
        table.submit(ApplyPauses((Pause(table.now_ms - 60_000, table.now_ms),)))
    elif table.state.seats[seat]:
        table.lose_link(seat)


def go_on(table: Table) -> None:
    """Whatever comes next in this phase; now and then somebody leaves, stops, or lets a deadline pass."""
    chance, seat = table.chance, table.chance.randrange(2)
    match table.state.phase:
        case Phase.READY if chance.random() < 0.2:
            table.submit(table.request(seat, Leave()))
        case Phase.READY if chance.random() < 0.2:
            table.get_ready(seat)
            table.let_time_pass()
        case Phase.READY:
            table.deal()
        case Phase.DEALING | Phase.COUNTDOWN:
            table.let_time_pass()
        case Phase.RACING:
            table.race(choose_any, chance.choice([(1, 1), (20, 1), (1, 20)]), stops=0.01, most=30)
            if table.state.phase is Phase.RACING and chance.random() < 0.02:
                table.let_time_pass()
        case Phase.FINISHED if table.state.match_is_over:
            table.submit(table.request(0, Rematch()))
            table.submit(table.request(1, Rematch()))
        case Phase.FINISHED:
            table.let_time_pass()


def lived(seed: int, options: RoomOptions) -> list[Step]:
    """The log of a room in which much happens. Up to four steps were appended together, under one tag."""
    table = Table(seed, options)
    while len(table.steps) < STEPS and table.state.phase is not Phase.CLOSED:
        sit_down(table)
        if table.chance.random() < 0.3:
            disturb(table)
        if table.chance.random() < 0.8:
            sit_down(table)
        go_on(table)
    steps: list[Step] = []
    while len(steps) < len(table.steps):
        tag = f"{len(steps):08x}"
        steps += [replace(step, tag=tag) for step in table.steps[len(steps) :][: table.chance.randint(1, 4)]]
    return steps


@given(seeds, any_options)
def test_the_entries_of_a_step_are_counted_without_a_word_of_them(seed: int, options: RoomOptions) -> None:
    for step in lived(seed, options):
        assert count_entries(step) == len(project(step).entries), step.event


@given(seeds, any_options, viewers)
def test_who_comes_back_sees_what_it_would_have_seen_had_it_stayed(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    steps = lived(seed, options)
    stayed = views_of(steps[0].after)[viewer]
    shown: list[bytes] = []
    marks: list[ViewCursor] = []
    upto: list[int] = []
    for step in steps:
        shown += stayed.reveal(project(step))
        marks.append(stayed.cursor)
        upto.append(len(shown))
    for gone in range(1 + seed % 5, len(steps), 23):
        back = min(gone + seed % 40, len(steps) - 1)
        came = make_catchup("a-b", StepHistory(steps[: back + 1]), viewer, marks[gone], 0)
        missed = shown[marks[gone].position : upto[back]]
        assert came.text == encode_view(marks[gone].position + 1, missed, marks[back].tag)
        assert came.view.cursor == marks[back]
        later = [text for step in steps[back + 1 :] for text in came.view.reveal(project(step))]
        assert later == shown[upto[back] :]


@given(seeds, any_options, viewers)
def test_a_mark_names_the_step_that_showed_its_last_entry(seed: int, options: RoomOptions, viewer: int | None) -> None:
    steps = lived(seed, options)
    stayed = views_of(steps[0].after)[viewer]
    tag = ""
    for step in steps:
        if stayed.reveal(project(step)):
            tag = step.tag
        assert stayed.cursor.tag == tag


@given(seeds, any_options, viewers)
def test_what_happens_together_is_seen_as_if_it_had_happened_one_after_the_other(
    seed: int, options: RoomOptions, viewer: int | None
) -> None:
    told = [project(step) for step in lived(seed, options)]
    together, apart = (views_of(told[0].step.after)[viewer] for _ in range(2))
    for first in range(0, len(told), 1 + seed % 5):
        batch = told[first : first + 1 + seed % 5]
        shown = [text for each in batch for text in apart.reveal(each)]
        assert (together.reveal(*batch), together.cursor) == (shown, apart.cursor)


@given(seeds, viewers)
def test_a_moment_that_this_log_does_not_hold_is_answered_with_a_snapshot(seed: int, viewer: int | None) -> None:
    steps = raced(seed).steps
    seen = views_of(steps[0].after)[viewer]
    for step in steps[: len(steps) // 2]:
        seen.reveal(project(step))
    for cursor in (
        seen.cursor._replace(tag="ffffffff"),
        seen.cursor._replace(position=seen.position + 1),
        seen.cursor._replace(position=seen.position - 1),
    ):
        text = make_catchup("a-b", StepHistory(steps), viewer, cursor, 0).text
        assert isinstance(decode_from_server(text), Snapshot)


def test_much_happens_in_these_rooms() -> None:
    """Otherwise the properties above would say little."""
    happened: Counter[str] = Counter()
    for seed in range(12):
        steps = lived(seed, RoomOptions(best_of=3))
        happened.update(type(step.event).__name__ for step in steps)
        happened["shown in pieces"] += any(earlier.tag == later.tag for earlier, later in pairwise(steps))
        happened["rematch"] += steps[-1].after.matches > 1
    wanted = [
        "SeatFreed",
        "Detached",
        "Attached",
        "Paused",
        "Revealed",
        "Started",
        "Played",
        "SeatsStopped",
        "RematchAsked",
    ]
    assert min(happened[name] for name in [*wanted, "shown in pieces", "rematch"]) >= 3, happened
