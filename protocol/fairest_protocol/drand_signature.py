"""The signature of a drand round: a BLS signature in G1 of BLS12-381 (`bls-unchained-g1-rfc9380`).

The check needs pyblst, which is installed with Fairest where there is a wheel of it.
"""

from typing import Final

from fairest_protocol.calculation.drand import DrandNetwork, drand_message

try:
    from pyblst import BlstP1Element, BlstP2Element, final_verify, miller_loop
except ImportError:
    CAN_CHECK = False
else:
    CAN_CHECK = True

HOW_TO_INSTALL: Final = "pip install pyblst"
_DOMAIN: Final = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
_G2_GENERATOR: Final = bytes.fromhex(
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
)


def is_drand_signature(network: DrandNetwork, number: int, signature: bytes) -> bool:
    """Return whether the network signed the drand round `number` so. Takes a millisecond.

    Only where `CAN_CHECK`.
    """
    assert CAN_CHECK, HOW_TO_INSTALL
    try:
        signed = BlstP1Element().uncompress(signature)
    except ValueError:
        return False
    hashed = BlstP1Element.hash_to_group(drand_message(number), _DOMAIN)
    generator, public = (BlstP2Element().uncompress(point) for point in (_G2_GENERATOR, network.public_key))
    return bool(final_verify(miller_loop(signed, generator), miller_loop(hashed, public)))
