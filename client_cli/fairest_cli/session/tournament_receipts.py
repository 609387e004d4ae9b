"""The receipt of a tournament while it is followed: read when the client starts, and written when something is new."""

from pathlib import Path

from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.records.tournament_receipt import TournamentReceipt, keep_receipt, load_receipt
from fairest_protocol.calculation.rules import find_variant
from fairest_protocol.messages.tournaments import Tournament


class TournamentReceipts:
    """The receipts in a folder of a server's tournaments; without a folder, none is read or written.

    `key` is the public key of the server, None before it has shown one.
    """

    def __init__(self, server: str, folder: Path | None) -> None:
        self._server = server
        self._folder = folder

    def begin(self, name: str, shown: Tournament, key: bytes | None) -> KnownTournament:
        """Return a tournament as an earlier run of this client has left it, as it is shown first if there was none."""
        receipt = None
        if self._folder is not None and key is not None:
            receipt = load_receipt(self._folder, shown.code, name, key)
        if receipt is None or receipt.tournament.hex() != shown.tournament:
            return KnownTournament(name, shown)
        return KnownTournament(name, shown, receipt.rounds)

    def keep(self, known: KnownTournament, key: bytes | None) -> str:
        """Write what a player was shown so far; return why that was impossible, or nothing."""
        shown = known.shown
        if self._folder is None or key is None or not known.has_entered:
            return ""
        rules, tournament = find_variant(shown.rules).rules, bytes.fromhex(shown.tournament)
        receipt = TournamentReceipt(self._server, key, tournament, shown.code, known.name, rules, known.witnesses)
        try:
            keep_receipt(self._folder, receipt)
        except OSError as reason:
            return f"The receipt of this tournament could not be written: {reason.strerror or reason}."
        return ""
