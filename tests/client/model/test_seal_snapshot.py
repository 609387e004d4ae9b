"""A snapshot stands for entries that were missed. It cannot take back a seal, nor drop a round unnoticed."""

import pytest

from fairest_cli.model.outcome_check import Cheated
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table, raced

OPTIONS = RoomOptions(rules="redeal").resolved()
NO_ROUND = Scene(options=OPTIONS)


@pytest.fixture(scope="module")
def table() -> Table:
    return raced(5, OPTIONS)


@pytest.fixture(scope="module")
def shown(table: Table) -> list[Entry]:
    return view(table.steps, None)


def place_of(shown: list[Entry], kind: type[Entry]) -> int:
    return next(place for place, entry in enumerate(shown) if isinstance(entry, kind))


def scene_of(shown: list[Entry]) -> Scene:
    """The scene of a viewer that was shown these entries."""
    seen = NO_ROUND
    for entry in shown:
        seen = seen.after(entry)
    return seen


def player(shown: list[Entry]) -> SealCheck:
    """The check of the player in seat 0, who was shown these entries and was committed before them."""
    ready = next((each for each in shown if isinstance(each, entries.PlayerReady) and each.seat == 0), None)
    opened = next((each for each in shown if isinstance(each, entries.RoundOpened)), None)
    check = SealCheck(key=KEY.public, seat=0)
    if ready and opened:
        known = EntropyCommitment(opened.round, opened.commitment, 0, bytes(32), ready.entropy_hash)
        check = check.with_entropy_commitment(known)
    for entry in shown:
        check = check.after(entry, OPTIONS)
    return check


def test_a_round_to_which_both_were_committed_is_not_dropped(shown: list[Entry]) -> None:
    check = player(shown[: place_of(shown, entries.Dealt)])
    with pytest.raises(Cheated, match="dropped a round to which both players were committed"):
        check.after_snapshot(NO_ROUND, 0)


def test_another_round_does_not_take_the_place_of_one_to_which_both_were_committed(shown: list[Entry]) -> None:
    table = Table(9, OPTIONS)
    table.seat_both()
    other = scene(table.state, view(table.steps, None))
    with pytest.raises(Cheated, match="dropped a round to which both players were committed"):
        player(shown[: place_of(shown, entries.Dealt)]).after_snapshot(other, 0)


@pytest.mark.parametrize("kind", [entries.PlayerReady, entries.RematchWanted])
def test_a_round_is_dropped_before_both_were_committed_or_after_its_secret_was_shown(
    shown: list[Entry], kind: type[Entry]
) -> None:
    upto = place_of(shown, kind) if kind is entries.PlayerReady else len(shown)
    assert player(shown[:upto]).after_snapshot(NO_ROUND, 0).round_id is None


def test_a_spectator_may_come_to_a_room_that_has_lost_a_round(shown: list[Entry]) -> None:
    check = replace(player(shown[: place_of(shown, entries.Dealt)]), seat=None)
    assert check.after_snapshot(NO_ROUND, None).round_id is None


def test_the_same_round_goes_on_after_a_snapshot(shown: list[Entry]) -> None:
    upto = place_of(shown, entries.Dealt) + 1
    check = player(shown[:upto])
    assert check.after_snapshot(scene_of(shown[:upto]), 0) == replace(check, shown=None)


def test_the_rest_of_a_race_is_proved_after_a_snapshot_in_the_middle_of_it(shown: list[Entry]) -> None:
    upto = place_of(shown, entries.RoundFinished) - 5
    check = player(shown[:upto]).after_snapshot(scene_of(shown[:upto]), 0)
    for entry in shown[upto:]:
        check = check.after(entry, OPTIONS)
    assert check.proved_envelopes == 96


def test_a_round_that_was_dropped_is_not_opened_again(shown: list[Entry]) -> None:
    opened = place_of(shown, entries.RoundOpened)
    dropped = player(shown[: opened + 1]).after_snapshot(NO_ROUND, 0)
    with pytest.raises(Cheated, match="opens a round again"):
        dropped.after(shown[opened], OPTIONS)


@pytest.mark.parametrize(
    ("field", "sentence"),
    [("commitment", "opened a round without committing itself"), ("signature", "did not sign its commitment")],
)
def test_a_snapshot_of_an_open_round_shows_its_signed_commitment(shown: list[Entry], field: str, sentence: str) -> None:
    opened = scene_of(shown[: place_of(shown, entries.RoundOpened) + 1])
    with pytest.raises(Cheated, match=sentence):
        SealCheck(key=KEY.public).after_snapshot(opened.model_copy(update={field: None}), None)


def test_a_snapshot_of_a_finished_round_proves_its_deal(shown: list[Entry]) -> None:
    finished = scene_of(shown[: place_of(shown, entries.RoundFinished) + 1])
    assert SealCheck(key=KEY.public).after_snapshot(finished, None).proved_envelopes == 96


def with_redeals_left(seen: Scene, *left: int | None) -> Scene:
    """Return the scene with so many redeals left on the boards of the seats; None is a seat without a board."""
    seats = []
    for seat, redeals in zip(seen.seats, left, strict=True):
        assert seat.board is not None
        board = None if redeals is None else replace(seat.board, redeals=redeals)
        seats.append(seat.model_copy(update={"board": board}))
    return seen.model_copy(update={"seats": tuple(seats)})


@pytest.mark.parametrize(
    ("left", "redeals"), [((1, 0), (0, 1)), ((0, 1), (1, 0)), ((None, 1), (0, 0)), ((1, None), (0, 0))]
)
def test_the_boards_of_a_snapshot_tell_how_often_each_seat_has_redealt(
    shown: list[Entry], left: tuple[int | None, int | None], redeals: tuple[int, int]
) -> None:
    seen = with_redeals_left(scene_of(shown[: place_of(shown, entries.Dealt) + 1]), *left)
    assert SealCheck(key=KEY.public).after_snapshot(seen, None).redeals == redeals


def test_options_that_name_no_redeals_allow_none(shown: list[Entry]) -> None:
    seen = with_redeals_left(scene_of(shown[: place_of(shown, entries.Dealt) + 1]), 0, 0)
    unresolved = seen.model_copy(update={"options": OPTIONS.model_copy(update={"redeals": None})})
    assert SealCheck(key=KEY.public).after_snapshot(unresolved, None).redeals == (0, 0)
