"""The seal check accepts an honest round, and notices every change of it at the very entry that was changed."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.proof import describe_proof
from fairest_cli.model.seal_check import MAX_PAST_ROUNDS, EntropyCommitment, SealCheck
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.race import Ending, Turn, undealt_outcome
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.seal import commit_secret, make_check_words, root_envelopes
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace, replace_in_pair
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table, choose_any, race_match, raced

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


def alarm_of(shown: Sequence[Entry], start: SealCheck = START, options: RoomOptions = OPTIONS) -> str:
    """Return the sentence of the alarm that these entries raise, empty if they raise none."""
    try:
        watch(shown, start, options)
    except Cheated as alarm:
        return str(alarm)
    return ""


def test_an_honest_round_of_every_variant_is_proved_to_every_viewer() -> None:
    tables = {name: raced(7, RoomOptions(rules=name)) for name in VARIANTS}
    unproved = [
        (name, viewer, proved)
        for (name, table), viewer in product(tables.items(), (0, 1, None))
        if (proved := proof_of(table, viewer)) != count_envelopes(table)
    ]
    assert unproved == []


def proof_of(table: Table, viewer: int | None) -> int | str | None:
    """Return how many envelopes of a round are proved to a viewer, or the sentence of the alarm that it has."""
    try:
        return watch(view(table.steps, viewer), options=table.state.options).proved_envelopes
    except Cheated as alarm:
        return str(alarm)


def count_envelopes(table: Table) -> int:
    opened = table.state.round
    assert opened is not None and opened.sealed is not None
    return sum(map(len, opened.sealed.envelopes))


def test_players_and_spectators_have_the_same_four_check_words(table: Table) -> None:
    words = {replace(watch(view(table.steps, viewer)), seat=viewer).check_words for viewer in (0, 1, None)}
    assert len(words) == 1
    assert [len(word) for word in words.pop()] == [5] * 4


def test_other_envelopes_have_other_check_words(shown: list[Entry]) -> None:
    place = place_of(shown, entries.Dealt)
    dealt = shown[place]
    assert isinstance(dealt, entries.Dealt)
    other = ((bytes(32), *dealt.envelopes[0][1:]), *dealt.envelopes[1:])
    words = watch(changed(shown, place, envelopes=other)[: place + 1]).check_words
    assert words != watch(shown[: place + 1]).check_words


CHANGES: list[tuple[type[Any], int, dict[str, object], str]] = [
    (entries.RoundOpened, 0, {"signature": bytes(64)}, "did not sign its commitment"),
    (entries.RoundOpened, 0, {"commitment": bytes(32)}, "did not sign its commitment"),
    (entries.RoundOpened, 0, {"match": bytes(16)}, "did not sign its commitment"),
    (entries.RoundOpened, 0, {"round_number": 2}, "it does not follow the one before"),
    (entries.Revealed, 0, {"entropy": bytes(32)}, "does not belong to the hash"),
    (entries.Revealed, 1, {"entropy": bytes(32)}, "does not belong to the hash"),
    (entries.Turned, 0, {"card": "KS"}, "does not come from its envelope"),
    (entries.Turned, 9, {"card": "KS"}, "does not come from its envelope"),
    (entries.Turned, 9, {"salt": bytes(32)}, "does not come from its envelope"),
    (entries.Turned, 9, {"turn": Turn(0, 40)}, "after the one at"),
    (entries.Turned, 9, {"turn": Turn(0, 0)}, "after the one at"),
    (entries.Turned, 9, {"turn": Turn(2, 8)}, "after the one at"),
    (entries.Turned, -1, {"turn": Turn(0, 0)}, "after the one at"),
    (entries.Turned, -1, {"card": "KS"}, "does not come from its envelope"),
    (entries.RoundFinished, 0, {"secret": bytes(32)}, "does not belong to the commitment"),
]
"""The kind and number of an entry, what is changed in it, and a part of the alarm."""


def test_a_changed_entry_is_noticed_at_once(shown: list[Entry]) -> None:
    missed = [
        (kind.__name__, number, changes, alarm)
        for kind, number, changes, sentence in CHANGES
        if sentence not in (alarm := alarm_at(shown, place_of(shown, kind, number), changes))
    ]
    assert missed == []


def alarm_at(shown: list[Entry], place: int, changes: dict[str, object]) -> str:
    """Return the alarm that this changed entry raises; those before it raise none."""
    lie = changed(shown, place, **changes)
    assert lie != shown, changes
    return alarm_of(lie[place : place + 1], watch(lie[:place]))


def test_a_round_is_signed_for_every_option_of_its_room(shown: list[Entry]) -> None:
    others: dict[str, object] = {
        "rules": "classic",
        "piles": 5,
        "redeals": 2,
        "best_of": 3,
        "limit_seconds": 10,
        "chase_seconds": 5,
        "grace_seconds": 1,
        "ready_seconds": 5,
        "reveal_seconds": 1,
        "idle_seconds": 5,
        "countdown_seconds": 0,
        "spectators": Spectators.OPEN,
        "direct_breaks_ties": True,
        "listed": True,
    }
    until_opened = shown[: place_of(shown, entries.RoundOpened) + 1]
    alarms = {name: alarm_of(until_opened, options=OPTIONS.model_copy(update={name: others[name]})) for name in others}
    sentence = "did not sign its commitment, the match and the rules"
    assert [(option, alarm) for option, alarm in alarms.items() if sentence not in alarm] == []


def test_a_signed_round_that_begins_a_match_has_the_id_of_that_match(table: Table, shown: list[Entry]) -> None:
    opened, place = table.state.round, place_of(shown, entries.RoundOpened)
    assert opened is not None
    other = KEY.open_round(opened.round_id, opened.secret, bytes(16), 1, OPTIONS.terms())
    lie = changed(shown, place, match=bytes(16), signature=other.signature)
    with pytest.raises(Cheated, match="first round of a match under the id of another round"):
        watch(lie[: place + 1])


@pytest.mark.parametrize("changes", [{"round_number": 3}, {"match": bytes(16)}])
def test_a_round_follows_the_one_before_it_in_its_match(changes: dict[str, object]) -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.race(choose_any)
    table.let_time_pass()
    shown = view(table.steps, 0)
    place = place_of(shown, entries.RoundOpened, 1)
    check = watch(shown[:place], options=table.state.options)
    assert check.after(shown[place], table.state.options).number == 2
    with pytest.raises(Cheated, match="it does not follow the one before"):
        check.after(shown[place].model_copy(update=changes), table.state.options)


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
    assert watch(shown, options=table.state.options).is_secret_known
    place = place_of(shown, entries.RoundVoided)
    with pytest.raises(Cheated, match="does not belong to the commitment"):
        watch(changed(shown, place, secret=bytes(32)), options=table.state.options)


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


def in_an_unknown_variant(table: Table, shown: list[Entry]) -> SealCheck:
    """Return the check of a round whose rules, signed with the commitment, are not known to this client."""
    opened, options = table.state.round, OPTIONS.model_copy(update={"rules": "colorado"})
    assert opened is not None
    signed = KEY.open_round(opened.round_id, opened.secret, None, 1, options.terms())
    return watch(changed(shown, place_of(shown, entries.RoundOpened), signature=signed.signature), options=options)


def test_a_variant_that_we_do_not_know_is_played_and_not_proved(table: Table, shown: list[Entry]) -> None:
    watched = in_an_unknown_variant(table, shown)
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


def test_the_check_words_are_made_of_the_whole_seal(table: Table, shown: list[Entry]) -> None:
    check, opened = watch(shown), table.state.round
    assert opened is not None and opened.sealed is not None
    first, second = check.entropies
    assert first is not None and second is not None
    root, commitment = root_envelopes(opened.sealed.envelopes), commit_secret(opened.round_id, opened.secret)
    words = make_check_words(opened.round_id, commitment, (first, second), root, OPTIONS.terms())
    assert check.check_words == words


def test_a_new_check_knows_no_seal() -> None:
    new = SealCheck()
    assert (new.round_id, new.commitment, new.terms, new.envelopes) == (None, b"", "", ())


@pytest.mark.parametrize(
    "missing",
    [
        {"round_id": None},
        {"envelopes": ()},
        {"entropies": (None, bytes(32))},
        {"entropies": (bytes(32), None)},
    ],
)
def test_there_are_no_check_words_before_the_whole_seal_was_shown(shown: list[Entry], missing: dict[str, Any]) -> None:
    assert replace(watch(shown), **missing).check_words == ()


def test_both_players_are_committed_once_both_hashes_were_shown(shown: list[Entry]) -> None:
    first, second = place_of(shown, entries.PlayerReady), place_of(shown, entries.PlayerReady, 1)
    assert [watch(shown[: place + 1]).both_committed for place in (first - 1, first, second)] == [False, False, True]


def ours(shown: list[Entry], upto: int) -> SealCheck:
    """The check of the player in seat 0, committed to its entropy, after the entries before `upto`."""
    opened = shown[place_of(shown, entries.RoundOpened)]
    assert isinstance(opened, entries.RoundOpened)
    commitment = EntropyCommitment(opened.round, opened.commitment, 0, bytes(32), hash_of(shown, 0))
    return watch(shown[:upto], replace(START, seat=0, entropy_commitment=commitment))


def test_our_entropy_may_be_revealed_once_both_players_are_committed(shown: list[Entry]) -> None:
    first, second = place_of(shown, entries.PlayerReady), place_of(shown, entries.PlayerReady, 1)
    assert [ours(shown, place + 1).may_reveal for place in (first, second)] == [False, True]


def test_nothing_is_revealed_by_a_viewer_who_is_not_committed(shown: list[Entry]) -> None:
    assert not watch(shown[: place_of(shown, entries.Revealed)]).may_reveal


def test_our_entropy_is_not_revealed_once_the_secret_is_known(shown: list[Entry]) -> None:
    assert not ours(shown, len(shown)).may_reveal


def test_an_entropy_commitment_counts_for_its_own_round_only(shown: list[Entry]) -> None:
    commitment = EntropyCommitment(bytes(16), bytes(32), 0, bytes(32), bytes(32))
    assert watch(shown).with_entropy_commitment(commitment).current_entropy_commitment is None


@pytest.mark.parametrize(("entry", "deed"), [(entries.RoomClosed(), "closes the room"), (None, "opens another round")])
def test_an_opening_that_is_missing_is_named(shown: list[Entry], entry: Entry | None, deed: str) -> None:
    finished = place_of(shown, entries.RoundFinished)
    check = watch(shown[:finished])
    with pytest.raises(
        Cheated, match=f"^The server {deed} and never opened its commitment {check.commitment.hex()[:16]}"
    ):
        check.after(entry or shown[place_of(shown, entries.RoundOpened)], OPTIONS)


def test_a_room_may_close_after_its_round(shown: list[Entry]) -> None:
    check = watch(shown)
    assert check.after(entries.RoomClosed(), OPTIONS) == check


def test_a_match_of_several_rounds_is_proved_round_by_round() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    race_match(table)
    assert watch(view(table.steps, 0), options=table.state.options).proved_envelopes == 48


def test_a_round_is_never_opened_again(shown: list[Entry]) -> None:
    with pytest.raises(Cheated, match=r"^The server opens a round again that it had opened before\.$"):
        watch(shown).after(shown[place_of(shown, entries.RoundOpened)], OPTIONS)


def test_a_client_remembers_a_bounded_number_of_rounds(shown: list[Entry]) -> None:
    check = replace(watch(shown), past_rounds=tuple(bytes([number // 256, number % 256]) for number in range(1000)))
    assert len(check.after_snapshot(Scene(options=OPTIONS), 0).past_rounds) == MAX_PAST_ROUNDS


def committed_before(shown: list[Entry], **changes: Any) -> SealCheck:
    """A client that was started again, and was committed in the round of these entries or in another one."""
    opened = shown[place_of(shown, entries.RoundOpened)]
    assert isinstance(opened, entries.RoundOpened)
    known = EntropyCommitment(opened.round, opened.commitment, 0, bytes(32), hash_of(shown, 0))
    return replace(START, entropy_commitment=replace(known, **changes))


def test_a_round_is_not_opened_again_with_another_commitment_after_we_were_started_again(shown: list[Entry]) -> None:
    check = committed_before(shown, commitment=bytes(32))
    with pytest.raises(Cheated, match="opens a round again"):
        watch(shown[: place_of(shown, entries.PlayerReady)], check)


@pytest.mark.parametrize("changes", [{}, {"round_id": bytes(16), "commitment": bytes(32)}])
def test_a_client_that_was_started_again_accepts_the_same_round_and_another_one(
    shown: list[Entry], changes: dict[str, Any]
) -> None:
    assert watch(shown[: place_of(shown, entries.PlayerReady)], committed_before(shown, **changes)).round_id


def test_a_server_without_a_key_has_signed_nothing(shown: list[Entry]) -> None:
    with pytest.raises(Cheated, match="did not sign its commitment"):
        watch(shown, SealCheck())


def test_another_round_than_the_open_one_cannot_be_called_off(shown: list[Entry]) -> None:
    check = watch(shown[: place_of(shown, entries.PlayerReady)])
    with pytest.raises(Cheated, match=r"^The server calls off a round that it has not opened\.$"):
        check.after(entries.RoundVoided(round=bytes(16), secret=bytes(32)), OPTIONS)


def test_a_round_to_which_both_were_committed_cannot_be_called_off(table: Table, shown: list[Entry]) -> None:
    opened = table.state.round
    assert opened is not None
    voided = entries.RoundVoided(round=opened.round_id, secret=opened.secret)
    with pytest.raises(Cheated, match=r"^The server calls off a round to which both players were committed\.$"):
        watch(shown[: place_of(shown, entries.PlayerReady, 1) + 1]).after(voided, OPTIONS)


@pytest.mark.parametrize("ready", [(), (0,), (1,)])
def test_a_round_has_no_result_before_both_players_are_ready(ready: tuple[int, ...]) -> None:
    table = Table(3)
    table.seat_both()
    table.get_ready(*ready)
    assert table.state.round is not None
    outcome = undealt_outcome(table.state.rules, [Ending.ROUND_OVER, Ending.RESIGNED])
    finished = entries.RoundFinished(
        outcome=outcome, wins=(1, 0), match_is_over=True, duration_ms=1, secret=table.state.round.secret
    )
    seal = watch(view(table.steps, None), options=table.state.options)
    with pytest.raises(Cheated, match="before both players were ready"):
        seal.after(finished, table.state.options)
    again = scene(table.state, [*view(table.steps, None), finished])
    with pytest.raises(Cheated, match="before both players were ready"):
        seal.after_snapshot(again, None)


def test_a_hash_without_a_round_is_noticed() -> None:
    with pytest.raises(Cheated, match="before it has committed itself"):
        START.after(entries.PlayerReady(seat=0, entropy_hash=bytes(32)), OPTIONS)


def test_a_hash_is_not_changed_once_it_was_shown(shown: list[Entry]) -> None:
    check = watch(shown[: place_of(shown, entries.PlayerReady, 1) + 1])
    with pytest.raises(Cheated, match=r"^The server changed the entropy hash of seat 2\.$"):
        check.after(entries.PlayerReady(seat=1, entropy_hash=bytes(32)), OPTIONS)


def test_we_are_not_ready_before_we_are_committed(shown: list[Entry]) -> None:
    check = watch(shown[: place_of(shown, entries.PlayerReady)], replace(START, seat=0))
    with pytest.raises(Cheated, match="another entropy hash for us than the one that we sent"):
        check.after(entries.PlayerReady(seat=0, entropy_hash=hash_of(shown, 0)), OPTIONS)


def test_our_own_hash_is_shown_again_after_we_revealed_our_entropy(shown: list[Entry]) -> None:
    check = after_we_revealed(shown, other_hash=hash_of(shown, 1))
    again = check.after(entries.PlayerReady(seat=0, entropy_hash=hash_of(shown, 0)), OPTIONS)
    assert again.entropy_hashes[0] == hash_of(shown, 0)


def test_the_cards_are_dealt_after_both_players_have_revealed(shown: list[Entry]) -> None:
    with pytest.raises(Cheated, match=r"^The server deals before both players have revealed their entropy\.$"):
        watch(shown[: place_of(shown, entries.Revealed, 1)]).after(shown[place_of(shown, entries.Dealt)], OPTIONS)


def test_the_cards_are_dealt_once(shown: list[Entry]) -> None:
    place = place_of(shown, entries.Dealt)
    with pytest.raises(Cheated, match=r"^The server deals a second time\.$"):
        watch(shown[: place + 1]).after(shown[place], OPTIONS)


@pytest.mark.parametrize("changes", [{"piles": 5}, {"redeals": 2}])
def test_the_cards_are_dealt_for_the_rules_of_the_room(shown: list[Entry], changes: dict[str, object]) -> None:
    with pytest.raises(Cheated, match=r"^The server deals for other rules than those of the room\.$"):
        watch(changed(shown, place_of(shown, entries.Dealt), **changes))


@pytest.mark.parametrize("envelopes", [(), None])
def test_a_card_behind_the_last_envelope_is_noticed(
    shown: list[Entry], envelopes: tuple[tuple[bytes, ...], ...] | None
) -> None:
    """The stock has 48 cards, so the envelopes end at position 47; without a deal there are none."""
    dealt = watch(shown[: place_of(shown, entries.Turned)])
    check = replace(
        dealt, last_turns=(Turn(0, 47), None), envelopes=dealt.envelopes if envelopes is None else envelopes
    )
    turned = entries.Turned(seat=0, turn=Turn(0, 48), card=Card("KS"), salt=bytes(32))
    with pytest.raises(Cheated, match=r"^The server turns a card at position 49, which it has not sealed\.$"):
        check.after(turned, OPTIONS)


def test_the_first_card_is_that_on_top_of_the_stock(shown: list[Entry]) -> None:
    place = place_of(shown, entries.Turned)
    with pytest.raises(Cheated, match=r"^Seat 1 turns the card at position 2 after the one at position 0\.$"):
        watch(changed(shown, place, turn=Turn(0, 1))[: place + 1])


def test_a_card_of_a_redeal_is_not_turned_twice(shown: list[Entry]) -> None:
    place = max(place for place, each in enumerate(shown) if isinstance(each, entries.Turned) and each.turn.pass_number)
    with pytest.raises(Cheated, match=r"turns the card at (position \d+ of redeal 1) after the one at \1"):
        watch(shown[: place + 1]).after(shown[place], OPTIONS)


def finish_of(shown: list[Entry]) -> Entry:
    return shown[place_of(shown, entries.RoundFinished)]


def test_a_round_that_ends_before_its_deal_has_nothing_to_prove(shown: list[Entry]) -> None:
    check = watch(shown[: place_of(shown, entries.Dealt)]).after(finish_of(shown), OPTIONS)
    assert (check.is_secret_known, check.proved_envelopes) == (True, None)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_deal_without_the_entropy_of_a_seat_is_not_proved(shown: list[Entry], seat: int) -> None:
    check = watch(shown[: place_of(shown, entries.RoundFinished)])
    unknown = replace(check, entropies=replace_in_pair(check.entropies, seat, None))
    assert unknown.after(finish_of(shown), OPTIONS).proved_envelopes is None


def test_envelopes_of_another_deal_are_noticed_at_the_end(shown: list[Entry]) -> None:
    place = place_of(shown, entries.Dealt)
    dealt = shown[place]
    assert isinstance(dealt, entries.Dealt)
    other = ((*dealt.envelopes[0][:-1], bytes(32)), *dealt.envelopes[1:])
    check = watch(changed(shown, place, envelopes=other)[: place + 1])
    with pytest.raises(Cheated, match=r"^The envelope at position 48 holds another deal's card\.$"):
        check.after(finish_of(shown), OPTIONS)


def test_the_proof_counts_the_envelopes(shown: list[Entry]) -> None:
    sentence = "Sealed deal: all 96 cards match their envelopes; the commitment was kept."
    assert list(describe_proof(watch(shown))) == [sentence]


def test_a_deal_by_rules_that_we_do_not_know_is_said_not_to_be_proved(table: Table, shown: list[Entry]) -> None:
    (sentence,) = describe_proof(in_an_unknown_variant(table, shown))
    assert sentence == (
        "NOT PROVED: this client does not know these rules; a newer one can prove the record: fairest verify."
    )


def test_nothing_is_said_of_a_round_without_a_deal(shown: list[Entry]) -> None:
    assert not list(describe_proof(watch(shown[: place_of(shown, entries.Dealt)])))
