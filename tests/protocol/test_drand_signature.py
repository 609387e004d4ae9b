"""The signature of a drand round: that of the network over its number, and nothing else."""

import pytest

from fairest_protocol.calculation.drand import QUICKNET
from fairest_protocol.drand_signature import CAN_CHECK, HOW_TO_INSTALL, is_drand_signature
from tests.support.drand import NETWORK, needs_pyblst, sign_drand

pytestmark = needs_pyblst

REAL = {
    1_000: "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
    657_413: "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
}
"""Drand rounds of quicknet, as its relays show them."""
INFINITY = bytes([0xC0]) + bytes(47)


@pytest.mark.parametrize("number", REAL)
def test_a_real_drand_round_is_signed_by_its_network(number: int) -> None:
    assert is_drand_signature(QUICKNET, number, bytes.fromhex(REAL[number]))


def test_the_check_is_there_where_pyblst_is() -> None:
    assert (CAN_CHECK, HOW_TO_INSTALL) == (True, "pip install pyblst")


def test_the_signature_of_another_drand_round_is_none() -> None:
    assert not is_drand_signature(QUICKNET, 1_001, bytes.fromhex(REAL[1_000]))


def test_the_signature_of_another_network_is_none() -> None:
    assert is_drand_signature(NETWORK, 7, sign_drand(7))
    assert not is_drand_signature(QUICKNET, 7, sign_drand(7))


@pytest.mark.parametrize(
    "signature", [b"", bytes(48), bytes([255]) * 48, INFINITY, sign_drand(7)[:-1], sign_drand(7) * 2]
)
def test_bytes_that_are_no_signature_are_none(signature: bytes) -> None:
    assert is_drand_signature(NETWORK, 7, signature) is False
