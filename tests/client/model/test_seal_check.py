"""The seal check accepts an honest round, and notices every change of it at the very entry that was changed."""

from collections.abc import Sequence
from typing import Any

import pytest

from fairest_cli.model.round_check import Cheated
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_protocol.calculation.round import Ending
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table, raced

START = SealCheck(key=KEY.public)
OPTIONS = RoomOptions(rules="redeal").resolved()


@pytest.fixture(scope="module")
def table() -> Table:
    return raced(5, OPTIONS)


@pytest.fixture(scope="module")
def shown(table: Table) -> list[Entry]:
    return view(table.steps, 0)


def watch(shown: Sequence[Entry], start: SealCheck = START, options: RoomOptions = OPTIONS) -> SealCheck:
    seal = start
    for entry in shown:
        seal = seal.after(entry, options)
    return seal


def place_of(shown: Sequence[Entry], kind: type[Any], number: int = 0) -> int:
    return [place for place, entry in enumerate(shown) if isinstance(entry, kind)][number]


def changed(shown: Sequence[Entry], place: int, **changes: object) -> list[Entry]:
    return [*shown[:place], shown[place].model_copy(update=changes), *shown[place + 1 :]]


@pytest.mark.parametrize("name", sorted(VARIANTS))
@pytest.mark.parametrize("viewer", [0, 1, None])
def test_an_honest_round_of_every_variant_is_proved_to_every_viewer(name: str, viewer: int | None) -> None:
    table = raced(7, RoomOptions(rules=name))
    opened = table.state.round
    assert opened is not None and opened.sealed is not None
    proved = watch(view(table.steps, viewer), options=table.state.options)
    assert proved.proved_envelopes == sum(map(len, opened.sealed.envelopes))


def test_players_and_spectators_have_the_same_four_check_words(table: Table) -> None:
    words = {watch(view(table.steps, viewer)).check_words for viewer in (0, 1, None)}
    assert len(words) == 1
    assert [len(word) for word in words.pop()] == [5] * 4


def test_other_envelopes_have_other_check_words(shown: list[Entry]) -> None:
    place = place_of(shown, entries.Dealt)
    dealt = shown[place]
    assert isinstance(dealt, entries.Dealt)
    other = ((bytes(32), *dealt.envelopes[0][1:]), *dealt.envelopes[1:])
    words = watch(changed(shown, place, envelopes=other)[: place + 1]).check_words
    assert words != watch(shown[: place + 1]).check_words


@pytest.mark.parametrize(
    ("kind", "number", "changes", "sentence"),
    [
        (entries.RoundOpened, 0, {"signature": bytes(64)}, "did not sign its commitment"),
        (entries.RoundOpened, 0, {"commitment": bytes(32)}, "did not sign its commitment"),
        (entries.Revealed, 0, {"entropy": bytes(32)}, "does not belong to the hash"),
        (entries.Revealed, 1, {"entropy": bytes(32)}, "does not belong to the hash"),
        (entries.Turned, 0, {"card": "KS"}, "does not come from its envelope"),
        (entries.Turned, 9, {"card": "KS"}, "does not come from its envelope"),
        (entries.Turned, 9, {"salt": bytes(32)}, "does not come from its envelope"),
        (entries.Turned, 9, {"position": 40}, "after the one at"),
        (entries.Turned, 9, {"position": 0}, "after the one at"),
        (entries.Turned, 9, {"pass_number": 2}, "after the one at"),
        (entries.Turned, -1, {"position": 0}, "after the one at"),
        (entries.Turned, -1, {"card": "KS"}, "does not come from its envelope"),
        (entries.RoundFinished, 0, {"secret": bytes(32)}, "does not belong to the commitment"),
    ],
)
def test_a_changed_entry_is_noticed_at_once(
    shown: list[Entry], kind: type[Any], number: int, changes: dict[str, object], sentence: str
) -> None:
    place = place_of(shown, kind, number)
    lie = changed(shown, place, **changes)
    assert lie != shown
    seal = watch(lie[:place])
    with pytest.raises(Cheated, match=sentence):
        seal.after(lie[place], OPTIONS)


@pytest.mark.parametrize("what", ["starters", "markers", "layout"])
def test_another_layout_than_the_deal_s_is_noticed_at_the_end(shown: list[Entry], what: str) -> None:
    place = place_of(shown, entries.Dealt)
    dealt = shown[place]
    assert isinstance(dealt, entries.Dealt)
    other = {"starters": dealt.starters[::-1], "markers": ("KS",), "layout": dealt.layout[::-1]}[what]
    cards = [entry for entry in changed(shown, place, **{what: other}) if not isinstance(entry, entries.Turned)]
    with pytest.raises(Cheated, match="Starters, steps or markers are not those of the rules"):
        watch(cards)


@pytest.mark.parametrize("twice", [0, None])
def test_a_deck_with_a_card_twice_is_noticed_when_it_comes_again(twice: int | None) -> None:
    """The card at position 3 is that at position 0 once more, or a starter, in a proper envelope."""
    table = Table(1)
    table.seat_both()
    table.deal()
    opened = table.state.round
    assert opened is not None and opened.sealed is not None
    deal = opened.sealed.deal
    card = deal.starters[0] if twice is None else deal.orders[0][twice]
    order = (*deal.orders[0][:3], card, *deal.orders[0][4:])
    table.swap_deal(replace(opened.sealed, deal=replace(deal, orders=(order,))))
    table.let_time_pass()
    for _ in range(2):
        table.play(0, "sa")
    seal = watch(view(table.steps, 0), options=table.state.options)
    table.play(0, "sa")
    turned = view(table.steps, 0)[-1]
    with pytest.raises(Cheated, match=r"The card at position 4, .., lies somewhere else already"):
        seal.after(turned, RoomOptions())


def test_our_own_entropy_cannot_be_replaced(shown: list[Entry]) -> None:
    place = place_of(shown, entries.PlayerReady)
    opened = shown[place_of(shown, entries.RoundOpened)]
    assert isinstance(opened, entries.RoundOpened)
    commitment = EntropyCommitment(opened.round, opened.commitment, 0, bytes(32), bytes(32))
    seal = watch(shown[:place], replace(START, seat=0)).with_entropy_commitment(commitment)
    ready = next(entry for entry in shown if isinstance(entry, entries.PlayerReady) and entry.seat == 0)
    with pytest.raises(Cheated, match="another entropy hash for us than the one that we sent"):
        seal.after(ready, OPTIONS)


def after_we_revealed(shown: list[Entry], other_hash: bytes) -> SealCheck:
    """A client in seat 0 that comes back after it has revealed its entropy, when the other player had this hash."""
    place = place_of(shown, entries.PlayerReady)
    opened, ours = shown[place_of(shown, entries.RoundOpened)], hash_of(shown, 0)
    assert isinstance(opened, entries.RoundOpened)
    commitment = EntropyCommitment(opened.round, opened.commitment, 0, bytes(32), ours, other_hash)
    return watch(shown[:place], replace(START, seat=0)).with_entropy_commitment(commitment)


def hash_of(shown: list[Entry], seat: int) -> bytes:
    return next(entry for entry in shown if isinstance(entry, entries.PlayerReady) and entry.seat == seat).entropy_hash


def test_the_other_player_cannot_be_committed_anew_after_we_revealed_our_entropy(shown: list[Entry]) -> None:
    check = after_we_revealed(shown, other_hash=bytes(32))
    with pytest.raises(Cheated, match="The other player was committed anew after we had revealed our entropy"):
        check.after(entries.PlayerReady(seat=1, entropy_hash=hash_of(shown, 1)), OPTIONS)


def test_the_hash_that_we_saw_before_we_revealed_is_accepted_again(shown: list[Entry]) -> None:
    check = after_we_revealed(shown, other_hash=hash_of(shown, 1))
    again = check.after(entries.PlayerReady(seat=1, entropy_hash=hash_of(shown, 1)), OPTIONS)
    assert again.entropy_hashes[1] == hash_of(shown, 1)


@pytest.mark.parametrize("entry", [entries.RoomClosed(), None])
def test_a_commitment_has_to_be_opened_before_anything_else_begins(shown: list[Entry], entry: Entry | None) -> None:
    finished = place_of(shown, entries.RoundFinished)
    with pytest.raises(Cheated, match="never opened its commitment"):
        watch(shown[:finished]).after(entry or shown[place_of(shown, entries.RoundOpened)], OPTIONS)


def test_a_round_called_off_opens_its_commitment() -> None:
    table = Table(1)
    table.seat_both()
    table.let_time_pass()
    shown = view(table.steps, 0)
    assert watch(shown, options=RoomOptions()).is_secret_known
    place = place_of(shown, entries.RoundVoided)
    with pytest.raises(Cheated, match="does not belong to the commitment"):
        watch(changed(shown, place, secret=bytes(32)), options=RoomOptions())


def test_part_of_a_deal_without_a_commitment_is_noticed() -> None:
    revealed = entries.Revealed(seat=0, entropy=bytes(32))
    with pytest.raises(Cheated, match="before it has committed itself"):
        SealCheck().after(revealed, OPTIONS)


def snapshots(table: Table, upto: int) -> Scene:
    return scene(table.steps[upto - 1].after, view(table.steps[:upto], 0))


@pytest.mark.parametrize("upto", range(5, 60, 6))
def test_a_snapshot_may_stand_for_what_was_missed(table: Table, upto: int) -> None:
    """From a snapshot on, whatever it was taken of, the rest is checked and proved."""
    missed = len(view(table.steps[:upto], 0))
    seal = START.after_snapshot(snapshots(table, upto), None)
    assert watch(view(table.steps, 0)[missed:], seal).is_secret_known


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"commitment": bytes(32)}, "another commitment than before"),
        ({"envelopes": ((bytes(32),) * 48,) * 2}, "other envelopes than before"),
        ({"secret": bytes(32)}, "does not belong to the commitment"),
    ],
)
def test_a_snapshot_cannot_take_back_what_was_shown(
    table: Table, shown: list[Entry], change: dict[str, object], sentence: str
) -> None:
    place = place_of(shown, entries.Turned, 5)
    seal, again = watch(shown[:place]), snapshots(table, 30)
    assert seal.after_snapshot(again, None)
    with pytest.raises(Cheated, match=sentence):
        seal.after_snapshot(again.model_copy(update=change), None)


def test_a_snapshot_of_a_round_that_is_not_signed_is_refused(table: Table) -> None:
    with pytest.raises(Cheated, match="did not sign"):
        START.after_snapshot(snapshots(table, 30).model_copy(update={"signature": bytes(64)}), None)


def test_a_variant_that_we_do_not_know_is_played_and_not_proved(shown: list[Entry]) -> None:
    watched = watch(shown, options=OPTIONS.model_copy(update={"rules": "colorado"}))
    assert (watched.is_secret_known, watched.proved_envelopes) == (True, None)


@pytest.mark.parametrize(
    ("claimed", "sentence"),
    [
        (Ending.ROUND_OVER, "The round is said to be over, and nothing has ended it"),
        (Ending.STOPPED, "said to have ended as stopped, which its race does not bear out"),
        (Ending.STUCK, "said to have ended as stuck, which its race does not bear out"),
    ],
)
def test_an_ending_that_nothing_led_to_is_noticed(claimed: Ending, sentence: str) -> None:
    """Both ran out of time; the server says otherwise of one of them."""
    table = Table(1)
    table.start()
    table.let_time_pass()
    shown = view(table.steps, 0)
    place = place_of(shown, entries.RoundFinished)
    finished = shown[place]
    assert isinstance(finished, entries.RoundFinished)
    first, second = finished.outcome.scores
    lie = replace(finished.outcome, scores=(first, replace(second, ending=claimed)))
    with pytest.raises(Cheated, match=sentence):
        watch(changed(shown, place, outcome=lie), options=table.state.options)
