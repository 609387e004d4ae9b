"""Our part in the exchange of entropy that decides a round's deal: commit to random bytes, then reveal them.

Each step is stored before it is sent, so a client that was killed goes on with the same bytes.
"""

import os

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.seal_check import EntropyCommitment, SealCheck
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.seal import SECRET_BYTES, commit_entropy
from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import replace


class EntropyExchange:
    """The entropy of one player, round after round. The commitment to it is stored in the player's identity."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def commit(self, seal: SealCheck) -> EntropyCommitment | None:
        """Return our commitment for the round of `seal`, or None before the server has committed itself.

        A commitment for the same round and the same commitment of the server is returned again; otherwise, a new one is
        made and stored. Raises OSError if it cannot be stored.
        """
        if seal.round_id is None or seal.seat is None or seal.is_secret_known:
            return None
        known = self._identity.entropy_commitment
        if known is None or (known.round_id, known.commitment) != (seal.round_id, seal.commitment):
            entropy = os.urandom(SECRET_BYTES)
            entropy_hash = commit_entropy(seal.round_id, seal.seat, entropy)
            known = EntropyCommitment(seal.round_id, seal.commitment, seal.seat, entropy, entropy_hash)
            self._identity.keep_entropy_commitment(known)
        return known

    def reveal(self, model: KnownRoom) -> EntropyCommitment | None:
        """Return the commitment whose entropy is to be revealed now, or None if there is nothing to reveal.

        Our entropy is revealed once the server and both players are committed. The other player's hash is stored first,
        so that even a restarted client notices if that hash changes afterwards. Raises OSError if it cannot be stored.
        """
        scene, own, seal = model.scene, model.own, model.seal_check
        known = seal.entropy_commitment
        if scene is None or own is None or scene.phase is not Phase.DEALING or own.entropy:
            return None
        if known is None or not seal.may_reveal:
            return None
        revealed = replace(known, other_hash=seal.entropy_hashes[1 - known.seat])
        self._identity.keep_entropy_commitment(revealed)
        return revealed
