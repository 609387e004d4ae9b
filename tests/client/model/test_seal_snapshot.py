"""A snapshot stands for entries that were missed. It cannot take back a seal."""

from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.view import view
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


@pytest.mark.parametrize("kind", [entries.PlayerReady, entries.RematchWanted])
def test_a_round_is_dropped_before_both_were_committed_or_after_its_secret_was_shown(
    shown: list[Entry], kind: type[Entry]
) -> None:
    upto = place_of(shown, kind) if kind is entries.PlayerReady else len(shown)
    assert player(shown[:upto]).after_snapshot(NO_ROUND, 0).round_id is None


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
    ("changes", "sentence"),
    [
        ({"commitment": None}, "opened a round without committing itself"),
        ({"signature": None}, "opened a round without committing itself"),
        ({"match": None}, "opened a round without committing itself"),
        ({"round_number": 0}, "opened a round without committing itself"),
        ({"signature": bytes(64)}, "did not sign its commitment"),
        ({"match": bytes(16)}, "did not sign its commitment"),
        ({"round_number": 2}, "did not sign its commitment"),
        ({"options": OPTIONS.model_copy(update={"piles": 5})}, "did not sign its commitment"),
    ],
)
def test_a_snapshot_of_an_open_round_shows_its_signed_commitment(
    shown: list[Entry], changes: dict[str, Any], sentence: str
) -> None:
    opened = scene_of(shown[: place_of(shown, entries.RoundOpened) + 1])
    with pytest.raises(Cheated, match=sentence):
        SealCheck(key=KEY.public).after_snapshot(opened.model_copy(update=changes), None)


@pytest.mark.parametrize("changes", [{"match": bytes(16)}, {"round_number": 2}])
def test_a_snapshot_does_not_move_the_round_that_was_shown(shown: list[Entry], changes: dict[str, Any]) -> None:
    upto = place_of(shown, entries.RoundOpened) + 1
    with pytest.raises(Cheated, match="moved the round to another place"):
        player(shown[:upto]).after_snapshot(scene_of(shown[:upto]).model_copy(update=changes), 0)


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


def test_options_that_name_no_redeals_allow_none(table: Table, shown: list[Entry]) -> None:
    seen = with_redeals_left(scene_of(shown[: place_of(shown, entries.Dealt) + 1]), 0, 0)
    opened, options = table.state.round, OPTIONS.model_copy(update={"redeals": None})
    assert opened is not None
    signed = KEY.open_round(opened.round_id, opened.secret, None, 1, options.terms())
    unresolved = seen.model_copy(update={"options": options, "signature": signed.signature})
    assert SealCheck(key=KEY.public).after_snapshot(unresolved, None).redeals == (0, 0)
