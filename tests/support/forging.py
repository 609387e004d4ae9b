"""Records forged by a server that signs everything: changed in structure, then chained and signed again."""

import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, start_race, undealt_outcome
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.seal import make_seed
from fairest_protocol.calculation.seat_times import SeatTimes, make_ledger
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import CloseRoom
from tests.support import derivation
from tests.support.races import KEY, Table, choose_any, race_match
from tests.support.races_apart import credited_tables
from tests.support.records import signed_record

Line = dict[str, Any]
Chance = random.Random

SIGNER = Ed25519PrivateKey.from_private_bytes(KEY.private)
ODD_VALUES: tuple[Any, ...] = (None, -1, 0, 1, 2, 1.0, True, "", "0", [], {}, [0], [0, 0], 2**53, 253370764800001)
MALFORMED = (StopIteration, KeyError, TypeError, ValueError, IndexError, AttributeError, AssertionError)
"""Raised by code that reads lines which an earlier forgery has left without their form."""
ENDINGS = [ending.value for ending in Ending]
RULES = (
    "classic 4 0",
    "classic 5 0",
    "easy 5 0",
    "redeal 4 1",
    "betsy-ross 1 2",
    "broken 4 0",
    "senior 4 0",
    "single 1 1",
)


def lines_of(record: Record) -> list[Line]:
    """Return the lines of a record as objects, without chains."""
    lines = [json.loads(line) for line in record.lines()]
    return [{name: value for name, value in line.items() if name != "chain"} for line in lines]


def sound_records() -> list[list[Line]]:
    """Return the lines of records of every kind of match that a server can run, a copy each time."""
    records: list[list[Line]] = json.loads(_sound_records())
    return records


@cache
def _sound_records() -> str:
    tables = [_played(seed, RoomOptions(rules=rules)) for seed, rules in enumerate(("classic", "redeal", "betsy-ross"))]
    tables += [_played(seed, RoomOptions(best_of=3, direct_breaks_ties=True)) for seed in range(4, 8)]
    tables += [_broken_off(8), _called_off_before(9), _called_off_at_the_end(10), _left(11), _closed(12)]
    tables += [_not_revealed(13, ()), _not_revealed(14, (1,)), _resigned(15, ()), _resigned(16, (0,)), _timed_out(17)]
    tables += credited_tables()
    return json.dumps([lines_of(signed_record(table)) for table in tables])


def _played(seed: int, options: RoomOptions) -> Table:
    """Return a match that was raced to its end, each round cut short by a player after some moves."""
    table = Table(seed, options)
    table.start()
    race_match(table, stops=0.05)
    return table


def _broken_off(seed: int) -> Table:
    table = Table(seed, RoomOptions(best_of=5))
    table.start()
    table.race(choose_any, stops=0.1)
    table.submit(table.request(0, Leave()))
    return table


def _called_off_before(seed: int) -> Table:
    table = Table(seed)
    for ready in ((), (0,), (0,)):
        table.seat_both()
        table.get_ready(*ready)
        table.submit(table.request(1, Leave()))
    table.start()
    table.race(choose_any, stops=0.1)
    return table


def _called_off_at_the_end(seed: int) -> Table:
    table = Table(seed, RoomOptions(best_of=3))
    table.start()
    table.race(choose_any, stops=0.1)
    table.let_time_pass()
    table.get_ready(1)
    table.submit(table.request(0, Leave()))
    return table


def _left(seed: int) -> Table:
    table = Table(seed)
    table.start()
    table.race(choose_any, most=9)
    table.submit(table.request(1, Leave()))
    return table


def _closed(seed: int) -> Table:
    table = Table(seed)
    table.start()
    table.race(choose_any, most=9)
    table.submit(CloseRoom("enough"))
    return table


def _not_revealed(seed: int, revealing: Sequence[int]) -> Table:
    table = Table(seed)
    table.seat_both()
    table.deal(revealing)
    table.let_time_pass()
    return table


def _resigned(seed: int, revealing: Sequence[int]) -> Table:
    table = Table(seed)
    table.seat_both()
    table.deal(revealing)
    table.submit(table.request(0, Leave()))
    return table


def _timed_out(seed: int) -> Table:
    """Return a race in which one player was away, and the time of the other one ran out."""
    table = Table(seed)
    table.start()
    table.race(choose_any, most=20)
    table.disconnect(1)
    while table.state.phase is Phase.RACING:
        table.let_time_pass()
    return table


def sign_rounds(lines: list[Line]) -> None:
    """Sign each round for the place in which it stands now, as far as its fields allow."""
    places = [place for place, line in enumerate(lines) if line.get("type") == "round"]
    first = next((number for number, place in enumerate(places) if _result_of(lines, place)), 0)
    for number, place in enumerate(places):
        opened = lines[place]
        try:
            round_id, commitment = bytes.fromhex(opened["id"]), bytes.fromhex(opened["commitment"])
            match_id = bytes.fromhex(lines[0]["match"]) if number >= first else round_id
            count = number - first + 1 if number >= first else 1
            statement = derivation.round_statement(round_id, commitment, match_id, count, lines[0]["terms"])
        except MALFORMED:
            continue
        opened["signature"] = SIGNER.sign(statement).hex()


def settle(lines: list[Line]) -> None:
    """Make results and envelopes follow from the rest of each round, as far as it can be replayed."""
    for place in [place for place, line in enumerate(lines) if line.get("type") == "round"]:
        result = _result_of(lines, place)
        if result is not None:
            try:
                _settle_round(lines, place, result)
            except MALFORMED:
                continue


def _settle_round(lines: list[Line], place: int, result: Line) -> None:
    terms, opened = parse_terms(lines[0]["terms"]), lines[place]
    if None in opened["entropies"]:
        endings = [Ending(score["ending"]) for score in result["scores"]]
        result.update(json.loads(json.dumps(asdict(undealt_outcome(terms.rules, endings)))))
        del result["ledger"]
        return
    round_id = bytes.fromhex(opened["id"])
    seed = make_seed(bytes.fromhex(opened["secret"]), [bytes.fromhex(each) for each in opened["entropies"]], round_id)
    if opened.get("step") is not None:
        seed = derivation.step_seed(seed, opened["step"])
    dealt = derivation.deal(terms.rules.name, terms.rules.redeals, seed, round_id)
    opened["envelopes"] = [[each.hex() for each in row] for row in dealt.envelopes]
    race = start_race(
        terms.rules,
        make_deal(terms.rules, seed),
        direct_breaks_ties=terms.direct_breaks_ties,
        has_credit=terms.has_credit,
    )
    times = [SeatTimes(row["rtt_us"]) for row in result.get("ledger") or ({"rtt_us": 0}, {"rtt_us": 0})]
    for event in lines[place + 1 : lines.index(result)]:
        if event["type"] == "stop":
            stop = race.stop_before_start if event.get("at_ms") is None else race.stop
            race = stop(event["seats"], Ending(event["ending"]))
        elif not race.racers[event["seat"]].ending and not race.refusal(event["seat"], MOVES[event["move"]]):
            seat, move, before = event["seat"], MOVES[event["move"]], race
            race = race.play(seat, move)
            times[seat] = times[seat].after_move(before.racers[seat], race.racers[seat], move, event["at_ms"])
    if race.is_over:
        result.update(json.loads(json.dumps(asdict(race.outcome(make_ledger((times[0], times[1])))))))
        if result["ledger"] is None:
            del result["ledger"]


def _result_of(lines: list[Line], place: int) -> Line | None:
    following = (line for line in lines[place + 1 :] if line.get("type") in ("round", "result", "seal"))
    found = next(following, None)
    return found if found is not None and found["type"] == "result" else None


def write(lines: list[Line], chance: Chance | None = None) -> str:
    """Return the text of a record with these lines, chained and sealed.

    With `chance`, some lines are spelled in another way: fields change places, stand there twice, or have spaces.
    """
    value, written = b"", []
    for line in lines[:-1]:
        text = _spell(line, chance)
        value = derivation.digest("line", value, text.encode())
        written.append(f'{text[:-1]},"chain":"{value.hex()}"}}')
    seal = {**lines[-1], "signature": SIGNER.sign(derivation.record_statement(value)).hex()}
    return "".join(f"{line}\n" for line in (*written, _spell(seal, chance)))


def _spell(line: Line, chance: Chance | None) -> str:
    if chance is None:
        return json.dumps(line, separators=(",", ":"))
    fields = list(line.items())
    if chance.random() < 0.001:
        chance.shuffle(fields)
    text = json.dumps(dict(fields), separators=(", ", " : ") if chance.random() < 0.001 else (",", ":"))
    if chance.random() < 0.001:
        text = text.replace('"type"', '"\\u0074ype"')
    if chance.random() < 0.001:
        text = text.replace("}", ',"seat":0}', 1)
    return text


def forge(lines: list[Line], other: list[Line], chance: Chance) -> str:
    """Return the text of a record that was changed once or twice, and signed again; `other` is a second record."""
    forged: list[Line] = json.loads(json.dumps(lines))
    for _ in range(chance.choice((1, 1, 2))):
        with suppress(*MALFORMED):
            chance.choice(FORGERIES)(forged, other, chance)
    if chance.random() < 0.7:
        settle(forged)
    if chance.random() < 0.8:
        sign_rounds(forged)
    return write(forged, chance)


def _pick(lines: list[Line], chance: Chance, *kinds: str) -> Line:
    return chance.choice([line for line in lines if line.get("type") in kinds] or lines)


def _move_lines(lines: list[Line], _: list[Line], chance: Chance) -> None:
    first, second = chance.randrange(1, len(lines) - 1), chance.randrange(1, len(lines) - 1)
    match chance.randrange(3):
        case 0 if len(lines) > 3:
            del lines[first]
        case 1:
            lines.insert(second, dict(lines[first]))
        case _:
            lines[first], lines[second] = lines[second], lines[first]


def _change_value(lines: list[Line], _: list[Line], chance: Chance) -> None:
    line = _pick(lines, chance, chance.choice(("match", "round", "move", "stop", "result", "seal")))
    name = chance.choice(list(line))
    same_kind = [other[name] for other in lines if name in other]
    line[name] = chance.choice((*ODD_VALUES, *same_kind[:20], *same_kind[:20]))


def _change_field(lines: list[Line], _: list[Line], chance: Chance) -> None:
    line = chance.choice(lines)
    if chance.random() < 0.5:
        del line[chance.choice([name for name in line if name != "type"])]
    else:
        line[chance.choice(("seat", "extra", "chain", "ending"))] = chance.choice(ODD_VALUES)


def _relabel(lines: list[Line], _: list[Line], chance: Chance) -> None:
    pairs = [pair.split("=") for pair in lines[0]["terms"].split(" ")]
    options = {key: value for key, value in pairs if key}
    rules, piles, redeals = chance.choice(RULES).split(" ")
    changes: dict[str, str] = chance.choice(
        (
            {"rules": rules, "piles": piles, "redeals": redeals},
            {"best_of": chance.choice(("1", "2", "3", "5", "9"))},
            {"direct_breaks_ties": chance.choice(("true", "false", "True"))},
            {"limit_seconds": chance.choice(("10", "7200", "9", "7201", "010", "-1"))},
            {"spectators": chance.choice(("open", "closed", "all"))},
            {"piles": chance.choice(("0", "1", "9"))},
        )
    )
    lines[0]["terms"] = " ".join(f"{key}={value}" for key, value in (options | changes).items())


def _change_times(lines: list[Line], _: list[Line], chance: Chance) -> None:
    line = _pick(lines, chance, "match", "move", "stop")
    name = "finished_at_ms" if line.get("type") == "match" else "at_ms"
    line[name] = chance.choice(
        (None, -1, 0, 1, 10**6, 253370764800000, 253370764800001, 2**53 - 1, 2**53, -(2**53), 1.5)
    )


def _change_stop(lines: list[Line], _: list[Line], chance: Chance) -> None:
    stop = {
        "type": "stop",
        "at_ms": chance.choice((None, 0, 10**6)),
        "seats": chance.choice(([0], [1], [0, 1], [1, 0], [0, 0], [])),
        "ending": chance.choice(ENDINGS),
    }
    results = [place for place, line in enumerate(lines) if line.get("type") == "result"]
    if not results:
        return
    place = chance.choice(results)
    last = lines[place - 1]
    if last.get("type") in ("move", "stop") and chance.random() < 0.6:
        lines[place - 1] = {**stop, "at_ms": last.get("at_ms", 0)}
    else:
        lines.insert(place, {**stop, "at_ms": last.get("at_ms", 0)})


def _change_ending(lines: list[Line], _: list[Line], chance: Chance) -> None:
    result = _pick(lines, chance, "result")
    if not isinstance(result.get("scores"), list):
        return
    for score in result["scores"]:
        if isinstance(score, dict) and chance.random() < 0.7:
            score[chance.choice(("ending", "ending", "ending", "placed", "direct", "cards_turned", "goal"))] = (
                chance.choice((*ENDINGS, *ENDINGS, 0, 1, 52))
            )
    result["winner"] = chance.choice((0, 1, None))


def _change_seal(lines: list[Line], _: list[Line], chance: Chance) -> None:
    opened = _pick(lines, chance, "round")
    match chance.randrange(5):
        case 0:
            opened["envelopes"] = []
        case 1:
            opened["entropies"] = [None if chance.random() < 0.6 else each for each in opened.get("entropies", ())]
        case 2:
            hashes = opened.get("entropy_hashes", ())
            opened["entropy_hashes"] = [None if chance.random() < 0.6 else each for each in hashes]
        case 3:
            opened[chance.choice(("secret", "commitment", "id"))] = chance.randbytes(32).hex()
        case _:
            lines[0]["match"] = chance.choice((opened.get("id"), chance.randbytes(16).hex()))


def _drop_race(lines: list[Line], _: list[Line], chance: Chance) -> None:
    """Leave the moves of a round out, and sometimes its deal and its result."""
    places = [place for place, line in enumerate(lines) if line.get("type") == "round"]
    if not places:
        return
    start = chance.choice(places)
    end = next(place for place in range(start + 1, len(lines)) if lines[place].get("type") in ("round", "seal"))
    kept = [line for line in lines[start + 1 : end] if line.get("type") == "result" and chance.random() < 0.5]
    lines[start + 1 : end] = kept
    if chance.random() < 0.8:
        lines[start] |= {"envelopes": []}
        lines[start]["entropies"] = chance.choice(([None, None], [lines[start]["entropies"][0], None]))
    if chance.random() < 0.5:
        lines[start]["entropy_hashes"] = [None, lines[start]["entropy_hashes"][1]]


def _change_rounds(lines: list[Line], other: list[Line], chance: Chance) -> None:
    """Add a round of another record, called off or raced, or drop, repeat or swap rounds."""
    blocks = _blocks(lines)
    match chance.randrange(4):
        case 0 if len(blocks) > 1:
            del blocks[chance.randrange(len(blocks))]
        case 1 if len(blocks) > 1:
            chance.shuffle(blocks)
        case 2:
            blocks.insert(chance.randrange(len(blocks) + 1), json.loads(json.dumps(chance.choice(_blocks(other)))))
        case _:
            secret, round_id = chance.randbytes(32), chance.randbytes(16)
            opened = {
                "type": "round",
                "id": round_id.hex(),
                "commitment": derivation.commitment(round_id, secret).hex(),
                "signature": "",
                "secret": secret.hex(),
                "entropy_hashes": [None, chance.choice((None, chance.randbytes(32).hex()))],
                "entropies": [None, None],
                "envelopes": [],
            }
            blocks.insert(chance.randrange(len(blocks) + 1), [opened])
    lines[1:-1] = [line for block in blocks for line in block]
    if chance.random() < 0.8:
        raced = [block[0] for block in blocks if block[-1].get("type") == "result" and block[0].get("type") == "round"]
        lines[0]["match"] = raced[0].get("id") if raced else lines[0].get("match")


def _blocks(lines: list[Line]) -> list[list[Line]]:
    blocks: list[list[Line]] = []
    for line in lines[1:-1]:
        if line.get("type") == "round" or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _change_nothing_that_counts(lines: list[Line], _: list[Line], chance: Chance) -> None:
    lines[0]["room"] = chance.choice(("a-b", "other-room", "a", "a-b-c-d-e-f-g", "A-b"))
    lines[0]["names"] = chance.choice((["ann", "bob"], ["cy", "d" * 20], ["x", "bob"], ["ann"]))


FORGERIES: tuple[Callable[[list[Line], list[Line], Chance], None], ...] = (
    _move_lines,
    _change_value,
    _change_field,
    _relabel,
    _change_times,
    _change_stop,
    _change_ending,
    _change_seal,
    _drop_race,
    _change_rounds,
    _change_rounds,
    _change_nothing_that_counts,
)
