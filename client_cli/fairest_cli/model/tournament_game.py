"""A race in a tournament as the client knows it, and the checks that hold the server to the deal of each round. Pure.

The server commits itself to a secret before anybody is ready. We show our entropy only when the hashes of all others
are shown, and note them. When the round is over the secret is shown, and the deck is dealt again.
"""

from collections.abc import Sequence
from typing import ClassVar

from fairest_cli.model.cheated import Cheated, name_place
from fairest_cli.model.deal_check import first_wrong_envelope
from fairest_cli.model.solo_game import SoloGame, after_deal, after_entries, check_start, empty_scene
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.calculation.rules import Rules, find_variant
from fairest_protocol.calculation.seal import commit_entrant, commit_secret, hash_tournament_round
from fairest_protocol.calculation.tournament import tournament_seed
from fairest_protocol.messages.entries import Moved
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.messages.tournaments import (
    RaceScore,
    Tournament,
    TournamentPhase,
    TournamentRace,
    TournamentRound,
)
from fairest_protocol.value import Value, replace


class TournamentGame(SoloGame):
    """A race of ours in the round `number` of a tournament: what the server has shown of it, and our moves so far."""

    WHAT: ClassVar[str] = "the round's deal"
    code: str
    number: int
    result: RaceScore | None = None
    moves: tuple[Move, ...] = ()


class RoundWitness(Value):
    """A round as we were shown it: once we have shown our entropy, the hashes of all who were ready, by name; once
    the cards were dealt, the entropies; of our own race the envelopes, our moves and the result; and the secret.

    `seen_ms` is the time at which the round was first shown, on the server's clock.
    """

    round_id: bytes
    commitment: bytes
    hashes: tuple[tuple[str, bytes], ...] = ()
    entropies: tuple[tuple[str, bytes], ...] = ()
    envelopes: Sequence[Sequence[bytes]] = ()
    secret: bytes | None = None
    moves: tuple[Move, ...] = ()
    result: RaceScore | None = None
    seen_ms: int = 0

    @property
    def seed(self) -> bytes | None:
        """The seed of its deal, None as long as the secret and the entropies are not known."""
        if self.secret is None or not self.entropies:
            return None
        return tournament_seed(self.secret, self.entropies, self.round_id)


def witness_round(
    known: RoundWitness | None, tournament: Tournament, shown: TournamentRound, own: tuple[str, bytes] | None
) -> RoundWitness:
    """Return what we know of a round after the server has shown it. `own` is our name with our hash, if we sent one.

    Raises `Cheated`.
    """
    round_id = hash_tournament_round(bytes.fromhex(tournament.tournament), shown.number)
    if shown.round != round_id or (known is not None and known.commitment != shown.commitment):
        raise Cheated(f"The server shows another commitment for round {shown.number} than before.")
    known = known or RoundWitness(round_id, shown.commitment, seen_ms=tournament.now_ms)
    is_newest = shown is tournament.played[-1]
    if is_newest and tournament.phase in (TournamentPhase.REVEALING, TournamentPhase.RACING):
        known = _witness_entropies(known, tournament.phase, shown, own)
    if shown.secret is not None and known.secret is None:
        known = replace(known, secret=shown.secret)
        check_deck(find_variant(tournament.rules).rules, known, shown.number)
    return known


def check_deck(rules: Rules, known: RoundWitness, number: int) -> None:
    """Check the secret of a round that is over; with the entropies, deal the deck again and compare the envelopes.

    Raises `Cheated`.
    """
    assert known.secret is not None, "the round is over"
    if commit_secret(known.round_id, known.secret) != known.commitment:
        raise Cheated(f"The secret of round {number} does not belong to its commitment.")
    if known.seed is None:
        return
    wrong = first_wrong_envelope(known.envelopes, seal_deal(rules, known.seed, known.round_id).envelopes)
    if wrong is not None:
        raise Cheated(f"The envelope at {name_place(wrong)} of round {number} holds another deal's card.")


def begin_race(
    tournament: Tournament, witness: RoundWitness, race: TournamentRace, now_ms: int, known: TournamentGame | None
) -> TournamentGame:
    """Return our race as the answer to `race_tournament` shows it. `known` is the same race as we knew it before.

    Raises `Cheated`.
    """
    rules = find_variant(tournament.rules).rules
    check_start(rules, race.entries, TournamentGame.WHAT)
    game = TournamentGame(
        rules, witness.round_id, empty_scene(rules), race.until_ms, now_ms - race.now_ms, race.code, race.round
    )
    game = _with_result(_after_moves(game, race), race)
    if (
        (witness.envelopes and witness.envelopes != game.envelopes)
        or witness.moves != game.moves[: len(witness.moves)]
        or (witness.result is not None and witness.result != game.result)
        or (known is not None and game.own.moves < known.own.moves)
    ):
        raise Cheated(f"The server shows another race of ours in round {race.round} than before.")
    return game


def after_race(game: TournamentGame, race: TournamentRace) -> TournamentGame:
    """Return our race after the answer to a move. Raises `Cheated`."""
    if (race.code, race.round) != (game.code, game.number):
        raise Cheated("The server answers a move with another race.")
    following = _after_moves(after_deal(game, race.entries), race)
    return _with_result(replace(following, until_ms=race.until_ms), race)


def refusal_of(game: TournamentGame, move: Move) -> str:
    """Return why a move cannot be made now, or nothing if it can."""
    if game.result is not None:
        return "Your race is over."
    if move is RESIGN:
        return "Stop ends your race; the cards that you have placed count."
    illegal = None if move is STOP else game.board.refusal(move)
    return SENTENCES[Refusal(illegal)] if illegal else ""


def _witness_entropies(
    known: RoundWitness, phase: TournamentPhase, shown: TournamentRound, own: tuple[str, bytes] | None
) -> RoundWitness:
    hashes = tuple(sorted((each.name, each.entropy_hash) for each in shown.ready))
    if known.hashes and known.hashes != hashes:
        raise Cheated(f"The server shows other hashes for round {shown.number} than before.")
    if own is not None and own not in hashes:
        raise Cheated(f"The server does not show the hash that we sent for round {shown.number}.")
    entropies = tuple(sorted((each.name, each.entropy) for each in shown.ready if each.entropy is not None))
    for name, entropy in entropies:
        if (name, commit_entrant(known.round_id, name, entropy)) not in hashes:
            raise Cheated(f"The bytes of {name} for round {shown.number} do not belong to their hash.")
    if phase is not TournamentPhase.RACING:
        return replace(known, hashes=hashes)
    if known.entropies and known.entropies != entropies:
        raise Cheated(f"The server shows other bytes for round {shown.number} than before.")
    return replace(known, hashes=hashes, entropies=entropies)


def _after_moves(game: TournamentGame, race: TournamentRace) -> TournamentGame:
    moves = tuple(entry.move for entry in race.entries if isinstance(entry, Moved))
    return replace(after_entries(game, race.entries), moves=(*game.moves, *moves))


def _with_result(game: TournamentGame, race: TournamentRace) -> TournamentGame:
    """Return the game with the result that the server shows, which has to be that of our board."""
    if race.moves != game.own.moves:
        raise Cheated(f"The server counts {race.moves} moves of ours, and has shown {game.own.moves}.")
    result, board = race.result, game.board
    if result is not None and (result.won, result.placed, result.direct) != (board.is_won, board.placed, board.direct):
        raise Cheated("The result of our race is not that of our board.")
    return replace(game, result=result)
