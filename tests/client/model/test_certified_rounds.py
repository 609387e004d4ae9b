"""A client repeats the steps of a certified round, and notices a server that deals another step, or none."""

from collections.abc import Sequence

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.proof import describe_proof, describe_step
from fairest_cli.model.seal_check import SealCheck
from fairest_protocol.calculation.certified import STEPS, CertifiedStep
from fairest_protocol.calculation.deal import SealedDeal, seal_deal
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import DealStep
from fairest_server.room.state import round_seed
from fairest_server.room.view import scene, view
from tests.support.long_tests import parametrize_with_long
from tests.support.races import KEY, Table, choose_any

CERTIFIED = RoomOptions(certified=1).resolved()
FIRST, SECOND = 0, 11
"""Tables whose first step is proved, and whose first step is not while the second one is."""


def awaiting(seed: int) -> Table:
    table = Table(seed, CERTIFIED)
    table.seat_both()
    for seat, entropy in table.get_ready(0, 1).items():
        table.reveal(seat, entropy)
    return table


def raced_at(table: Table, step: int) -> Table:
    """Deal this step, whatever the right one is, and race to the end."""
    assert table.state.round is not None
    table.submit(DealStep(table.state.round.round_id, step))
    table.let_time_pass()
    table.race(choose_any)
    return table


def watch(shown: Sequence[Entry]) -> SealCheck:
    seal = SealCheck(key=KEY.public)
    for entry in shown:
        seal = seal.after(entry, CERTIFIED)
    return seal


@pytest.mark.parametrize(("seed", "step"), [(FIRST, 0), (SECOND, 1)])
@parametrize_with_long("viewer", [0, None, 1], quick=2)
def test_an_honest_certified_round_is_proved_to_every_viewer(seed: int, step: int, viewer: int | None) -> None:
    proved = watch(view(raced_at(awaiting(seed), step).steps, viewer))
    assert proved.certified == CertifiedStep(step, is_proved=True)
    before = ", and at none before" if step else ""
    assert list(describe_proof(proved))[-1] == f"Certified deal: proved winnable at step {step + 1} of 16{before}."


@parametrize_with_long(
    ("seed", "step", "right"), [(FIRST, 1, 1), (SECOND, 0, 2), (FIRST, 15, 1), (SECOND, 2, 2)], quick=2
)
def test_a_server_that_deals_another_step_cheats(seed: int, step: int, right: int) -> None:
    shown = view(raced_at(awaiting(seed), step).steps, 0)
    sentence = f"The server dealt step {step + 1} of the certified round, where step {right} is to be dealt."
    with pytest.raises(Cheated, match=f"^{sentence}$"):
        watch(shown)


def test_a_server_that_says_one_step_and_deals_another_cheats() -> None:
    shown = view(raced_at(awaiting(FIRST), 1).steps, 0)
    lied = [each.model_copy(update={"step": 0}) if isinstance(each, entries.Dealt) else each for each in shown]
    with pytest.raises(Cheated, match="holds another deal's card"):
        watch(lied)


def test_a_server_that_deals_without_a_step_in_a_certified_room_cheats() -> None:
    shown = view(raced_at(awaiting(FIRST), 0).steps, 0)
    silent = [each.model_copy(update={"step": None}) if isinstance(each, entries.Dealt) else each for each in shown]
    with pytest.raises(Cheated, match="deals without a step in a certified room"):
        watch(silent)


def test_the_deal_of_the_round_itself_is_no_step_of_it() -> None:
    table = awaiting(FIRST)
    assert table.state.round is not None
    plain = seal_deal(table.state.rules, round_seed(table.state), table.state.round.round_id)
    table.submit(DealStep(table.state.round.round_id, 0))
    table.swap_deal(SealedDeal(plain.round_id, plain.deal, plain.seed, [[b""] * 48], step=0))
    table.let_time_pass()
    table.race(choose_any)
    with pytest.raises(Cheated, match="holds another deal's card"):
        watch(view(table.steps, 0))


@pytest.mark.parametrize(("step", "is_right"), [(0, True), (1, False)])
def test_a_client_that_returns_to_the_round_repeats_the_steps_as_well(step: int, is_right: bool) -> None:
    table = raced_at(awaiting(FIRST), step)
    shown = view(table.steps, None)
    end = next(place for place, each in enumerate(shown) if isinstance(each, entries.RoundFinished))
    seal = SealCheck(key=KEY.public).after_snapshot(scene(table.steps[-2].after, shown[:end]), None)
    if is_right:
        assert seal.after(shown[end], CERTIFIED).certified == CertifiedStep(0, is_proved=True)
        return
    with pytest.raises(Cheated, match="where step 1 is to be dealt"):
        seal.after(shown[end], CERTIFIED)


def test_a_round_of_which_no_step_is_proved_is_said_not_to_be_certified() -> None:
    assert describe_step(CertifiedStep(STEPS - 1, is_proved=False)).startswith("NOT PROVED winnable")


def test_step_seeds_differ() -> None:
    assert len({make_step_seed(bytes(32), step) for step in range(STEPS)}) == STEPS
