"""What this client holds the server to: the sealed deal, checked as it opens, entry by entry. Pure.

Every check happens at the first moment at which it can: signatures and hashes when they are shown, each envelope when
its card is turned by either seat, the commitment and all envelopes together when the secret is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from client_cli.signature import is_signed
from protocol.calculation.cards import Card
from protocol.calculation.deal import SealedDeal, seal_deal, sealed_pass
from protocol.calculation.round import Turn
from protocol.calculation.rules import BadRules, Foundation
from protocol.calculation.seal import (
    commit_entropy,
    commit_secret,
    make_check_words,
    make_envelope,
    make_seed,
    root_envelopes,
    state_commitment,
)
from protocol.messages import entries
from protocol.messages.entries import Entry
from protocol.messages.options import RoomOptions
from protocol.messages.scene import Scene

Pair = tuple[bytes | None, bytes | None]


class Cheated(Exception):
    """The server broke the seal. The text says which of its promises it broke, and how that shows."""


@dataclass(frozen=True, slots=True)
class Witness:
    """What was shown of the sealed deal of one round.

    `own` is our own entropy with the seat that we hold. `opened` has the card behind each envelope that was opened, by
    sealed pass and position; `last` is the turn of each seat's last card. `proved` counts the envelopes that the
    server's secret opened at the end.
    """

    key: bytes | None = None
    own: tuple[int, bytes] | None = None
    round_id: bytes | None = None
    commitment: bytes = b""
    is_opened: bool = False
    hashes: Pair = (None, None)
    entropies: Pair = (None, None)
    layout: tuple[Foundation, ...] = ()
    laid: tuple[Card, ...] = ()
    envelopes: tuple[tuple[bytes, ...], ...] = ()
    opened: Mapping[tuple[int, int], Card] = field(default_factory=dict)
    last: tuple[Turn | None, Turn | None] = (None, None)
    proved: int | None = None

    @property
    def check_words(self) -> tuple[str, ...]:
        """The four words that everybody has who was shown the same seal; none before the cards are dealt."""
        first, second = self.entropies
        if self.round_id is None or not self.envelopes or first is None or second is None:
            return ()
        return make_check_words(self.round_id, self.commitment, (first, second), root_envelopes(self.envelopes))

    def bound(self, round_id: bytes, seat: int, entropy: bytes) -> "Witness":
        """The witness who knows the entropy that we are bound to in this round."""
        return replace(self, own=(seat, entropy)) if round_id == self.round_id else self

    def after(self, entry: Entry, options: RoomOptions) -> "Witness":
        """The witness after one more entry of the view. Raises `Cheated`."""
        match entry:
            case entries.RoundOpened():
                _check_opened(self, "opens another round")
                opened = Witness(key=self.key, round_id=entry.round, commitment=entry.commitment)
                _check_signature(opened, entry.signature)
                return opened
            case entries.RoundVoided(round=round_id, secret=secret):
                if round_id != self.round_id:
                    raise Cheated("The server calls off a round that it has not opened.")
                return _with_secret(self, secret, options)
            case entries.PlayerReady(seat=seat, entropy_hash=entropy_hash):
                return _with_hash(self, seat, entropy_hash)
            case entries.Revealed(seat=seat, entropy=entropy):
                return _with_entropy(self, seat, entropy)
            case entries.Dealt():
                return _dealt(self, entry)
            case entries.Turned():
                return _turned(self, entry)
            case entries.RoundFinished(secret=secret):
                return _with_secret(self, secret, options)
            case entries.RoomClosed():
                _check_opened(self, "closes the room")
                return self
            case _:
                return self

    def saw(self, scene: Scene) -> "Witness":
        """The witness after a snapshot, which may not take back what was shown before. Raises `Cheated`."""
        if scene.round is None or scene.commitment is None:
            return Witness(key=self.key)
        witness = self
        if scene.round != self.round_id:
            witness = Witness(key=self.key, round_id=scene.round, commitment=scene.commitment)
            _check_signature(witness, scene.signature or b"")
        elif scene.commitment != self.commitment:
            raise Cheated("The server shows another commitment than before for the same round.")
        for seat, each in enumerate(scene.seats):
            witness = witness if each.entropy_hash is None else _with_hash(witness, seat, each.entropy_hash)
            witness = witness if each.entropy is None else _with_entropy(witness, seat, each.entropy)
        if scene.envelopes:
            if witness.envelopes and witness.envelopes != scene.envelopes:
                raise Cheated("The server shows other envelopes than before for the same round.")
            witness = replace(witness, envelopes=scene.envelopes, last=(scene.seats[0].turn, scene.seats[1].turn))
        return witness if scene.secret is None else _with_secret(witness, scene.secret, scene.options)


def describe_proof(witness: Witness) -> Sequence[str]:
    """What a round's end proved about its deal, in one sentence or none."""
    if witness.proved is None:
        return ()
    return (f"Sealed deal: {witness.proved} of {witness.proved} envelopes right, and the commitment was kept.",)


def _check_signature(witness: Witness, signature: bytes) -> None:
    statement = state_commitment(_round_of(witness), witness.commitment)
    if witness.key is not None and not is_signed(statement, signature, witness.key):
        raise Cheated("The server did not sign its commitment with the key that it shows.")


def _check_opened(witness: Witness, deed: str) -> None:
    if witness.round_id is not None and not witness.is_opened:
        raise Cheated(f"The server {deed} and never opened its commitment {witness.commitment.hex()[:16]}.")


def _with_hash(witness: Witness, seat: int, entropy_hash: bytes) -> Witness:
    known = witness.hashes[seat]
    if known is not None and known != entropy_hash:
        raise Cheated(f"The server changed the entropy hash of seat {seat + 1}.")
    own = witness.own
    if own is not None and own[0] == seat and entropy_hash != commit_entropy(_round_of(witness), seat, own[1]):
        raise Cheated("The server shows another entropy hash than the one that we sent.")
    return replace(witness, hashes=_put(witness.hashes, seat, entropy_hash))


def _with_entropy(witness: Witness, seat: int, entropy: bytes) -> Witness:
    if commit_entropy(_round_of(witness), seat, entropy) != witness.hashes[seat]:
        raise Cheated(f"The entropy of seat {seat + 1} does not belong to the hash that was shown before.")
    return replace(witness, entropies=_put(witness.entropies, seat, entropy))


def _dealt(witness: Witness, entry: entries.Dealt) -> Witness:
    if None in witness.entropies:
        raise Cheated("The server deals before both players have shown their entropy.")
    laid = (*entry.starters, *entry.markers)
    return replace(witness, layout=entry.layout, laid=laid, envelopes=entry.envelopes)


def _turned(witness: Witness, entry: entries.Turned) -> Witness:
    """Open an envelope."""
    turn = Turn(entry.pass_number, entry.position)
    _check_order(witness, entry.seat, turn)
    number = sealed_pass(entry.pass_number, witness.envelopes)
    place, card = (number, entry.position), entry.card
    sealed = witness.envelopes[number] if witness.envelopes else ()
    if entry.position >= len(sealed):
        raise Cheated(f"The server turns a card at {_place(turn)}, which it has not sealed.")
    if make_envelope(_round_of(witness), number, entry.position, card, entry.salt) != sealed[entry.position]:
        raise Cheated(f"The card at {_place(turn)}, {card}, does not come from its envelope.")
    if card in witness.laid or any(
        other == card and at != place and at[0] == number for at, other in witness.opened.items()
    ):
        raise Cheated(f"The card at {_place(turn)}, {card}, lies somewhere else already.")
    last = (turn, witness.last[1]) if entry.seat == 0 else (witness.last[0], turn)
    return replace(witness, opened={**witness.opened, place: card}, last=last)


def _check_order(witness: Witness, seat: int, turn: Turn) -> None:
    """Cards come in the order that was sealed; before the first redeal without a gap."""
    last = witness.last[seat] or Turn(0, -1)
    is_next = turn.position == last.position + 1 if turn.pass_number == 0 else turn > last
    if not is_next or turn.pass_number > last.pass_number + 1:
        raise Cheated(f"Seat {seat + 1} turns the card at {_place(turn)} after the one at {_place(last)}.")


def _with_secret(witness: Witness, secret: bytes, options: RoomOptions) -> Witness:
    """The end: everything is opened."""
    if witness.round_id is None:
        return witness
    if commit_secret(witness.round_id, secret) != witness.commitment:
        raise Cheated("The secret does not belong to the commitment: the server has changed it since.")
    first, second = witness.entropies
    if not witness.envelopes or first is None or second is None:
        return replace(witness, is_opened=True)
    try:
        rules = options.chosen_rules()
    except BadRules:
        # A variant that this client does not know: played well, and left for a newer client to prove.
        return replace(witness, is_opened=True)
    sealed = seal_deal(rules, make_seed(secret, (first, second), witness.round_id), witness.round_id)
    _check_deal(witness, sealed)
    return replace(witness, is_opened=True, proved=sum(map(len, sealed.envelopes)))


def _check_deal(witness: Witness, sealed: SealedDeal) -> None:
    for number, (shown, right) in enumerate(zip(witness.envelopes, sealed.envelopes, strict=False)):
        for position, (envelope, wanted) in enumerate(zip(shown, right, strict=False)):
            if envelope != wanted:
                raise Cheated(f"The envelope at {_place(Turn(number, position))} holds another deal's card.")
    if witness.envelopes != sealed.envelopes:
        raise Cheated("The server showed more or fewer envelopes than its deal has.")
    laid = (*sealed.deal.starters, *sealed.deal.markers)
    if witness.laid and (witness.laid, witness.layout) != (laid, sealed.deal.foundations):
        raise Cheated("Starters, steps or markers are not those of the deal.")


def _round_of(witness: Witness) -> bytes:
    if witness.round_id is None:
        raise Cheated("The server shows part of a deal before it has committed itself to one.")
    return witness.round_id


def _put(pair: Pair, seat: int, value: bytes) -> Pair:
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def _place(turn: Turn) -> str:
    """A place in the deal, for people, who count from one."""
    return f"position {turn.position + 1}" + (f" of redeal {turn.pass_number}" if turn.pass_number else "")
