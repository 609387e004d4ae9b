"""The races of a tournament's round that is over, to be looked at again: fetched, proved, and shown as a match."""

from collections.abc import Sequence

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.tournament_check import check_race
from fairest_cli.records.tournament_match import races_as_match
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.tournament_pages import fetch_race, fetch_tournament
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.messages.tournaments import RaceScore, Tournament, TournamentRound


def open_races(server: str, code: str, number: int | None, player: str | None, own: Sequence[str]) -> Record:
    """Return the race of a player in a round, with that of the opponent beside it if there is one, as a match.

    Without a `number` it is the last round that is over. Without a `player` it is the first one of the names `own` who
    raced in it, or else the one with the best score. Raises `PageUnreadable`, and `Cheated` for a record that does not
    prove itself, or is of another race than the tournament shows. Blocks on the network.
    """
    shown = fetch_tournament(server, code)
    played = _round_of(shown, number)
    scores = {
        name: score
        for pair in played.pairs
        for name, score in zip(pair.names, pair.scores, strict=True)
        if name is not None and score is not None
    }
    name = _player_of(played, scores, player, own)
    pair = next(each for each in played.pairs if name in each.names)
    other = next((each for each in pair.names if each != name and each in scores), None)
    records = [_proved(server, shown, played, each, scores[each]) for each in (name, other) if each is not None]
    return races_as_match(*records)


def _round_of(shown: Tournament, number: int | None) -> TournamentRound:
    over = [played for played in shown.played if played.secret is not None]
    if not over:
        raise PageUnreadable("No round of this tournament is over yet; a race is shown when its round is over.")
    found = over[-1] if number is None else next((each for each in over if each.number == number), None)
    if found is None:
        last = over[-1].number
        raise PageUnreadable(f"Round {number} of this tournament is not over; the last one that is, is round {last}.")
    return found


def _player_of(played: TournamentRound, scores: dict[str, RaceScore], player: str | None, own: Sequence[str]) -> str:
    if not scores:
        raise PageUnreadable(f"Nobody raced in round {played.number}.")
    by_lower = {name.lower(): name for name in scores}
    if player is not None:
        if player.lower() not in by_lower:
            raise PageUnreadable(f"{clean(player)} did not race in round {played.number}; {_listed(scores)} did.")
        return by_lower[player.lower()]
    ours = next((by_lower[name.lower()] for name in own if name.lower() in by_lower), None)
    return ours or max(scores, key=lambda name: _order(scores[name]))


def _order(score: RaceScore) -> tuple[bool, int, int, int]:
    return score.won, score.placed, score.direct, -score.time_ms


def _listed(scores: dict[str, RaceScore]) -> str:
    return ", ".join(clean(name) for name in sorted(scores))


def _proved(server: str, shown: Tournament, played: TournamentRound, name: str, score: RaceScore) -> TournamentRecord:
    try:
        record = fetch_race(server, shown.code, played.number, name)
    except BadRecord as reason:
        raise Cheated(f"The record of {name} does not prove itself: {reason}.") from reason
    check_race(shown, played, name, score, record)
    return record
