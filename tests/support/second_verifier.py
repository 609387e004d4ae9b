"""A second verifier of records, written from docs/protocol.md and docs/rules.md alone.

It imports nothing of fairest, only the second derivation of the deal beside it, and `cryptography` for signatures. It
does not check that the step of a certified round is the first whose deal is proved winnable: that takes our solver.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.support import derivation

LATEST = 253370764800000
PARAMETERS = {  # piles and redeals that a variant allows, and its goal
    "classic": (range(1, 9), range(3), 52),
    "easy": (range(5, 7), range(3), 52),
    "broken": (range(1, 9), range(3), 52),
    "senior": (range(4, 9), range(3), 104),
    "reverse": (range(1, 9), range(3), 52),
    "redeal": (range(1, 9), range(1, 3), 52),
    "betsy-ross": (range(1, 2), range(3), 48),
    "single": (range(1, 2), range(3), 52),
}
TERMS = re.compile(
    r"rules=([a-z-]+) piles=(\d) redeals=(\d) best_of=([13579]) limit_seconds=(\d+) chase_seconds=(\d+) "
    r"grace_seconds=(\d+) ready_seconds=(\d+) reveal_seconds=(\d+) idle_seconds=(\d+) countdown_seconds=(\d+) "
    r"spectators=(?:horizon|open|closed) direct_breaks_ties=(true|false) listed=(?:true|false)( certified=1)?"
    r"( credit=1)?",
    re.ASCII,
)
CLOCKS = ((10, 7200), (5, 7200), (1, 3600), (5, 3600), (1, 60), (5, 3600), (0, 10))
ENDINGS = ("won", "stuck", "stopped", "out_of_time", "away", "resigned", "not_revealed", "round_over")
MOVE = re.compile(r"s[1-8a-h]|[a-h][1-8a-h]|redeal|stop|resign", re.ASCII)


class Refused(Exception):
    """The text is not a record of a match that can have happened."""


def refuse(reason: str) -> NoReturn:
    """Refuse the record."""
    raise Refused(reason)


def demand(condition: bool, reason: str) -> None:
    """Refuse the record unless the condition holds."""
    if not condition:
        refuse(reason)


@dataclass
class Lines:
    """A round as its lines say it."""

    opened: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] | None = None

    @property
    def id(self) -> bytes:
        return bytes.fromhex(self.opened["id"])


def verify(content: bytes) -> None:
    """Check a whole record. Raises `Refused`."""
    demand(len(content) <= 4 * 2**20, "more than 4 MiB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        refuse("not UTF-8")
    demand(text.endswith("\n"), "no line feed at the end")
    lines = text[:-1].split("\n")
    demand(2 <= len(lines) <= 10_000 and max(map(len, lines)) <= 32_768, "too few or too many lines, or too long ones")
    try:
        end = derivation.chain(lines[:-1])
    except (ValueError, UnicodeEncodeError) as reason:
        refuse(str(reason))
    heading, *others = [parse(re.sub(r',"chain":"[0-9a-f]{64}"\}\Z', "}", line)) for line in lines[:-1]]
    seal = parse(lines[-1])
    demand(heading["type"] == "match" and seal["type"] == "seal", "no heading, or no seal")
    rounds: list[Lines] = []
    for line in others:
        if line["type"] == "round":
            rounds.append(Lines(line))
            continue
        demand(bool(rounds) and rounds[-1].result is None, "a line outside of a round")
        if line["type"] == "result":
            rounds[-1].result = line
        else:
            demand(line["type"] in ("move", "stop"), "a line that cannot stand there")
            rounds[-1].events.append(line)
    key = bytes.fromhex(heading["key"])
    check_signature(key, derivation.record_statement(end), seal["signature"])
    check_rounds(heading, key, rounds)


def parse(text: str) -> dict[str, Any]:
    """Parse one line without its chain, and check its spelling and every field by itself."""
    try:
        fields: Any = json.loads(text)
    except (ValueError, RecursionError):
        refuse("not JSON")
    demand(json.dumps(fields, separators=(",", ":")) == text, "another spelling of the line")
    demand(isinstance(fields, dict) and isinstance(fields.get("type"), str), "not an object with a type")
    wanted = FORMS.get(fields["type"])
    if wanted is None:
        refuse("no such type")
    if fields["type"] == "round" and "step" in fields:
        wanted = {**wanted, "step": number(0, 15)}
    if fields["type"] == "result" and "ledger" in fields:
        wanted = {**wanted, "ledger": some(is_timing, 2)}
    demand(list(fields) == ["type", *wanted], "other fields than those of the type, or in another order")
    for name, is_right in wanted.items():
        demand(is_right(fields[name]), f"a wrong {name}")
    return dict(fields)


def matches(pattern: str) -> Callable[[Any], bool]:
    """Return a test for texts of this form."""
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def number(low: int, high: int) -> Callable[[Any], bool]:
    """Return a test for integers in this range."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def octets(count: int) -> Callable[[Any], bool]:
    """Return a test for this many bytes in hexadecimal."""
    return matches(f"[0-9a-f]{{{2 * count}}}")


def some(is_right: Callable[[Any], bool], count: int | None = None) -> Callable[[Any], bool]:
    """Return a test for a list of values that are right, of any length or of this one."""
    return lambda value: isinstance(value, list) and len(value) == (count or len(value)) and all(map(is_right, value))


def or_null(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test that also takes null."""
    return lambda value: value is None or is_right(value)


def is_score(value: Any) -> bool:
    """Return whether this has the fields of a score."""
    if not isinstance(value, dict) or list(value) != ["placed", "goal", "direct", "cards_turned", "ending"]:
        return False
    return all(number(0, 999)(value[name]) for name in ("placed", "goal", "direct", "cards_turned")) and is_ending(
        value["ending"]
    )


def is_timing(value: Any) -> bool:
    """Return whether this has the fields of a row of a ledger."""
    if not isinstance(value, dict) or list(value) != ["arrival_ms", "rtt_us", "credit_ms", "corrected_ms"]:
        return False
    is_time, is_span = or_null(number(0, 10**15 - 1)), number(0, 10**9 - 1)
    return (
        is_time(value["arrival_ms"])
        and is_time(value["corrected_ms"])
        and is_span(value["rtt_us"])
        and is_span(value["credit_ms"])
    )


def is_ending(value: Any) -> bool:
    """Return whether this is the name of an ending."""
    return isinstance(value, str) and value in ENDINGS


def are_terms(value: Any) -> bool:
    """Return whether this text is the terms of a room."""
    found = TERMS.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[1] not in PARAMETERS:
        return False
    piles, redeals, _ = PARAMETERS[found[1]]
    clocks = [found[place] for place in range(5, 12)]
    return (
        (found[13] is None or int(found[2]) + int(found[3]) >= 4)
        and int(found[2]) in piles
        and int(found[3]) in redeals
        and all(len(text) <= 4 and str(int(text)) == text for text in clocks)
        and all(low <= int(text) <= high for text, (low, high) in zip(clocks, CLOCKS, strict=True))
    )


FORMS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "match": {
        "format": number(3, 5),
        "match": octets(16),
        "room": matches(r"[a-z]+(-[a-z]+){1,5}"),
        "names": some(matches(r"[A-Za-z0-9_-]{2,20}"), 2),
        "terms": are_terms,
        "finished_at_ms": number(0, LATEST),
        "key": octets(32),
    },
    "round": {
        "id": octets(16),
        "commitment": octets(32),
        "signature": octets(64),
        "secret": octets(32),
        "entropy_hashes": some(or_null(octets(32)), 2),
        "entropies": some(or_null(octets(32)), 2),
        "envelopes": some(some(octets(32))),
    },
    "move": {
        "at_ms": number(0, LATEST),
        "seat": number(0, 1),
        "move": lambda value: isinstance(value, str) and MOVE.fullmatch(value) is not None,
    },
    "stop": {
        "at_ms": or_null(number(0, LATEST)),
        "seats": some(number(0, 1)),
        "ending": lambda value: value in ("out_of_time", "away", "resigned", "round_over"),
    },
    "result": {"winner": or_null(number(0, 1)), "scores": some(is_score, 2)},
    "seal": {"signature": octets(64)},
}


def check_signature(key: bytes, statement: bytes, signature: str) -> None:
    """Refuse a statement that the key did not sign."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(bytes.fromhex(signature), statement)
    except (InvalidSignature, ValueError):
        refuse("a wrong signature")


def check_rounds(heading: dict[str, Any], key: bytes, rounds: list[Lines]) -> None:
    """Check which rounds there are, and each of them."""
    found = TERMS.fullmatch(heading["terms"])
    assert found
    demand(heading["format"] == (5 if found[14] else 4 if found[13] else 3), "another format than that of the terms")
    for each in rounds:
        is_certified = found[13] is not None and None not in each.opened["entropies"]
        demand(("step" in each.opened) == is_certified, "a step too many, or none")
    rules, piles, redeals, best_of, ties = found[1], int(found[2]), int(found[3]), int(found[4]), found[12] == "true"
    demand(len({each.id for each in rounds}) == len(rounds), "a round twice")
    first = next((place for place, each in enumerate(rounds) if each.result), None)
    if first is None:
        refuse("no round has a result")
    demand(first <= 1000, "too many rounds were called off before")
    demand(rounds[first].id.hex() == heading["match"], "the match has another id than its first round")
    wins, results = [0, 0], 0
    for place, each in enumerate(rounds):
        is_of_match = place >= first
        if is_of_match:
            demand(results < best_of and 2 * max(wins) <= best_of, "a round after the end of the match")
        check_seal(heading["terms"], key, each, *((heading["match"], place - first + 1) if is_of_match else (None, 1)))
        shown = each.opened["entropies"]
        if each.result is None:
            demand(not is_of_match or place == len(rounds) - 1, "a round between others was called off")
            demand(shown == [None, None] and None in each.opened["entropy_hashes"], "both were ready")
            demand(not each.events and not each.opened["envelopes"], "a round that was called off has no deal")
            continue
        demand(None not in each.opened["entropy_hashes"], "a result, and not both were ready")
        if None in shown:
            demand(not each.events and not each.opened["envelopes"], "cards without a deal")
            check_undealt(each.result, shown, PARAMETERS[rules][2])
        else:
            limit_ms = None if found[14] is None else 1000 * int(found[5])
            Replay(rules, piles, redeals, ties, each, limit_ms).check()
        results += 1
        if each.result["winner"] is not None:
            wins[each.result["winner"]] += 1


def check_seal(terms: str, key: bytes, each: Lines, match: str | None, place: int) -> None:
    """Check the signature of a round, its commitment, and the hashes of the players."""
    opened, round_id = each.opened, each.id
    commitment = bytes.fromhex(opened["commitment"])
    match_id = round_id if match is None else bytes.fromhex(match)
    statement = derivation.round_statement(round_id, commitment, match_id, place, terms)
    check_signature(key, statement, opened["signature"])
    demand(derivation.commitment(round_id, bytes.fromhex(opened["secret"])) == commitment, "another secret")
    for seat in (0, 1):
        sealed, shown = opened["entropy_hashes"][seat], opened["entropies"][seat]
        if shown is not None:
            demand(derivation.entropy_hash(round_id, seat, bytes.fromhex(shown)).hex() == sealed, "another entropy")


def check_undealt(result: dict[str, Any], shown: list[str | None], goal: int) -> None:
    """Check the result of a round that ended before its deal."""
    endings = [score["ending"] for score in result["scores"]]
    if "resigned" in endings:
        demand(sorted(endings) == ["resigned", "round_over"], "one leaves")
    else:
        demand(endings == ["not_revealed" if each is None else "round_over" for each in shown], "one did not reveal")
    for score in result["scores"]:
        demand(
            (score["placed"], score["direct"], score["cards_turned"], score["goal"]) == (0, 0, 0, goal), "cards placed"
        )
    demand(result["winner"] == decide(result["scores"], ties=False), "another winner")


def decide(scores: list[dict[str, Any]], *, ties: bool, ledger: list[dict[str, Any]] | None = None) -> int | None:
    """Return the seat that wins, or None for a draw."""
    if ledger is not None and all(score["ending"] == "won" for score in scores):
        early, late = sorted((0, 1), key=lambda seat: ledger[seat]["corrected_ms"])
        apart = ledger[late]["corrected_ms"] - ledger[early]["corrected_ms"]
        return early if apart > uncertainty(ledger[0]["credit_ms"], ledger[1]["credit_ms"]) else None
    ranked = [
        (
            score["ending"] == "won",
            score["ending"] not in ("resigned", "not_revealed"),
            score["placed"],
            score["direct"] if ties else 0,
        )
        for score in scores
    ]
    return None if ranked[0] == ranked[1] else ranked.index(max(ranked))


def uncertainty(first: int, second: int) -> int:
    """Return the milliseconds within which two corrected times are the same."""
    return (first + second) // 100


@dataclass
class Clock:
    """The times of a seat, for the credit for distance: how long each card lay that it took."""

    rtt: int
    turned: int = 0
    lay: list[int] = field(default_factory=list)
    proofs: list[int] = field(default_factory=list)
    arrival: int | None = None

    def note(self, seat: "Seat", move: str, at_ms: int, before: tuple[int, int, int]) -> None:
        passes, left, turns = before
        if move[0] == "s" and len(move) == 2:
            self.lay.append(1000 * (at_ms - self.turned))
            if move[1].isdigit() and passes == 0 and left > 0:
                self.proofs.append(self.lay[-1])
        if seat.turns > turns:
            self.turned = at_ms
        if seat.ending == "won":
            self.arrival = at_ms

    @property
    def trip(self) -> int:
        return min([self.rtt, 300_000, *self.proofs])

    def row(self) -> dict[str, Any]:
        credit = sum(min(self.trip, lay) for lay in self.lay) // 1000
        corrected = None if self.arrival is None else self.arrival - credit
        return {"arrival_ms": self.arrival, "rtt_us": self.rtt, "credit_ms": credit, "corrected_ms": corrected}


class Seat:
    """One seat of a race that is replayed."""

    def __init__(self, dealt: derivation.Dealt, piles: int) -> None:
        self.dealt = dealt
        self.foundations = [[card] for card in dealt.starters]
        self.piles: list[list[str]] = [[] for _ in range(piles)]
        self.stock = list(dealt.orders[0])
        self.passes, self.turns, self.direct = 0, 0, 0
        self.turned: str | None = None
        self.ending: str | None = None
        self.turn()

    def turn(self) -> None:
        self.turned = self.stock.pop(0) if self.stock else None
        self.turns += self.turned is not None

    def fits(self, card: str, place: int) -> bool:
        start, step, length = self.dealt.layout[place]
        count = len(self.foundations[place])
        return count < length and derivation.RANKS[(start - 1 + step * count) % 13] == card[0]

    def may_redeal(self) -> bool:
        return self.turned is None and self.passes + 1 < len(self.dealt.orders) and any(self.piles)

    def play(self, move: str) -> None:
        demand(self.ending is None, "a move after the end")
        if move in ("stop", "resign"):
            self.ending = "stopped" if move == "stop" else "resigned"
            return
        if move == "redeal":
            demand(self.may_redeal(), "no redeal")
            self.passes += 1
            waste = {card for pile in self.piles for card in pile}
            self.stock = [card for card in self.dealt.orders[self.passes] if card in waste]
            self.piles = [[] for _ in self.piles]
            self.turn()
        else:
            self.move_card(move[0], move[1])
        if sum(map(len, self.foundations)) == sum(length for _, _, length in self.dealt.layout):
            self.ending = "won"
        elif self.turned is None and not self.may_redeal() and not self.any_top_fits():
            self.ending = "stuck"

    def any_top_fits(self) -> bool:
        return any(self.fits(pile[-1], place) for pile in self.piles if pile for place in range(len(self.foundations)))

    def move_card(self, source: str, target: str) -> None:
        place = "12345678".find(target)
        if source == "s":
            if self.turned is None:
                refuse("no card is turned")
            card = self.turned
        else:
            pile = "abcdefgh".index(source)
            demand(place >= 0 and pile < len(self.piles) and bool(self.piles[pile]), "no card to move, or no place")
            card = self.piles[pile][-1]
        if place >= 0:
            demand(place < len(self.foundations) and self.fits(card, place), "the card does not fit")
            self.foundations[place].append(card)
            self.direct += source == "s"
        else:
            demand("abcdefgh".index(target) < len(self.piles), "no such pile")
            self.piles["abcdefgh".index(target)].append(card)
        if source == "s":
            self.turn()
        else:
            self.piles["abcdefgh".index(source)].pop()

    def score(self) -> dict[str, Any]:
        return {
            "placed": sum(map(len, self.foundations)),
            "goal": sum(length for _, _, length in self.dealt.layout),
            "direct": self.direct,
            "cards_turned": self.turns,
            "ending": self.ending,
        }


class Replay:
    """A round that was dealt."""

    def __init__(self, rules: str, piles: int, redeals: int, ties: bool, lines: Lines, limit_ms: int | None) -> None:
        """`limit_ms` is None in a room without credit."""
        self.lines, self.ties, self.limit_ms = lines, ties, limit_ms
        rows = (lines.result or {}).get("ledger") or ({"rtt_us": 0}, {"rtt_us": 0})
        self.clocks = [Clock(row["rtt_us"]) for row in rows]
        entropies = [bytes.fromhex(each) for each in lines.opened["entropies"]]
        seed = derivation.seed(bytes.fromhex(lines.opened["secret"]), (entropies[0], entropies[1]), lines.id)
        if "step" in lines.opened:
            seed = derivation.step_seed(seed, lines.opened["step"])
        self.dealt = derivation.deal(rules, redeals, seed, lines.id)
        self.seats = [Seat(self.dealt, piles), Seat(self.dealt, piles)]

    def check(self) -> None:
        shown = [[each.hex() for each in row] for row in self.dealt.envelopes]
        demand(self.lines.opened["envelopes"] == shown, "other envelopes")
        before = -1
        for event in self.lines.events:
            at_ms = -1 if event["at_ms"] is None else event["at_ms"]
            demand(at_ms >= before, "time goes back")
            before = at_ms
            if event["type"] == "move":
                seat = self.seats[event["seat"]]
                known = (seat.passes, len(seat.stock), seat.turns)
                seat.play(event["move"])
                self.clocks[event["seat"]].note(seat, event["move"], event["at_ms"], known)
            else:
                self.stop(event["seats"], event["ending"], event["at_ms"])
            last = ("resigned",) if self.limit_ms is not None else ("won", "resigned")
            if any(seat.ending in last for seat in self.seats):
                for seat in self.seats:
                    seat.ending = seat.ending or "round_over"
            if event["at_ms"] is None:
                for seat in self.seats:
                    seat.turns = 0 if seat.ending else seat.turns
        demand(all(seat.ending for seat in self.seats), "the round is not over")
        result = self.lines.result
        assert result
        scores = [seat.score() for seat in self.seats]
        has_won = self.limit_ms is not None and any(score["ending"] == "won" for score in scores)
        ledger = [clock.row() for clock in self.clocks] if has_won else None
        winner = decide(scores, ties=self.ties, ledger=ledger)
        demand(result["scores"] == scores and result["winner"] == winner, "another result")
        demand(result.get("ledger") == ledger, "another ledger")

    def last_chance(self, place: int) -> int:
        """Return until when this seat may still be first, since the other one has placed every card."""
        clock, winner = self.clocks[place], self.clocks[1 - place].row()
        credit = clock.row()["credit_ms"] + (clock.trip // 1000 + 1 if self.seats[place].turned else 0)
        assert self.limit_ms is not None
        chance: int = winner["corrected_ms"] + credit + uncertainty(winner["credit_ms"], credit)
        return min(self.limit_ms, chance)

    def stop(self, seats: list[int], ending: str, at_ms: int | None) -> None:
        racing = [place for place, seat in enumerate(self.seats) if seat.ending is None]
        is_timed = at_ms is not None
        if ending == "round_over":
            is_chased = self.limit_ms is not None and seats == racing and len(seats) == 1
            demand(is_chased and self.seats[1 - seats[0]].ending == "won", "nobody was first")
            demand(at_ms is not None and at_ms >= self.last_chance(seats[0]), "it might still have been first")
        elif ending == "out_of_time":
            demand(is_timed and bool(racing) and seats == racing, "the clock stops all, and nobody in the countdown")
        else:
            demand(len(seats) == 1 and seats[0] in racing, "one leaves or is away")
        for place in seats:
            self.seats[place].ending = ending
