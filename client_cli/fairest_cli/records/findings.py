"""The findings of an audit of a server's chain of rounds, bounded against a server that wants them to have no end."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from fairest_cli.records.uniformity import Uniformity
from fairest_protocol.messages.rounds import ChainedLoss

MAX_ALARMS: Final = 100
MAX_NOTES: Final = 100


@dataclass(slots=True)
class Findings:
    """The result of an audit. `alarms` are sentences about promises that were not kept; `notes` need no action."""

    entries: int = 0
    first: int = 1
    opened: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    """Rounds by how they ended: proved, voided, broken_off, never_ended, open."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Rounds by how and why: `voided: left`, `broken_off: not_revealed`, `proved: won`."""
    decks: dict[str, Uniformity] = field(default_factory=dict)
    certified: int = 0
    dailies: int = 0
    """Daily deals that were announced: they are no rounds, and last longer."""
    dailies_called_off: int = 0
    losses: list[ChainedLoss] = field(default_factory=list)
    own_rounds: int = 0
    """Rounds of this machine's receipts that stand in the chain as they were shown."""
    own_heads: int = 0
    """Heads shown to this machine's clients that the chain holds."""
    alarms: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def decided(self) -> int:
        """Rounds to which both players were bound, or that never ended: those in which a server may cheat."""
        return self.ends["proved"] + self.ends["broken_off"] + self.ends["never_ended"]

    @property
    def proved_share(self) -> float:
        """The share of those rounds whose deck everybody can deal; 1.0 if there are none."""
        return self.ends["proved"] / self.decided if self.decided else 1.0

    def alarm(self, sentence: str) -> None:
        """Add an alarm, unless there are very many."""
        if len(self.alarms) < MAX_ALARMS:
            self.alarms.append(sentence)

    def note(self, sentence: str) -> None:
        """Add a note, unless there are very many."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(sentence)
