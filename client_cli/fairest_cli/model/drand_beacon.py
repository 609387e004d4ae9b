"""The beacon of a daily deal that is a drand round: which one it has to be, and whether drand has signed it. Pure."""

from typing import Final

from fairest_cli.model.cheated import Cheated
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.drand import QUICKNET, DrandNetwork, drand_value
from fairest_protocol.drand_signature import CAN_CHECK, HOW_TO_INSTALL, is_drand_signature
from fairest_protocol.messages.daily import DailySeal

NETWORK: DrandNetwork = QUICKNET
RELAY: Final = "https://api.drand.sh"
"""A relay at which people may look."""


def check_beacon(day: str, seal: DailySeal) -> None:
    """Check the beacon of a daily deal if it is a drand round. Raises `Cheated`."""
    if seal.drand is not None:
        check_drand(day, seal.beacon_number, seal.beacon, seal.drand)


def check_drand(day: str, number: int, beacon: bytes, signature: bytes) -> None:
    """Check that a beacon is the value of the first drand round of its day, and signed where that can be checked.

    Raises `Cheated`.
    """
    if drand_value(signature) != beacon:
        raise Cheated("The beacon of the daily deal is not the value of the drand round that it names.")
    first = NETWORK.first_round(day_start_ms(day))
    if number != first:
        raise Cheated(f"The beacon of the daily deal is drand round {number}, and the first one of its day is {first}.")
    if CAN_CHECK and not is_drand_signature(NETWORK, number, signature):
        raise Cheated(f"The beacon of the daily deal is not drand round {number}: drand has not signed it.")


def describe_drand_briefly(number: int) -> str:
    """Return the same as `describe_drand` for a line of the full screen."""
    return f"Beacon: drand round {number}, {'signed' if CAN_CHECK else 'signature not checked'}."


def describe_drand(number: int) -> str:
    """Return in a sentence what is known of a beacon that `check_drand` has passed."""
    if CAN_CHECK:
        return f"The beacon is drand round {number}, the first one of the day, with the signature of drand."
    return (
        f"The beacon is drand round {number}, the first one of the day. Its signature was not checked, since pyblst is "
        f"missing ({HOW_TO_INSTALL}): compare it with {RELAY}{NETWORK.path(number)}."
    )
