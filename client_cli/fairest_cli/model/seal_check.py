"""Checks, entry by entry, that the server keeps to what it committed to for a round. Pure.

Every check is made as early as possible: signatures and hashes when they are shown, each envelope when either seat
turns its card, everything together when the server's secret is shown. Whether the client gets ready, and whether it
reveals its entropy, depends on what was checked here, never on what a scene says.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import field

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.deal_check import check_deal, check_layout, check_seed, known_rules, require_step
from fairest_cli.model.outcome_check import RaceEntry, check_both_ready, check_outcome
from fairest_cli.model.round_opening_check import check_opening, check_place, shown_opening
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.certified import CertifiedStep
from fairest_protocol.calculation.deal import seal_deal, sealed_pass
from fairest_protocol.calculation.moves import REDEAL
from fairest_protocol.calculation.race import Outcome, Turn
from fairest_protocol.calculation.rules import Foundation
from fairest_protocol.calculation.seal import (
    commit_entropy,
    commit_secret,
    make_check_words,
    make_envelope,
    make_seed,
    root_envelopes,
)
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value, replace, replace_in_pair

Pair = tuple[bytes | None, bytes | None]
"""One value for each seat, None as long as it was not shown."""
MAX_PAST_ROUNDS: Final = 1000
"""More would cost memory and time without end while a server opens and voids round after round."""
RaceEntries = tuple[tuple[RaceEntry, ...], tuple[RaceEntry, ...]]
"""For each seat, the cards it turned and the moves it made."""


class EntropyCommitment(Value):
    """The entropy hash that we sent in a round. It holds for one seat and one commitment of the server.

    `other_hash` is the other player's entropy hash at the time at which we revealed our entropy; None before that.
    """

    round_id: bytes
    commitment: bytes
    seat: int
    entropy: bytes
    entropy_hash: bytes
    other_hash: bytes | None = None


class SealCheck(Value):
    """The sealed deal of one round, as far as the server has shown it.

    `match_id` and `number` say which round of which match it is, `terms` under which options of the room it is raced.
    `opened_cards` has the card behind each envelope that was opened, by sealed pass and position. `last_turns` has the
    turn of each seat's last card, `redeals` the number of its redeals. `laid_out` are starters and markers. `shown`
    has, for each seat, the cards it turned and the moves it made; None if an entry was missed since the deal.
    `past_rounds` are the newest MAX_PAST_ROUNDS that were opened before this one. `proved_envelopes` is the number of
    envelopes that the server's secret has opened, None before the end and for rules that this client does not know.
    `step` is the step that the server says to have dealt in a certified room, `certified` the one that we have found.
    """

    key: bytes | None = None
    seat: int | None = None
    entropy_commitment: EntropyCommitment | None = None
    past_rounds: tuple[bytes, ...] = ()
    round_id: bytes | None = None
    match_id: bytes | None = None
    number: int = 0
    terms: str = ""
    commitment: bytes = b""
    is_secret_known: bool = False
    entropy_hashes: Pair = (None, None)
    entropies: Pair = (None, None)
    layout: tuple[Foundation, ...] | None = None
    laid_out: tuple[Card, ...] | None = None
    envelopes: tuple[tuple[bytes, ...], ...] = ()
    opened_cards: Mapping[tuple[int, int], Card] = field(default_factory=dict)
    last_turns: tuple[Turn | None, Turn | None] = (None, None)
    redeals: tuple[int, int] = (0, 0)
    shown: RaceEntries | None = None
    proved_envelopes: int | None = None
    step: int | None = None
    certified: CertifiedStep | None = None

    @property
    def check_words(self) -> tuple[str, ...]:
        """The four words that all viewers of the same seal see; empty before the cards are dealt."""
        first, second = self.entropies
        if self.round_id is None or not self.envelopes or first is None or second is None:
            return ()
        root = root_envelopes(self.envelopes)
        return make_check_words(self.round_id, self.commitment, (first, second), root, self.terms)

    @property
    def both_committed(self) -> bool:
        """Whether both players are committed to their entropy, which fixes the deck."""
        return None not in self.entropy_hashes

    @property
    def may_reveal(self) -> bool:
        """Whether it is safe to reveal our entropy: the server and both players are committed, we to our own."""
        return self.both_committed and not self.is_secret_known and self.current_entropy_commitment is not None

    @property
    def current_entropy_commitment(self) -> EntropyCommitment | None:
        """Our entropy commitment, if it is one of this round."""
        known = self.entropy_commitment
        return known if known and known.round_id == self.round_id else None

    def with_entropy_commitment(self, entropy_commitment: EntropyCommitment | None) -> "SealCheck":
        """Return the check with this entropy commitment of ours."""
        return replace(self, entropy_commitment=entropy_commitment)

    def after(self, entry: Entry, options: RoomOptions) -> "SealCheck":
        """Return the check after the next entry of the view. Raises `Cheated`."""
        match entry:
            case entries.RoundOpened():
                _require_secret(self, "opens another round")
                check_place(entry, self.match_id, self.number)
                return _open_round(self, entry, options.terms())
            case entries.RoundVoided(round=round_id, secret=secret):
                if round_id != self.round_id:
                    raise Cheated("The server calls off a round that it has not opened.")
                if self.both_committed:
                    raise Cheated("The server calls off a round to which both players were committed.")
                return _with_secret(self, secret, options, None)
            case entries.PlayerReady(seat=seat, entropy_hash=entropy_hash):
                return _with_hash(self, seat, entropy_hash)
            case entries.Revealed(seat=seat, entropy=entropy):
                return _with_entropy(self, seat, entropy)
            case entries.Dealt():
                return _with_deal(self, entry, options)
            case entries.Turned(seat=seat):
                return _with_shown(_with_opened_card(self, entry), seat, entry)
            case entries.Moved(seat=seat, move=move):
                redeals = self.redeals[seat] + (move is REDEAL)
                moved = replace(self, redeals=replace_in_pair(self.redeals, seat, redeals))
                return _with_shown(moved, seat, entry)
            case entries.RoundFinished(secret=secret, outcome=outcome):
                check_both_ready(self.entropy_hashes)
                return _with_secret(self, secret, options, outcome)
            case entries.RoomClosed():
                _require_secret(self, "closes the room")
                return self
            case _:
                return self

    def after_snapshot(self, scene: Scene, seat: int | None) -> "SealCheck":
        """Return the check after a snapshot, which may not take back what was shown before. Raises `Cheated`."""
        opened = shown_opening(scene)
        if opened is None:
            return replace(_without_round(self), seat=seat)
        check = replace(self, seat=seat)
        if opened.round != self.round_id:
            check = _open_round(check, opened, scene.options.terms())
        elif opened.commitment != self.commitment:
            raise Cheated("The server shows another commitment than before for the same round.")
        elif (opened.match, opened.round_number) != (self.match_id, self.number):
            raise Cheated("The server has moved the round to another place in the match, or to another match.")
        # Entries may have been missed before the snapshot, so the race can no longer be replayed from its start.
        check = replace(check, shown=None)
        for number, each in enumerate(scene.seats):
            check = check if each.entropy_hash is None else _with_hash(check, number, each.entropy_hash)
            check = check if each.entropy is None else _with_entropy(check, number, each.entropy)
        if scene.envelopes:
            if check.envelopes and check.envelopes != scene.envelopes:
                raise Cheated("The server shows other envelopes than before for the same round.")
            redeals = [(scene.options.redeals or 0) - each.board.redeals if each.board else 0 for each in scene.seats]
            check = replace(
                check,
                envelopes=scene.envelopes,
                step=scene.step,
                last_turns=(scene.seats[0].turn, scene.seats[1].turn),
                redeals=(redeals[0], redeals[1]),
            )
        if scene.phase is Phase.FINISHED:
            check_both_ready(check.entropy_hashes)
        return check if scene.secret is None else _with_secret(check, scene.secret, scene.options, None)


def _without_round(check: SealCheck) -> SealCheck:
    """Forget the present round; keep the key, our seat, our commitment and the ids of past rounds."""
    seen = () if check.round_id is None else (check.round_id,)
    return SealCheck(
        key=check.key,
        seat=check.seat,
        entropy_commitment=check.entropy_commitment,
        past_rounds=(*check.past_rounds, *seen)[-MAX_PAST_ROUNDS:],
    )


def _open_round(check: SealCheck, opened: entries.RoundOpened, terms: str) -> SealCheck:
    """Return the check of a new round, never opened before, that the server has signed with its place and the terms."""
    round_id, commitment = opened.round, opened.commitment
    fresh = _without_round(check)
    known = fresh.entropy_commitment
    if round_id in fresh.past_rounds or (known and known.round_id == round_id and known.commitment != commitment):
        raise Cheated("The server opens a round again that it had opened before.")
    check_opening(opened, terms, fresh.key)
    return replace(
        fresh,
        round_id=round_id,
        match_id=opened.match,
        number=opened.round_number,
        terms=terms,
        commitment=commitment,
        shown=((), ()),
    )


def _require_secret(check: SealCheck, deed: str) -> None:
    if check.round_id is not None and not check.is_secret_known:
        raise Cheated(f"The server {deed} and never opened its commitment {check.commitment.hex()[:16]}.")


def _with_hash(check: SealCheck, seat: int, entropy_hash: bytes) -> SealCheck:
    known, own = check.entropy_hashes[seat], check.current_entropy_commitment
    _require_round(check)
    if known is not None and known != entropy_hash:
        raise Cheated(f"The server changed the entropy hash of seat {seat + 1}.")
    if seat == check.seat and (own is None or entropy_hash != own.entropy_hash):
        raise Cheated("The server shows another entropy hash for us than the one that we sent.")
    if seat != check.seat and own is not None and own.other_hash not in (None, entropy_hash):
        raise Cheated("The other player was committed anew after we had revealed our entropy.")
    return replace(check, entropy_hashes=replace_in_pair(check.entropy_hashes, seat, entropy_hash))


def _with_entropy(check: SealCheck, seat: int, entropy: bytes) -> SealCheck:
    if commit_entropy(_require_round(check), seat, entropy) != check.entropy_hashes[seat]:
        raise Cheated(f"The entropy of seat {seat + 1} does not belong to the hash that was shown before.")
    return replace(check, entropies=replace_in_pair(check.entropies, seat, entropy))


def _with_deal(check: SealCheck, dealt: entries.Dealt, options: RoomOptions) -> SealCheck:
    if None in check.entropies:
        raise Cheated("The server deals before both players have revealed their entropy.")
    if check.envelopes:
        raise Cheated("The server deals a second time.")
    if (dealt.piles, dealt.redeals) != (options.piles, options.redeals):
        raise Cheated("The server deals for other rules than those of the room.")
    require_step(options, dealt)
    rules = known_rules(options)
    if rules is not None:
        check_layout(rules, dealt)
    return replace(
        check,
        step=dealt.step,
        layout=dealt.layout,
        laid_out=(*dealt.starters, *dealt.markers),
        envelopes=dealt.envelopes,
        shown=((), ()),
    )


def _with_opened_card(check: SealCheck, turned: entries.Turned) -> SealCheck:
    turn = turned.turn
    _check_order(check, turned.seat, turn)
    number = sealed_pass(turn.pass_number, check.envelopes)
    index, card = (number, turn.position), turned.card
    sealed = check.envelopes[number] if check.envelopes else ()
    if turn.position >= len(sealed):
        raise Cheated(f"The server turns a card at {name_place(turn)}, which it has not sealed.")
    if make_envelope(_require_round(check), number, turn.position, card, turned.salt) != sealed[turn.position]:
        raise Cheated(f"The card at {name_place(turn)}, {card}, does not come from its envelope.")
    if card in (check.laid_out or ()) or any(
        other == card and at != index and at[0] == number for at, other in check.opened_cards.items()
    ):
        raise Cheated(f"The card at {name_place(turn)}, {card}, lies somewhere else already.")
    last_turns = replace_in_pair(check.last_turns, turned.seat, turn)
    return replace(check, opened_cards={**check.opened_cards, index: card}, last_turns=last_turns)


def _check_order(check: SealCheck, seat: int, turn: Turn) -> None:
    """Raise `Cheated` for a card out of order: one of another pass, or after a gap before the first redeal."""
    last = check.last_turns[seat] or Turn(0, -1)
    is_next = turn.position == last.position + 1 if turn.pass_number == 0 else turn > last
    if not is_next or turn.pass_number != check.redeals[seat]:
        raise Cheated(f"Seat {seat + 1} turns the card at {name_place(turn)} after the one at {name_place(last)}.")


def _with_shown(check: SealCheck, seat: int, entry: RaceEntry) -> SealCheck:
    if check.shown is None:
        return check
    return replace(check, shown=replace_in_pair(check.shown, seat, (*check.shown[seat], entry)))


def _with_secret(check: SealCheck, secret: bytes, options: RoomOptions, outcome: Outcome | None) -> SealCheck:
    """Return the check at the end of a round, whose whole deal and race are compared with the server's secret."""
    if commit_secret(_require_round(check), secret) != check.commitment:
        raise Cheated("The secret does not belong to the commitment: the server has changed it since.")
    first, second = check.entropies
    rules = known_rules(options)
    if not check.envelopes or first is None or second is None or rules is None:
        return replace(check, is_secret_known=True)
    round_id = _require_round(check)
    seed, certified = check_seed(rules, options, make_seed(secret, (first, second), round_id), check.step)
    sealed = seal_deal(rules, seed, round_id)
    check_deal(sealed, check.envelopes, check.opened_cards, check.laid_out, check.layout)
    if outcome is not None and check.shown is not None and check.laid_out is not None:
        check_outcome(rules, sealed.deal, check.shown, outcome, direct_breaks_ties=options.direct_breaks_ties)
    count = sum(map(len, sealed.envelopes))
    return replace(check, is_secret_known=True, proved_envelopes=count, certified=certified)


def _require_round(check: SealCheck) -> bytes:
    """Return the id of the round. Raises `Cheated` if the server is ahead of its own commitment."""
    if check.round_id is None:
        raise Cheated("The server shows part of a deal before it has committed itself to one.")
    return check.round_id
