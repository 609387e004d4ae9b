"""Compares a record with the player's own receipt: whether it is the match that this client was shown. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.records.receipt_replay import RoundEnds, RunBegan, Step, replay_receipt
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.deal import Deal, make_deal
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Leave, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Left, Snapshot


@dataclass(slots=True)
class _ReadSoFar:
    """The contents of the lines of the receipt that were read so far.

    `rounds` are all rounds in the order in which they were shown. `match_start` is the index in `rounds` of the first
    round of the present match; `match_starts` has, for each round, the index of the first round of its match.
    `committed` are the rounds to which both players were committed. `cards`, `moves` and `results` count the entries
    that were compared with the record.
    """

    rounds: list[bytes] = field(default_factory=list)
    committed: set[bytes] = field(default_factory=set)
    match_starts: dict[bytes, int] = field(default_factory=dict)
    match_start: int = 0
    cards: int = 0
    moves: int = 0
    results: int = 0


def compare_receipt(record: Record, lines: Iterable[str]) -> Iterator[str]:
    """Replay the receipt, compare every entry that it holds with the record, and yield sentences on the result.

    Raises `WrongRecord` at the first difference, and where the receipt shows that the server broke the seal. Raises
    `BadReceipt`.
    """
    comparison, ends = _Comparison(record), RoundEnds()
    for step in replay_receipt(lines):
        comparison.take(step)
        ends.take(step)
    yield from comparison.conclude()
    yield from ends.conclude()


class _Comparison:
    """A receipt that is being compared with a record, step by step."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._rounds = {played.round_id: played for played in record.rounds}
        self._deals: dict[bytes, Deal] = {}
        self._model = KnownRoom()
        self._read = _ReadSoFar()

    def take(self, step: Step) -> None:
        """Compare the next step. Raises `WrongRecord` at a difference."""
        self._model, where = step.model, step.where
        match step.what:
            case Ready(round=round_id, entropy_hash=entropy_hash):
                if round_id not in self._read.rounds:
                    raise WrongRecord(f"{where}: we committed ourselves to a round before its commitment was shown.")
                self._compare_own(round_id, "entropy hash", entropy_hash, where)
            case Reveal(round=round_id, entropy=entropy):
                self._compare_own(round_id, "entropy", entropy, where)
            case Snapshot():
                if step.model.seal_check.round_id != step.before.seal_check.round_id:
                    # The end of a match may have been missed: only the rounds from here on surely belong to one match.
                    self._read.match_start = len(self._read.rounds)
                self._note_round()
                self._compare_seal(where)
            case RunBegan(key=key):
                if key != self._record.key.hex():
                    raise WrongRecord(
                        f"{where}: the server had the key {clean(str(key))[:64]}, not that of the record."
                    )
            case Play() | Leave() | Left() | None:
                pass
            case entry:
                self._note_round()
                self._compare_seal(where)
                self._compare_entry(entry, where)

    def _compare_own(self, round_id: bytes, what: str, value: bytes, where: str) -> None:
        """Compare bytes that we sent with the record. It may lack them, if they came too late, but not have others."""
        played, seat = self._rounds.get(round_id), self._model.seat
        if played is None or seat is None:
            return
        recorded = (played.entropy_hashes if what == "entropy hash" else played.entropies)[seat]
        if recorded is not None and recorded != value:
            raise WrongRecord(f"{where}: the record has another {what} for us than the one that we sent.")

    def _note_round(self) -> None:
        seal, read = self._model.seal_check, self._read
        if seal.round_id is None:
            return
        if seal.round_id not in read.rounds:
            read.rounds.append(seal.round_id)
        read.match_starts.setdefault(seal.round_id, read.match_start)
        if seal.both_committed:
            read.committed.add(seal.round_id)

    def _compare_seal(self, where: str) -> None:
        seal = self._model.seal_check
        played = self._rounds.get(seal.round_id or b"")
        if played is None:
            return
        pairs: tuple[tuple[str, object, object], ...] = (
            ("commitment", seal.commitment, played.commitment),
            ("entropy hash of seat 1", seal.entropy_hashes[0], played.entropy_hashes[0]),
            ("entropy hash of seat 2", seal.entropy_hashes[1], played.entropy_hashes[1]),
            ("entropy of seat 1", seal.entropies[0], played.entropies[0]),
            ("entropy of seat 2", seal.entropies[1], played.entropies[1]),
            ("set of envelopes", seal.envelopes or None, played.envelopes),
        )
        for what, shown, recorded in pairs:
            if shown is not None and shown != recorded:
                raise WrongRecord(f"{where}: the record has another {what} than the one that was shown.")

    def _compare_entry(self, entry: Message, where: str) -> None:
        read, round_id = self._read, self._model.seal_check.round_id
        played = self._rounds.get(round_id or b"")
        if isinstance(entry, entries.RoundFinished) and entry.match_is_over:
            read.match_start = len(read.rounds)
        if played is None:
            return
        match entry:
            case entries.Turned():
                if self._deal(played).orders[entry.turn.pass_number][entry.turn.position] != entry.card:
                    raise WrongRecord(f"{where}: the deal of the record has another card than {entry.card} there.")
                read.cards += 1
            case entries.Moved():
                self._compare_move(played, entry, where)
                read.moves += 1
            case entries.RoundFinished(outcome=outcome):
                if outcome != played.outcome:
                    raise WrongRecord(f"{where}: the result that was shown is not the one in the record.")
                read.results += 1
            case _:
                pass

    def _compare_move(self, played: RecordedRound, entry: entries.Moved, where: str) -> None:
        moves = [each.move for each in played.events if isinstance(each, RecordedMove) and each.seat == entry.seat]
        name = clean(self._record.names[entry.seat])
        if entry.number > len(moves) or moves[entry.number - 1] is not entry.move:
            raise WrongRecord(f"{where}: move {entry.number} of {name} was {entry.move}; the record has another one.")

    def _deal(self, played: RecordedRound) -> Deal:
        if played.round_id not in self._deals:
            self._deals[played.round_id] = make_deal(self._record.rules, played.seed)
        return self._deals[played.round_id]

    def conclude(self) -> Iterator[str]:
        """Yield what the whole receipt confirms. Raises `WrongRecord` for another match and for a missing round."""
        read, recorded = self._read, list(self._rounds)
        ours = [index for index, round_id in enumerate(read.rounds) if round_id in self._rounds]
        if not ours:
            raise WrongRecord("The receipt has none of the rounds in this record: it is of another match.")
        first = read.match_starts[read.rounds[ours[0]]]
        for round_id in read.rounds[first : ours[-1]]:
            if round_id not in self._rounds and round_id in read.committed:
                raise WrongRecord(f"The round {round_id.hex()} belongs to this match and is missing in the record.")
        yield f"Receipt: {len(ours)} of {len(recorded)} rounds were shown to you, each before you committed to it."
        yield f"Receipt: {read.cards} cards and {read.moves} moves that you were shown are in the record."
        results = "result of 1 round" if read.results == 1 else f"results of {read.results} rounds"
        yield f"Receipt: you were shown the {results}, and the record has the same."
