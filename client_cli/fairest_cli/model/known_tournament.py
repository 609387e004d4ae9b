"""A tournament as one player, or a spectator, knows it: what the server has shown, and our entropies. Pure."""

from collections.abc import Mapping

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.tournament_game import RoundWitness, TournamentGame, witness_round
from fairest_protocol.calculation.seal import commit_entrant
from fairest_protocol.messages.tournaments import Tournament, TournamentPair, TournamentPhase, TournamentRound
from fairest_protocol.value import Value, replace


class KnownTournament(Value):
    """A tournament as the server has `shown` it last to the player `name`, what we witnessed of its rounds, and our
    entropies of those for which the server has taken our hash, by their numbers.
    """

    name: str
    shown: Tournament
    witnesses: Mapping[int, RoundWitness] = {}
    entropies: Mapping[int, bytes] = {}

    def after(self, shown: Tournament) -> "KnownTournament":
        """Return the model after the server has shown the tournament, unless we have seen a newer version.

        Raises `Cheated`.
        """
        if shown.version < self.shown.version:
            return self
        witnesses = dict(self.witnesses)
        for played in shown.played:
            known, entropy = witnesses.get(played.number), self.entropies.get(played.number)
            own = None if entropy is None else (self.name, commit_entrant(played.round, self.name, entropy))
            witnesses[played.number] = witness_round(known, shown, played, own)
        after = replace(self, shown=shown, witnesses=witnesses)
        self._check_own_bytes(after)
        return after

    def with_entropy(self, number: int, entropy: bytes) -> "KnownTournament":
        """Return the model after the server has taken the hash of our entropy for a round."""
        return replace(self, entropies={**self.entropies, number: entropy})

    def with_race(self, game: TournamentGame) -> "KnownTournament":
        """Return the model after we were shown our race, or a move of it."""
        known = self.witnesses[game.number]
        witness = replace(known, envelopes=game.envelopes, moves=game.moves, result=game.result)
        return replace(self, witnesses={**self.witnesses, game.number: witness})

    @property
    def newest(self) -> TournamentRound:
        """The newest round of a tournament that has begun."""
        return self.shown.played[-1]

    @property
    def has_entered(self) -> bool:
        """Whether we are a player of it, or were one."""
        return any(row.name == self.name for row in self.shown.standings)

    @property
    def has_left(self) -> bool:
        """Whether we have entered, and have left."""
        return any(row.name == self.name and row.has_left for row in self.shown.standings)

    @property
    def pair(self) -> TournamentPair | None:
        """Our pair in the newest round, None if we have none, or have left."""
        if not self.shown.played or self.has_left:
            return None
        return next((each for each in self.newest.pairs if self.name in each.names), None)

    @property
    def is_ready_wanted(self) -> bool:
        """Whether we are to get ready for the newest round."""
        is_gathering = self.shown.phase is TournamentPhase.GATHERING and self.pair is not None
        return is_gathering and all(each.name != self.name for each in self.newest.ready)

    @property
    def due_entropy(self) -> bytes | None:
        """The entropy that we are to show now, if we are."""
        if self.shown.phase is not TournamentPhase.REVEALING or self.pair is None:
            return None
        is_due = any(each.name == self.name and each.entropy is None for each in self.newest.ready)
        return self.entropies.get(self.newest.number) if is_due else None

    def _check_own_bytes(self, after: "KnownTournament") -> None:
        """Check that a deal for which the server has taken our entropy, or lets us race, is made of it as well.

        Raises `Cheated`.
        """
        if after.shown.phase is not TournamentPhase.RACING or after.newest.number not in self.entropies:
            return
        number, before = after.newest.number, self.shown.played[-1:]
        was_shown = any(
            each.name == self.name and each.entropy is not None
            for played in before
            if played.number == number
            for each in played.ready
        )
        is_in = any(name == self.name for name, _ in after.witnesses[number].entropies)
        if not is_in and (was_shown or not after.has_left):
            raise Cheated(f"The server left our bytes out of the deal of round {number}.")
