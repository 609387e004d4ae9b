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
from fairest_protocol.calculation.rules import BadRules, Foundation, Redeal, Rules, Thrown
from fairest_protocol.calculation.seal import (
    commit_entropy,
    commit_secret,
    make_check_words,
    make_envelope,
    make_seed,
    root_envelopes,
    state_commitment,
)
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value, replace

Pair = tuple[bytes | None, bytes | None]
Logs = tuple[tuple[Shown, ...], tuple[Shown, ...]]


class Bond(Value):
    """What we are bound to in a round: our entropy, for this commitment of the server and this seat.

    `other_hash` is what the other player was bound to when we showed our entropy; None as long as we have not.
    """

    round_id: bytes
    commitment: bytes
    seat: int
    entropy: bytes
    entropy_hash: bytes
    other_hash: bytes | None = None


class Witness(Value):
    """What was shown of the sealed deal of one round.

    `opened` has the card behind each envelope that was opened, by sealed pass and position; `last` is the turn of each
    seat's last card, `redeals` how often it has redealt. `logs` is what each seat was shown to do, as long as nothing
    was missed since the deal, else None. `past` are rounds that were opened before. `proved` counts the envelopes that
    the server's secret opened at the end.
    """

    key: bytes | None = None
    seat: int | None = None
    bond: Bond | None = None
    past: frozenset[bytes] = frozenset()
    round_id: bytes | None = None
    commitment: bytes = b""
    is_opened: bool = False
    hashes: Pair = (None, None)
    entropies: Pair = (None, None)
    terms: str = ""
    layout: tuple[Foundation, ...] | None = None
    laid: tuple[Card, ...] | None = None
    envelopes: tuple[tuple[bytes, ...], ...] = ()
    opened: Mapping[tuple[int, int], Card] = field(default_factory=dict)
    last: tuple[Turn | None, Turn | None] = (None, None)
    redeals: tuple[int, int] = (0, 0)
    logs: Logs | None = None
    proved: int | None = None

    @property
    def check_words(self) -> tuple[str, ...]:
        """The four words that everybody has who was shown the same seal; none before the cards are dealt."""
        first, second = self.entropies
        if self.round_id is None or not self.envelopes or first is None or second is None:
            return ()
        root = root_envelopes(self.envelopes)
        return make_check_words(self.round_id, self.commitment, (first, second), root, self.terms)

    @property
    def is_bound(self) -> bool:
        """Whether both players are bound, so that the deck is fixed, whoever knows it."""
        return None not in self.hashes

    @property
    def may_reveal(self) -> bool:
        """Whether showing our entropy can help nobody: the server and both players are bound, we to our bond."""
        return self.is_bound and not self.is_opened and self.own_bond is not None

    @property
    def own_bond(self) -> Bond | None:
        """Our bond, if it is of this round."""
        return self.bond if self.bond and self.bond.round_id == self.round_id else None

    def bound(self, bond: Bond | None) -> "Witness":
        """The witness who knows what we are bound to."""
        return replace(self, bond=bond)

    def after(self, entry: Entry, options: RoomOptions) -> "Witness":
        """The witness after one more entry of the view. Raises `Cheated`."""
        match entry:
            case entries.RoundOpened():
                return _opened(self, entry)
            case entries.RoundVoided(round=round_id, secret=secret):
                if round_id != self.round_id:
                    raise Cheated("The server calls off a round that it has not opened.")
                if self.is_bound:
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

    def saw(self, scene: Scene, seat: int | None) -> "Witness":
        """The witness after a snapshot, which may not take back what was shown before. Raises `Cheated`."""
        is_dropped = self.round_id is not None and scene.round != self.round_id and self.is_bound and not self.is_opened
        if is_dropped and seat is not None:
            raise Cheated(
                "The server has dropped a round to which both players were bound, and never opened its commitment. "
                "Unless its Redis has lost it, it did not like the deck."
            )
        if scene.round is None:
            return replace(_fresh(self), seat=seat)
        if scene.commitment is None:
            raise Cheated("The server has opened a round without committing itself.")
        witness = replace(self, seat=seat, logs=None)
        if scene.round != self.round_id:
            signature = scene.signature or b""
            witness = replace(_committed(self, scene.round, scene.commitment, signature), seat=seat, logs=None)
        elif scene.commitment != self.commitment:
            raise Cheated("The server shows another commitment than before for the same round.")
        for number, each in enumerate(scene.seats):
            witness = witness if each.entropy_hash is None else _with_hash(witness, number, each.entropy_hash)
            witness = witness if each.entropy is None else _with_entropy(witness, number, each.entropy)
        if scene.envelopes:
            if witness.envelopes and witness.envelopes != scene.envelopes:
                raise Cheated("The server shows other envelopes than before for the same round.")
            redealt = [(scene.options.redeals or 0) - each.board.redeals if each.board else 0 for each in scene.seats]
            witness = replace(
                witness,
                terms=scene.options.terms(),
                envelopes=scene.envelopes,
                last=(scene.seats[0].turn, scene.seats[1].turn),
                redeals=(redealt[0], redealt[1]),
            )
        return witness if scene.secret is None else _with_secret(witness, scene.secret, scene.options, None)


def describe_proof(witness: Witness) -> Sequence[str]:
    """What a round's end proved about its deal, in one sentence or none."""
    if not witness.envelopes:
        return ()
    if witness.proved is None:
        return (
            "NOT PROVED: this client does not know these rules; fairest verify of a newer one can prove the record.",
        )
    return (f"Sealed deal: {witness.proved} of {witness.proved} envelopes right, and the commitment was kept.",)


def _fresh(witness: Witness) -> Witness:
    """A witness of no round, who remembers whom it deals with and which rounds there were."""
    seen = {witness.round_id} if witness.round_id is not None else set()
    return Witness(key=witness.key, seat=witness.seat, bond=witness.bond, past=witness.past | seen)


def _opened(witness: Witness, entry: entries.RoundOpened) -> Witness:
    _check_opened(witness, "opens another round")
    return _committed(witness, entry.round, entry.commitment, entry.signature)


def _committed(witness: Witness, round_id: bytes, commitment: bytes, signature: bytes) -> Witness:
    """A new round, never seen before, to which the server has signed its commitment."""
    fresh = _fresh(witness)
    bond = fresh.bond
    if round_id in fresh.past or (bond and bond.round_id == round_id and bond.commitment != commitment):
        raise Cheated("The server opens a round again that it had opened before.")
    if fresh.key is None or not is_signed(state_commitment(round_id, commitment), signature, fresh.key):
        raise Cheated("The server did not sign its commitment with the key that it shows.")
    return replace(fresh, round_id=round_id, commitment=commitment, logs=((), ()))


def _check_opened(witness: Witness, deed: str) -> None:
    if witness.round_id is not None and not witness.is_opened:
        raise Cheated(f"The server {deed} and never opened its commitment {witness.commitment.hex()[:16]}.")


def _with_hash(witness: Witness, seat: int, entropy_hash: bytes) -> Witness:
    known, bond = witness.hashes[seat], witness.own_bond
    _round_of(witness)  # or the server is ahead of itself
    if known is not None and known != entropy_hash:
        raise Cheated(f"The server changed the entropy hash of seat {seat + 1}.")
    if seat == witness.seat and (bond is None or entropy_hash != bond.entropy_hash):
        raise Cheated("The server shows another entropy hash for us than the one that we sent.")
    if seat != witness.seat and bond is not None and bond.other_hash not in (None, entropy_hash):
        raise Cheated("The other player was bound anew after we had shown our entropy.")
    return replace(witness, hashes=_put(witness.hashes, seat, entropy_hash))


def _with_entropy(witness: Witness, seat: int, entropy: bytes) -> Witness:
    if commit_entropy(_round_of(witness), seat, entropy) != witness.hashes[seat]:
        raise Cheated(f"The entropy of seat {seat + 1} does not belong to the hash that was shown before.")
    return replace(witness, entropies=_put(witness.entropies, seat, entropy))


def _dealt(witness: Witness, entry: entries.Dealt, options: RoomOptions) -> Witness:
    if None in witness.entropies:
        raise Cheated("The server deals before both players have shown their entropy.")
    if witness.envelopes:
        raise Cheated("The server deals a second time.")
    if (entry.piles, entry.redeals) != (options.piles, options.redeals):
        raise Cheated("The server deals for other rules than those of the room.")
    rules = _known_rules(options)
    if rules is not None:
        _check_layout(rules, entry)
    laid = (*entry.starters, *entry.markers)
    return replace(
        witness, terms=options.terms(), layout=entry.layout, laid=laid, envelopes=entry.envelopes, logs=((), ())
    )


def _check_layout(rules: Rules, entry: entries.Dealt) -> None:
    """What does not hang on the seed can be compared before a card is turned."""
    passes = 1 + rules.redeals * (rules.redeal is Redeal.RESHUFFLED)
    if [len(sealed) for sealed in entry.envelopes] != [rules.stock] * passes:
        raise Cheated("The server showed more or fewer envelopes than its deal has.")
    if isinstance(rules.foundations, Thrown):
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


def _turned(witness: Witness, entry: entries.Turned) -> Witness:
    """Open an envelope."""
    turn = Turn(entry.pass_number, entry.position)
    _check_order(witness, entry.seat, turn)
    number = sealed_pass(entry.pass_number, witness.envelopes)
    place, card = (number, entry.position), entry.card
    sealed = witness.envelopes[number] if witness.envelopes else ()
    if entry.position >= len(sealed):
        raise Cheated(f"The server turns a card at {name_place(turn)}, which it has not sealed.")
    if make_envelope(_round_of(witness), number, entry.position, card, entry.salt) != sealed[entry.position]:
        raise Cheated(f"The card at {name_place(turn)}, {card}, does not come from its envelope.")
    if card in (witness.laid or ()) or any(
        other == card and at != place and at[0] == number for at, other in witness.opened.items()
    ):
        raise Cheated(f"The card at {name_place(turn)}, {card}, lies somewhere else already.")
    last = (turn, witness.last[1]) if entry.seat == 0 else (witness.last[0], turn)
    return replace(witness, opened={**witness.opened, place: card}, last=last)


def _check_order(witness: Witness, seat: int, turn: Turn) -> None:
    """Cards come in the order that was sealed; before the first redeal without a gap, after one with its number."""
    last = witness.last[seat] or Turn(0, -1)
    is_next = turn.position == last.position + 1 if turn.pass_number == 0 else turn > last
    if not is_next or turn.pass_number != witness.redeals[seat]:
        raise Cheated(f"Seat {seat + 1} turns the card at {name_place(turn)} after the one at {name_place(last)}.")


def _logged(witness: Witness, seat: int, entry: Shown) -> Witness:
    if witness.logs is None:
        return witness
    first, second = witness.logs
    return replace(witness, logs=((*first, entry), second) if seat == 0 else (first, (*second, entry)))


def _with_secret(witness: Witness, secret: bytes, options: RoomOptions, outcome: Outcome | None) -> Witness:
    """The end: everything is opened."""
    if commit_secret(_round_of(witness), secret) != witness.commitment:
        raise Cheated("The secret does not belong to the commitment: the server has changed it since.")
    first, second = witness.entropies
    rules = _known_rules(options)
    if not witness.envelopes or first is None or second is None or rules is None:
        return replace(witness, is_opened=True)
    sealed = seal_deal(rules, make_seed(secret, (first, second), _round_of(witness)), _round_of(witness))
    check_deal(sealed, witness.envelopes, witness.opened, witness.laid, witness.layout)
    if outcome is not None and witness.logs is not None and witness.laid is not None:
        ties = options.direct_breaks_ties
        check_race(rules, sealed.deal, witness.logs, outcome, direct_breaks_ties=ties)
    return replace(witness, is_opened=True, proved=sum(map(len, sealed.envelopes)))


def _round_of(witness: Witness) -> bytes:
    if witness.round_id is None:
        raise Cheated("The server shows part of a deal before it has committed itself to one.")
    return witness.round_id


def _put(pair: Pair, seat: int, value: bytes) -> Pair:
    return (value, pair[1]) if seat == 0 else (pair[0], value)
