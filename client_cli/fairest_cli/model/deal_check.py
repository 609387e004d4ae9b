"""Checks of a deal: its layout when the cards are dealt, every card of it when the secret is known. Pure."""

from collections.abc import Mapping, Sequence

from fairest_cli.model.cheated import Cheated, name_place
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.certified import CertifiedStep, find_step
from fairest_protocol.calculation.deal import SealedDeal, make_deal
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.rules import BadRules, Foundation, Redeal, RolledFoundations, Rules
from fairest_protocol.calculation.seal import make_step_seed
from fairest_protocol.messages import entries
from fairest_protocol.messages.options import RoomOptions

WRONG_COUNT = "The server showed more or fewer envelopes than its deal has."


def known_rules(options: RoomOptions) -> Rules | None:
    """Return the rules of the room, None for a variant that this client does not know."""
    try:
        return options.chosen_rules()
    except BadRules:
        return None


def check_layout(rules: Rules, dealt: entries.Dealt) -> None:
    """Check what does not depend on the seed, before a card is turned. Raises `Cheated`."""
    passes = 1 + rules.redeals * (rules.redeal is Redeal.RESHUFFLED)
    if [len(sealed) for sealed in dealt.envelopes] != [rules.stock] * passes:
        raise Cheated(WRONG_COUNT)
    if isinstance(rules.foundations, RolledFoundations):
        return
    usual = make_deal(rules, bytes(32))
    if (dealt.layout, dealt.starters, dealt.markers) != (usual.foundations, usual.starters, usual.markers):
        raise Cheated("Starters, steps or markers are not those of the rules.")


def check_step(rules: Rules, round_seed: bytes, told: int | None) -> CertifiedStep:
    """Repeat the steps of a certified round, and compare the one that is found with the one that the server has dealt.

    `told` is what the server says, None if it was not shown. Raises `Cheated`. The solver computes here for some
    milliseconds as a rule, and for 0.1 to 0.3 s in one round of twenty; a lie of the server makes it no longer.
    """
    found = find_step(rules, round_seed)
    if told not in (None, found.step):
        raise Cheated(
            f"The server dealt step {told + 1} of the certified round, where step {found.step + 1} is to be dealt."
        )
    return found


def check_seed(
    rules: Rules, options: RoomOptions, round_seed: bytes, told: int | None
) -> tuple[bytes, CertifiedStep | None]:
    """Return the seed of the deal of a round, and in a certified room its step. Raises `Cheated`, as `check_step`."""
    if not options.certified:
        return round_seed, None
    found = check_step(rules, round_seed, told)
    return make_step_seed(round_seed, found.step), found


def require_step(options: RoomOptions, dealt: entries.Dealt) -> None:
    """Check that the server shows the step of a certified round, and none in another room. Raises `Cheated`."""
    if (dealt.step is None) == bool(options.certified):
        raise Cheated("The server deals without a step in a certified room, or with one in another room.")


def first_wrong_envelope(shown: Sequence[Sequence[bytes]], right: Sequence[Sequence[bytes]]) -> Turn | None:
    """Return the sealed pass and the position of the first envelope that differs, None if none does.

    Envelopes that only one of the two has are not compared.
    """
    for number, (shown_pass, right_pass) in enumerate(zip(shown, right, strict=False)):
        for position, (envelope, wanted) in enumerate(zip(shown_pass, right_pass, strict=False)):
            if envelope != wanted:
                return Turn(number, position)
    return None


def check_deal(
    sealed: SealedDeal,
    envelopes: Sequence[Sequence[bytes]],
    opened_cards: Mapping[tuple[int, int], Card],
    laid_out: Sequence[Card] | None,
    layout: Sequence[Foundation] | None,
) -> None:
    """Compare the deal that the secret makes with the one that was shown. Raises `Cheated`.

    `opened_cards` has the cards that were turned, by sealed pass and position; `laid_out` are starters and markers.
    They and `layout` are None if they were not shown.
    """
    wrong = first_wrong_envelope(envelopes, sealed.envelopes)
    if wrong is not None:
        raise Cheated(f"The envelope at {name_place(wrong)} holds another deal's card.")
    if tuple(map(tuple, envelopes)) != sealed.envelopes:
        raise Cheated(WRONG_COUNT)
    for (number, position), card in opened_cards.items():
        if sealed.deal.orders[number][position] != card:
            raise Cheated(
                f"The card at {name_place(Turn(number, position))} was {card}; the deal has another one there."
            )
    if laid_out is not None and tuple(laid_out) != (*sealed.deal.starters, *sealed.deal.markers):
        raise Cheated("Starters or markers are not those of the deal.")
    if layout is not None and tuple(layout) != sealed.deal.foundations:
        raise Cheated("The foundations are not those of the deal.")
