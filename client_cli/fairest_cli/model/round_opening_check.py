"""Checks of a round that the server opens: that it is signed, with its place in the match and the terms. Pure."""

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.signature import is_signed
from fairest_protocol.calculation.seal import round_statement
from fairest_protocol.messages.entries import RoundOpened
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.scene import Scene


def shown_opening(scene: Scene) -> RoundOpened | None:
    """Return the entry with which the round of a scene was opened, None for a scene without a round.

    Raises `Cheated` for a round to which the server is not committed.
    """
    if scene.round is None:
        return None
    if scene.match is None or scene.commitment is None or scene.signature is None or not scene.round_number:
        raise Cheated("The server has opened a round without committing itself.")
    return RoundOpened(
        round=scene.round,
        match=scene.match,
        round_number=scene.round_number,
        commitment=scene.commitment,
        signature=scene.signature,
        until_ms=0,
    )


def check_opening(opened: RoundOpened, terms: str, key: bytes | None) -> None:
    """Check what does not depend on the rounds before, before anybody is ready. Raises `Cheated`."""
    statement = round_statement(opened.round, opened.commitment, opened.match, opened.round_number, terms)
    if key is None or not is_signed(statement, opened.signature, key):
        raise Cheated("The server did not sign its commitment, the match and the rules with the key that it shows.")
    if (opened.round_number == 1) != (opened.match == opened.round):
        raise Cheated("The server opens the first round of a match under the id of another round.")


def check_place(opened: RoundOpened, match_id: bytes | None, number: int) -> None:
    """Raise `Cheated` unless a round follows round `number` of the match `match_id`, or is the first of a match."""
    if opened.round_number > 1 and (opened.match, opened.round_number) != (match_id, number + 1):
        raise Cheated(
            f"The server opens round {opened.round_number} of a match, and it does not follow the one before."
        )


def check_begins_match(opened: RoundOpened, scene: Scene) -> None:
    """Raise `Cheated` unless a round begins a match just when the one before is over; `scene` is that before it.

    A seat that was freed ends a match too; the room waits then.
    """
    begins = scene.phase is not Phase.FINISHED or scene.match_is_over
    if begins and opened.round_number > 1:
        raise Cheated(f"The server opens round {opened.round_number} of a match that is over, or has not begun.")
    if not begins and opened.round_number == 1:
        raise Cheated("The server begins another match, and the one before is not over.")
