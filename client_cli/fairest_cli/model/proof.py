"""The sentences in which a client says what the end of a round has proved about its deal."""

from collections.abc import Iterator

from fairest_cli.model.seal_check import SealCheck
from fairest_protocol.calculation.certified import STEPS, CertifiedStep


def describe_proof(check: SealCheck) -> Iterator[str]:
    """Yield sentences on what the end of a round has proved about its deal, none for a round without a deal."""
    if not check.envelopes:
        return
    count = check.proved_envelopes
    if count is None:
        yield "NOT PROVED: this client does not know these rules; a newer one can prove the record: fairest verify."
        return
    yield f"Sealed deal: all {count} cards match their envelopes; the commitment was kept."
    if check.certified is not None:
        yield f"Certified deal: {describe_step(check.certified)}."


def describe_step(found: CertifiedStep) -> str:
    """Return what the steps of a certified round have shown, as a clause."""
    if not found.is_proved:
        return f"NOT PROVED winnable, as none of {STEPS} steps was; so the last one was dealt"
    return f"proved winnable at step {found.step + 1} of {STEPS}{', and at none before' if found.step else ''}"
