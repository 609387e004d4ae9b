"""What this client holds the server to: the sealed deal, checked as it opens, entry by entry. Pure.

Every check happens at the first moment at which it can: signatures and hashes when they are shown, each envelope when
its card is turned by either seat, everything together when the secret is shown. Whether we get ready, and whether we
show our entropy, hangs on what the witness has seen, never on what a scene says.
"""

from collections.abc import Mapping, Sequence

from msgspec import field

from fairest_cli.model.round_check import Cheated, Shown, check_deal, check_race, name_place
from fairest_cli.model.signature import is_signed
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import make_deal, seal_deal, sealed_pass
from fairest_protocol.calculation.moves import REDEAL
from fairest_protocol.calculation.round import Outcome, Turn
from fairest_protocol.calculation.rules import BadRules, Foundation, Redeal, RolledFoundations, Rules
from fairest_protocol.calculation.seal import (
    commit_entropy,
    commit_secret,
    commitment_statement,
    make_check_words,
    make_envelope,
    make_seed,
    root_envelopes,
)
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value, replace, replace_in_pair

Pair = tuple[bytes | None, bytes | None]
Logs = tuple[tuple[Shown, ...], tuple[Shown, ...]]


class EntropyCommitment(Value):
    """What we are bound to in a round: our entropy, for this commitment of the server and this seat.

    `other_hash` is what the other player was bound to when we showed our entropy; None as long as we have not.
    """

    round_id: bytes
    commitment: bytes
    seat: int
    entropy: bytes
    entropy_hash: bytes
    other_hash: bytes | None = None


class SealCheck(Value):
    """What was shown of the sealed deal of one round.

    `opened` has the card behind each envelope that was opened, by sealed pass and position; `last` is the turn of each
    seat's last card, `redeals` how often it has redealt. `logs` is what each seat was shown to do, as long as nothing
    was missed since the deal, else None. `past` are rounds that were opened before. `proved` counts the envelopes that
    the server's secret opened at the end.
    """

    key: bytes | None = None
    seat: int | None = None
    entropy_commitment: EntropyCommitment | None = None
    past: frozenset[bytes] = frozenset()
    round_id: bytes | None = None
    commitment: bytes = b""
    is_secret_known: bool = False
    entropy_hashes: Pair = (None, None)
    entropies: Pair = (None, None)
    rules_id: str = ""
    layout: tuple[Foundation, ...] | None = None
    laid: tuple[Card, ...] | None = None
    envelopes: tuple[tuple[bytes, ...], ...] = ()
    opened: Mapping[tuple[int, int], Card] = field(default_factory=dict)
    last: tuple[Turn | None, Turn | None] = (None, None)
    redeals: tuple[int, int] = (0, 0)
    logs: Logs | None = None
    proved_envelopes: int | None = None

    @property
    def check_words(self) -> tuple[str, ...]:
        """The four words that everybody has who was shown the same seal; none before the cards are dealt."""
        first, second = self.entropies
        if self.round_id is None or not self.envelopes or first is None or second is None:
            return ()
        root = root_envelopes(self.envelopes)
        return make_check_words(self.round_id, self.commitment, (first, second), root, self.rules_id)

    @property
    def both_committed(self) -> bool:
        """Whether both players are bound, so that the deck is fixed, whoever knows it."""
        return None not in self.entropy_hashes

    @property
    def may_reveal(self) -> bool:
        """Whether showing our entropy can help nobody: the server and both players are bound, we to our bond."""
        return self.both_committed and not self.is_secret_known and self.current_entropy_commitment is not None

    @property
    def current_entropy_commitment(self) -> EntropyCommitment | None:
        """Our bond, if it is of this round."""
        return (
            self.entropy_commitment
            if self.entropy_commitment and self.entropy_commitment.round_id == self.round_id
            else None
        )

    def with_entropy_commitment(self, entropy_commitment: EntropyCommitment | None) -> "SealCheck":
        """The witness who knows what we are bound to."""
        return replace(self, entropy_commitment=entropy_commitment)

    def after(self, entry: Entry, options: RoomOptions) -> "SealCheck":
        """The witness after one more entry of the view. Raises `Cheated`."""
        match entry:
            case entries.RoundOpened():
                return _opened(self, entry)
            case entries.RoundVoided(round=round_id, secret=secret):
                if round_id != self.round_id:
                    raise Cheated("The server calls off a round that it has not opened.")
                if self.both_committed:
                    raise Cheated("The server calls off a round to which both players are bound.")
                return _with_secret(self, secret, options, None)
            case entries.PlayerReady(seat=seat, entropy_hash=entropy_hash):
                return _with_hash(self, seat, entropy_hash)
            case entries.Revealed(seat=seat, entropy=entropy):
                return _with_entropy(self, seat, entropy)
            case entries.Dealt():
                return _dealt(self, entry, options)
            case entries.Turned(seat=seat):
                return _logged(_turned(self, entry), seat, entry)
            case entries.Moved(seat=seat, move=move):
                moved = self
                if move is REDEAL:
                    count = self.redeals[seat] + 1
                    moved = replace(self, redeals=(count, self.redeals[1]) if seat == 0 else (self.redeals[0], count))
                return _logged(moved, seat, entry)
            case entries.RoundFinished(secret=secret, outcome=outcome):
                return _with_secret(self, secret, options, outcome)
            case entries.RoomClosed():
                _check_opened(self, "closes the room")
                return self
            case _:
                return self

    def after_snapshot(self, scene: Scene, seat: int | None) -> "SealCheck":
        """The witness after a snapshot, which may not take back what was shown before. Raises `Cheated`."""
        is_dropped = (
            self.round_id is not None
            and scene.round != self.round_id
            and self.both_committed
            and not self.is_secret_known
        )
        if is_dropped and seat is not None:
            raise Cheated(
                "The server has dropped a round to which both players were bound, and never opened its commitment. "
                "Unless its Redis has lost it, it did not like the deck."
            )
        if scene.round is None:
            return replace(_fresh(self), seat=seat)
        if scene.commitment is None:
            raise Cheated("The server has opened a round without committing itself.")
        seal = replace(self, seat=seat, logs=None)
        if scene.round != self.round_id:
            signature = scene.signature or b""
            seal = replace(_committed(self, scene.round, scene.commitment, signature), seat=seat, logs=None)
        elif scene.commitment != self.commitment:
            raise Cheated("The server shows another commitment than before for the same round.")
        for number, each in enumerate(scene.seats):
            seal = seal if each.entropy_hash is None else _with_hash(seal, number, each.entropy_hash)
            seal = seal if each.entropy is None else _with_entropy(seal, number, each.entropy)
        if scene.envelopes:
            if seal.envelopes and seal.envelopes != scene.envelopes:
                raise Cheated("The server shows other envelopes than before for the same round.")
            redealt = [(scene.options.redeals or 0) - each.board.redeals if each.board else 0 for each in scene.seats]
            seal = replace(
                seal,
                rules_id=scene.options.rules_id(),
                envelopes=scene.envelopes,
                last=(scene.seats[0].turn, scene.seats[1].turn),
                redeals=(redealt[0], redealt[1]),
            )
        return seal if scene.secret is None else _with_secret(seal, scene.secret, scene.options, None)


def describe_proof(seal: SealCheck) -> Sequence[str]:
    """What a round's end proved about its deal, in one sentence or none."""
    if not seal.envelopes:
        return ()
    if seal.proved_envelopes is None:
        return (
            "NOT PROVED: this client does not know these rules; fairest verify of a newer one can prove the record.",
        )
    count = seal.proved_envelopes
    return (f"Sealed deal: {count} of {count} envelopes right, and the commitment was kept.",)


def _fresh(seal: SealCheck) -> SealCheck:
    """A witness of no round, who remembers whom it deals with and which rounds there were."""
    seen = {seal.round_id} if seal.round_id is not None else set()
    return SealCheck(key=seal.key, seat=seal.seat, entropy_commitment=seal.entropy_commitment, past=seal.past | seen)


def _opened(seal: SealCheck, entry: entries.RoundOpened) -> SealCheck:
    _check_opened(seal, "opens another round")
    return _committed(seal, entry.round, entry.commitment, entry.signature)


def _committed(seal: SealCheck, round_id: bytes, commitment: bytes, signature: bytes) -> SealCheck:
    """A new round, never seen before, to which the server has signed its commitment."""
    fresh = _fresh(seal)
    bond = fresh.entropy_commitment
    if round_id in fresh.past or (bond and bond.round_id == round_id and bond.commitment != commitment):
        raise Cheated("The server opens a round again that it had opened before.")
    if fresh.key is None or not is_signed(commitment_statement(round_id, commitment), signature, fresh.key):
        raise Cheated("The server did not sign its commitment with the key that it shows.")
    return replace(fresh, round_id=round_id, commitment=commitment, logs=((), ()))


def _check_opened(seal: SealCheck, deed: str) -> None:
    if seal.round_id is not None and not seal.is_secret_known:
        raise Cheated(f"The server {deed} and never opened its commitment {seal.commitment.hex()[:16]}.")


def _with_hash(seal: SealCheck, seat: int, entropy_hash: bytes) -> SealCheck:
    known, bond = seal.entropy_hashes[seat], seal.current_entropy_commitment
    _round_of(seal)  # or the server is ahead of itself
    if known is not None and known != entropy_hash:
        raise Cheated(f"The server changed the entropy hash of seat {seat + 1}.")
    if seat == seal.seat and (bond is None or entropy_hash != bond.entropy_hash):
        raise Cheated("The server shows another entropy hash for us than the one that we sent.")
    if seat != seal.seat and bond is not None and bond.other_hash not in (None, entropy_hash):
        raise Cheated("The other player was bound anew after we had shown our entropy.")
    return replace(seal, entropy_hashes=replace_in_pair(seal.entropy_hashes, seat, entropy_hash))


def _with_entropy(seal: SealCheck, seat: int, entropy: bytes) -> SealCheck:
    if commit_entropy(_round_of(seal), seat, entropy) != seal.entropy_hashes[seat]:
        raise Cheated(f"The entropy of seat {seat + 1} does not belong to the hash that was shown before.")
    return replace(seal, entropies=replace_in_pair(seal.entropies, seat, entropy))


def _dealt(seal: SealCheck, entry: entries.Dealt, options: RoomOptions) -> SealCheck:
    if None in seal.entropies:
        raise Cheated("The server deals before both players have shown their entropy.")
    if seal.envelopes:
        raise Cheated("The server deals a second time.")
    if (entry.piles, entry.redeals) != (options.piles, options.redeals):
        raise Cheated("The server deals for other rules than those of the room.")
    rules = _known_rules(options)
    if rules is not None:
        _check_layout(rules, entry)
    laid = (*entry.starters, *entry.markers)
    return replace(
        seal, rules_id=options.rules_id(), layout=entry.layout, laid=laid, envelopes=entry.envelopes, logs=((), ())
    )


def _check_layout(rules: Rules, entry: entries.Dealt) -> None:
    """What does not hang on the seed can be compared before a card is turned."""
    passes = 1 + rules.redeals * (rules.redeal is Redeal.RESHUFFLED)
    if [len(sealed) for sealed in entry.envelopes] != [rules.stock] * passes:
        raise Cheated("The server showed more or fewer envelopes than its deal has.")
    if isinstance(rules.foundations, RolledFoundations):
        return
    usual = make_deal(rules, bytes(32))
    if (entry.layout, entry.starters, entry.markers) != (usual.foundations, usual.starters, usual.markers):
        raise Cheated("Starters, steps or markers are not those of the rules.")


def _known_rules(options: RoomOptions) -> Rules | None:
    """The rules of the room, if this client knows them."""
    try:
        return options.chosen_rules()
    except BadRules:
        return None


def _turned(seal: SealCheck, entry: entries.Turned) -> SealCheck:
    """Open an envelope."""
    turn = Turn(entry.pass_number, entry.position)
    _check_order(seal, entry.seat, turn)
    number = sealed_pass(entry.pass_number, seal.envelopes)
    place, card = (number, entry.position), entry.card
    sealed = seal.envelopes[number] if seal.envelopes else ()
    if entry.position >= len(sealed):
        raise Cheated(f"The server turns a card at {name_place(turn)}, which it has not sealed.")
    if make_envelope(_round_of(seal), number, entry.position, card, entry.salt) != sealed[entry.position]:
        raise Cheated(f"The card at {name_place(turn)}, {card}, does not come from its envelope.")
    if card in (seal.laid or ()) or any(
        other == card and at != place and at[0] == number for at, other in seal.opened.items()
    ):
        raise Cheated(f"The card at {name_place(turn)}, {card}, lies somewhere else already.")
    last = (turn, seal.last[1]) if entry.seat == 0 else (seal.last[0], turn)
    return replace(seal, opened={**seal.opened, place: card}, last=last)


def _check_order(seal: SealCheck, seat: int, turn: Turn) -> None:
    """Cards come in the order that was sealed; before the first redeal without a gap, after one with its number."""
    last = seal.last[seat] or Turn(0, -1)
    is_next = turn.position == last.position + 1 if turn.pass_number == 0 else turn > last
    if not is_next or turn.pass_number != seal.redeals[seat]:
        raise Cheated(f"Seat {seat + 1} turns the card at {name_place(turn)} after the one at {name_place(last)}.")


def _logged(seal: SealCheck, seat: int, entry: Shown) -> SealCheck:
    if seal.logs is None:
        return seal
    first, second = seal.logs
    return replace(seal, logs=((*first, entry), second) if seat == 0 else (first, (*second, entry)))


def _with_secret(seal: SealCheck, secret: bytes, options: RoomOptions, outcome: Outcome | None) -> SealCheck:
    """The end: everything is opened."""
    if commit_secret(_round_of(seal), secret) != seal.commitment:
        raise Cheated("The secret does not belong to the commitment: the server has changed it since.")
    first, second = seal.entropies
    rules = _known_rules(options)
    if not seal.envelopes or first is None or second is None or rules is None:
        return replace(seal, is_secret_known=True)
    sealed = seal_deal(rules, make_seed(secret, (first, second), _round_of(seal)), _round_of(seal))
    check_deal(sealed, seal.envelopes, seal.opened, seal.laid, seal.layout)
    if outcome is not None and seal.logs is not None and seal.laid is not None:
        ties = options.direct_breaks_ties
        check_race(rules, sealed.deal, seal.logs, outcome, direct_breaks_ties=ties)
    return replace(seal, is_secret_known=True, proved_envelopes=sum(map(len, sealed.envelopes)))


def _round_of(seal: SealCheck) -> bytes:
    if seal.round_id is None:
        raise Cheated("The server shows part of a deal before it has committed itself to one.")
    return seal.round_id
