"""The audit of a server's chain of rounds: every hash, number and end, and the rounds that this machine knows of. Pure.

A `ChainReader` takes the pages in order and counts. `compare_known` then holds the chain against the heads and the
receipts of this machine's players, which no server can take back.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fairest_cli.records.findings import Findings
from fairest_cli.records.heads import CLOCK_MS
from fairest_cli.records.receipt_rounds import SeenRound, compare_end
from fairest_cli.records.uniformity import RankTable
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.rules import BadRules, choose_rules
from fairest_protocol.calculation.seal import NO_ROUNDS, chain_round_line
from fairest_protocol.messages.rounds import (
    CERTIFIED_SUFFIX,
    DAILY_SUFFIX,
    MERGE_SECONDS,
    TOURNAMENT_SUFFIX,
    ChainedEnd,
    ChainedLoss,
    ChainedOpening,
    RoundEnd,
    RoundsHead,
    RoundsPage,
    parse_chained,
)

LONGEST_ROUND_MS: Final = 4 * 3600 * 1000
"""A round that has no end after this time has none: getting ready takes an hour at most, a race two."""
GRACE_MS: Final = 2 * MERGE_SECONDS * 1000
"""A round is missed when it is not in the chain for this long: twice the time that is promised."""
STALE_MS: Final = 10 * 60 * 1000
"""A head that is older than this hides rounds, and behind one that is so far ahead a later one may hide them. The clock
of a player's machine may be wrong by some minutes.
"""
MAX_LOSSES: Final = 1_000
"""A server that has lost entries more often than this withdraws its rounds at will."""
MAX_VARIANTS: Final = 100
"""More variants than anybody plays. A table is kept of the decks of each."""
UNIFORM_BELOW: Final = 1e-6
"""A p-value below this is an alarm: one audit in a million of an honest server, for each variant."""


class BrokenChain(ValueError):
    """The pages are not the chain that the head signs. The text says where they differ."""


@dataclass(slots=True)
class _Opened:
    """A round that was opened, and has not ended yet."""

    number: int
    at_ms: int
    rules: str


class ChainReader:
    """Reads the chain up to a head, page by page. `wanted` are commitments whose entries are kept for comparison."""

    def __init__(self, head: RoundsHead, wanted: frozenset[str], heads: Sequence[RoundsHead]) -> None:
        self.findings = Findings()
        self.kept_openings: dict[str, ChainedOpening] = {}
        self.kept_ends: dict[str, ChainedEnd] = {}
        self.first_at_ms: int | None = None
        """The time of the first entry that was read."""
        self.loss_times: list[tuple[int, int]] = []
        """For each declared loss, the time of the entry before it, and its own: what was lost happened between them."""
        self.chains: dict[int, bytes] = {}
        """The chain at each number at which a head of this machine stands."""
        self._head = head
        self._wanted = wanted
        self._asked = {each.number for each in heads}
        self._number: int | None = None
        self._chain = NO_ROUNDS
        self._last_ms = 0
        self._dailies: set[bytes] = set()
        """The commitments to daily deals."""
        self._open: dict[bytes, _Opened] = {}
        self._ended: dict[bytes, bytes] = {}
        """For each commitment with an end, a hash of that end."""
        self._tables: dict[str, RankTable | None] = {}

    @property
    def number(self) -> int:
        """The number of the last entry that was read."""
        return self._number or 0

    def add_page(self, page: RoundsPage, page_lines: int) -> None:
        """Take the next page. Raises `BrokenChain`."""
        first = page.page * page_lines + 1
        if self._number is None:
            if page.page == 0 and page.before != NO_ROUNDS:
                raise BrokenChain("The first entry of the chain follows another one.")
            self._number, self._chain, self.findings.first = first - 1, page.before, first
            self._note_chain()
        if first != self.number + 1 or page.before != self._chain:
            raise BrokenChain(f"Page {page.page} does not follow the page before it.")
        for line in page.lines[: self._head.number - self.number]:
            self._add_line(line)

    def finish(self) -> Findings:
        """Conclude when the last page was added. Raises `BrokenChain` if the chain is not the one that was signed."""
        findings = self.findings
        if (self.number, self._chain) != (self._head.number, self._head.chain):
            raise BrokenChain("The chain does not end with the hash that the server has signed.")
        for opened in self._open.values():
            is_old = opened.at_ms + LONGEST_ROUND_MS < self._head.at_ms
            findings.ends["never_ended" if is_old else "open"] += 1
        if findings.dailies:
            called_off = f"; called off: {findings.dailies_called_off}" if findings.dailies_called_off else ""
            findings.note(f"Daily deals that were announced: {findings.dailies}{called_off}.")
        if findings.certified:
            findings.note(f"Certified decks, which are not tested to be uniform: {findings.certified}.")
        for name, table in sorted(self._tables.items()):
            if table is None:
                findings.note(f"This client does not know the rules {clean(name)}, and deals none of their decks.")
                continue
            result = findings.decks[name] = table.judge()
            if result.p_value < UNIFORM_BELOW:
                findings.alarm(
                    f"The decks of {name} are not uniform: chi-square {result.chi_square:.0f} with {result.freedom} "
                    f"degrees of freedom over {result.decks} decks, p = {result.p_value:.1e}."
                )
        return findings

    def _add_line(self, line: str) -> None:
        self._number = number = self.number + 1
        self._chain = chain_round_line(self._chain, line)
        self._note_chain()
        self.findings.entries += 1
        try:
            entry = parse_chained(line)
        except ValueError:
            raise BrokenChain(f"Entry {number} is not an entry of a chain of rounds.") from None
        if entry.number != number:
            raise BrokenChain(f"Entry {number} says that it is entry {entry.number}.")
        if self.first_at_ms is None:
            self.first_at_ms = entry.at_ms
        match entry:
            case ChainedOpening():
                self._add_opening(entry)
            case ChainedEnd():
                self._add_end(entry)
            case ChainedLoss():
                if len(self.findings.losses) == MAX_LOSSES:
                    raise BrokenChain(f"The server says more than {MAX_LOSSES} times that it has lost entries.")
                self.findings.losses.append(entry)
                self.loss_times.append((self._last_ms, entry.at_ms))
        self._last_ms = entry.at_ms

    def _note_chain(self) -> None:
        if self.number in self._asked:
            self.chains[self.number] = self._chain

    def _add_opening(self, entry: ChainedOpening) -> None:
        if entry.commitment in self._open or entry.commitment in self._ended:
            # Redis lost its end, and an entry joined the chain again; a second round has a commitment of its own.
            self.findings.note(f"Entry {entry.number} opens a round a second time.")
            return
        if entry.rules.partition(" ")[0].endswith(DAILY_SUFFIX):
            self.findings.dailies += 1
            self._dailies.add(entry.commitment)
            return
        self.findings.opened += 1
        # The deck of a tournament's round follows from its seed as that of any other round.
        rules = entry.rules.replace(f"{TOURNAMENT_SUFFIX} ", " ")
        self._open[entry.commitment] = _Opened(entry.number, entry.at_ms, rules)
        if entry.commitment.hex() in self._wanted:
            self.kept_openings[entry.commitment.hex()] = entry

    def _add_end(self, entry: ChainedEnd) -> None:
        findings, where = self.findings, f"Entry {entry.number}"
        digest = hashlib.sha256(entry.model_dump_json(exclude={"number", "at_ms"}).encode()).digest()
        if entry.commitment in self._ended:
            if self._ended[entry.commitment] != digest:
                findings.alarm(f"{where} ends a round in another way than an entry before it.")
            return
        self._ended[entry.commitment] = digest
        if entry.commitment in self._dailies:
            findings.dailies_called_off += entry.how is RoundEnd.VOIDED
            return
        opened = self._open.pop(entry.commitment, None)
        if opened is None and findings.first == 1 and not findings.losses:
            findings.note(f"{where} ends a round that was opened before the chain began.")
        if entry.commitment.hex() in self._wanted:
            self.kept_ends[entry.commitment.hex()] = entry
        findings.ends[entry.how] += 1
        findings.reasons.update(f"{entry.how}: {reason}" for reason in _reasons(entry))
        problem = _end_problem(entry)
        if problem:
            findings.alarm(f"{where} {problem}.")
        elif opened is not None and entry.seed is not None:
            self._count_deck(opened.rules, entry.seed)

    def _count_deck(self, rules_text: str, seed: bytes) -> None:
        name = rules_text.partition(" ")[0]
        if name.endswith(CERTIFIED_SUFFIX):
            self.findings.certified += 1
            return
        if name not in self._tables:
            if len(self._tables) == MAX_VARIANTS:
                raise BrokenChain(f"The rounds of the chain have more than {MAX_VARIANTS} variants.")
            try:
                self._tables[name] = RankTable(choose_rules(name, None, None))
            except BadRules:
                self._tables[name] = None
        table = self._tables[name]
        if table is not None:
            table.add(seed)


def _reasons(entry: ChainedEnd) -> list[str]:
    """Return why a round ended as it did: one reason, or those of both seats where they differ."""
    if entry.endings is None:
        return [entry.why or "no reason"]
    return sorted({str(ending) for ending in entry.endings} - {"round_over"}) or ["round_over"]


def _end_problem(entry: ChainedEnd) -> str:
    """Return the promise that the end of a round breaks, or nothing."""
    is_proved = entry.how is RoundEnd.PROVED
    if all(entry.revealed) != is_proved or (entry.seed is not None) != is_proved:
        return "is proved without a deck" if is_proved else "holds a deck, and is not proved"
    if (entry.endings is None) != (entry.how is RoundEnd.VOIDED) or (entry.why is None) == (entry.endings is None):
        return f"cannot end as {entry.how.replace('_', ' ')} in this way"
    return ""


def compare_known(
    reader: ChainReader, head: RoundsHead, heads: Sequence[RoundsHead], rounds: Sequence[SeenRound], now_ms: int
) -> None:
    """Add to the findings what the heads and the rounds that this machine knows of say about the chain.

    `now_ms` is the time of this machine's clock.
    """
    findings = reader.findings
    for shown in (head, *heads):
        if shown.at_ms > now_ms + STALE_MS:
            findings.alarm(
                f"Entry {shown.number} was signed {(shown.at_ms - now_ms) // 60_000} minutes in the future, by this "
                "machine's clock: an older head of the chain would pass as one that was signed later."
            )
    if head.at_ms + STALE_MS < now_ms:
        findings.alarm(
            f"The head of the chain is {(now_ms - head.at_ms) // 60_000} minutes old, by this machine's clock: "
            "rounds that were opened since are not in it."
        )
    older = 0
    for shown in heads:
        if shown.number < findings.first - 1:
            older += 1
        elif reader.chains.get(shown.number, NO_ROUNDS if not shown.number else None) == shown.chain:
            findings.own_heads += 1
        elif shown.number > head.number and shown.at_ms + CLOCK_MS > head.at_ms:
            # Another process has read the end of the chain a moment later than the one that we asked.
            continue
        elif not _is_declared_lost(shown, findings.losses):
            findings.alarm(_lost_head(shown, head))
    if older:
        findings.note(f"{older} heads that you were shown are older than the entries that the server keeps.")
    # A server has a chain from the first head on that it has shown, or the first entry; its rounds before are in none.
    began_ms = reader.first_at_ms
    if began_ms is None:
        began_ms = min((shown.at_ms for shown in heads), default=head.at_ms)
    newer = [seen for seen in rounds if _is_there(seen, reader) or seen.seen_ms + GRACE_MS >= began_ms]
    if len(newer) < len(rounds):
        count = len(rounds) - len(newer)
        findings.note(f"{count} rounds of your receipts are older than the entries that the server keeps.")
    for seen in newer:
        _compare_round(reader, head, seen)


def _is_there(seen: SeenRound, reader: ChainReader) -> bool:
    return seen.commitment in reader.kept_openings or seen.commitment in reader.kept_ends


def _compare_round(reader: ChainReader, head: RoundsHead, seen: SeenRound) -> None:
    findings, name = reader.findings, f"The round {seen.round_id[:16]} of {clean(seen.file)}"
    opening, end = reader.kept_openings.get(seen.commitment), reader.kept_ends.get(seen.commitment)
    is_due = seen.seen_ms + GRACE_MS < head.at_ms
    if opening is None and end is None:
        if any(before - GRACE_MS <= seen.seen_ms <= after + GRACE_MS for before, after in reader.loss_times):
            findings.note(f"{name} was opened when the server, as it says, lost entries.")
        elif is_due:
            findings.alarm(f"{name} is not in the chain, although the server has committed itself to it.")
        return
    if opening is not None and seen.rules and opening.rules != seen.rules:
        findings.alarm(f"{name} was opened for {clean(seen.rules)}, and is in the chain for {opening.rules}.")
    if end is None:
        is_late = seen.is_bound and seen.seen_ms + LONGEST_ROUND_MS < head.at_ms
        if (seen.how and is_due) or is_late:
            findings.alarm(f"{name} has ended, and has no end in the chain.")
        return
    problems = list(compare_end(seen, end.model_dump(mode="json")))
    for problem in problems:
        findings.alarm(f"{name} {problem}.")
    findings.own_rounds += not problems


def _is_declared_lost(shown: RoundsHead, losses: Sequence[ChainedLoss]) -> bool:
    """Return whether the server has declared that its Redis lost the entry at which this head stood."""
    return any(loss.number <= shown.number <= loss.lost_number for loss in losses)


def _lost_head(shown: RoundsHead, head: RoundsHead) -> str:
    what = "is not in the chain" if shown.number <= head.number else f"is behind its end, entry {head.number}"
    return f"Entry {shown.number}, whose signed hash {shown.chain.hex()[:16]} you were shown, {what}."
