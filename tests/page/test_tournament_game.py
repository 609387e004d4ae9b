"""The page judges rounds and races of a tournament as `fairest` does, in the same words."""

import random
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_tournament import KnownTournament
from fairest_cli.model.tournament_game import RoundWitness, TournamentGame, after_race, begin_race
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.records.tournament_against_receipt import compare_tournament_receipt
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.messages.entries import Dealt, Entry, Moved, Turned
from fairest_protocol.messages.tournaments import RaceScore, ReadyEntrant, Tournament, TournamentRace
from fairest_protocol.value import replace
from fairest_server.daily.attempt import begin, show_move
from fairest_server.live.signing import SigningKey
from tests.client.model.test_tournament_game import PLAYERS, raced, result_of, sealed, shown
from tests.client.records.test_tournament_receipt import receipt_of, witness_of
from tests.protocol.calculation.test_tournament_record import make_record
from tests.support.daily import careless_moves
from tests.support.page_modules import ask_page
from tests.tournament.cup import Cup, entropy_of

Step = tuple[str, Any]
KEY = SigningKey(bytes(32))
RECORD = KEY.sign_race(make_record())
ALARMS = (
    "another commitment",
    "does not belong to its commitment",
    "other hashes",
    "does not show the hash that we sent",
    "do not belong to their hash",
    "other bytes",
    "left our bytes out",
    "holds another deal's card",
    "another race of ours",
    "not that of our board",
    "moves of ours, and has shown",
    "does not belong to its envelope",
    "cannot be made",
)
"""Parts of the alarms that the random lies have to bring about."""


def honest_steps(chance: random.Random) -> list[Step]:
    """Return what the player aa is shown of a round and does in it, up to its end."""
    cup, steps = Cup(PLAYERS), list[Step]()

    def look() -> None:
        steps.append(("shown", shown(cup)))

    cup.start()
    look()
    steps.append(("taken", (1, entropy_of("aa"))))
    cup.ready(PLAYERS)
    look()
    cup.reveal(PLAYERS[: chance.randrange(1, 3)])
    look()
    cup.reveal(PLAYERS)
    look()
    look()
    texts = careless_moves(begin(cup.at.rules, sealed(cup)), chance.randrange(1, 9))
    first = chance.randrange(len(texts))
    steps.append(("race", raced(cup, *texts[:first])))
    for number in range(first, len(texts)):
        steps.append(("move", answer(cup, texts[: number + 1])))
    over = [*texts, "stop"]
    steps.append(("move", answer(cup, over, result=result_of(cup, *over))))
    if chance.random() < 0.5:
        steps.append(("race", raced(cup, *over, result=result_of(cup, *over))))
    cup.race(dict.fromkeys(PLAYERS, 3))
    look()
    return steps


def answer(cup: Cup, texts: list[str], **changes: Any) -> TournamentRace:
    """Return the answer to the last one of these moves."""
    before = raced(cup, *texts[:-1])
    moves = [timed for timed in before.entries if isinstance(timed, Moved)]
    race = begin(cup.at.rules, sealed(cup))
    for move in moves:
        race = race.play(0, move.move)
    after = race.play(0, MOVES[texts[-1]])
    return raced(cup, *texts, entries=show_move(race, after, sealed(cup)), **changes)


def lie(chance: random.Random, steps: list[Step]) -> list[Step]:
    """Change one thing that the server shows."""
    place = chance.choice([number for number, (kind, _) in enumerate(steps) if kind != "taken"])
    kind, message = steps[place]
    changed = lie_of_tournament(chance, message) if kind == "shown" else lie_of_race(chance, message)
    return [*steps[:place], (kind, changed), *steps[place + 1 :]]


def lie_of_tournament(chance: random.Random, message: Tournament) -> Tournament:
    newest = message.played[-1]
    ready = list(newest.ready)
    match chance.randrange(8):
        case 0:
            return message.model_copy(update={"version": chance.choice([0, 99])})
        case 1:
            return with_round(message, commitment=bytes(32))
        case 2:
            return with_round(message, round=bytes(16))
        case 3:
            return message.model_copy(update={"tournament": "00" * 16})
        case 4:
            first = message.played[0].model_copy(update={"secret": bytes(32)})
            return message.model_copy(update={"played": (first, *message.played[1:])})
        case 5 if ready:
            del ready[chance.randrange(len(ready))]
        case 6:
            ready.append(ReadyEntrant(name="zz", entropy_hash=bytes(32), entropy=chance.choice([None, bytes(32)])))
        case _ if ready:
            at = chance.randrange(len(ready))
            update: dict[str, Any] = chance.choice(
                [{"entropy": None}, {"entropy": bytes(32)}, {"entropy_hash": bytes(32)}]
            )
            ready[at] = ready[at].model_copy(update=update)
    lied = with_round(message, ready=tuple(ready))
    if chance.random() < 0.3:
        rows = tuple(row.model_copy(update={"has_left": row.name == "aa"}) for row in lied.standings)
        lied = lied.model_copy(update={"standings": rows})
    return lied


def with_round(message: Tournament, **update: Any) -> Tournament:
    return message.model_copy(update={"played": (*message.played[:-1], message.played[-1].model_copy(update=update))})


def lie_of_race(chance: random.Random, message: TournamentRace) -> TournamentRace:
    entries = list(message.entries)
    match chance.randrange(7):
        case 4 if isinstance(entries[0], Dealt):
            [envelopes] = entries[0].envelopes
            entries[0] = entries[0].model_copy(update={"envelopes": ((*envelopes[:-1], bytes(32)),)})
        case 0:
            return message.model_copy(update={"moves": message.moves + 1})
        case 1:
            return message.model_copy(update={"result": RaceScore(won=False, placed=5, direct=1, time_ms=3)})
        case 2:
            return message.model_copy(update={"result": None, "moves": 0, "entries": message.entries[:3]})
        case 3 if len(entries) > 2:
            del entries[chance.randrange(2, len(entries))]
        case _:
            places = [number for number, entry in enumerate(entries) if isinstance(entry, (Moved, Turned))]
            if places:
                place = chance.choice(places)
                entries[place] = entries[place].model_copy(update=changes(chance, entries[place]))
    return message.model_copy(update={"entries": tuple(entries)})


def changes(chance: random.Random, entry: Entry) -> dict[str, Any]:
    match entry:
        case Turned():
            return chance.choice([{"card": "AD"}, {"salt": bytes(32)}, {"seat": 1}])
        case Moved(number=number):
            return chance.choice([{"move": MOVES["b1"]}, {"number": number + 1}, {"card": "AD"}])
    return {}


def judge(steps: list[Step]) -> dict[str, Any] | str:
    """Return what `fairest` knows after these steps, or its alarm."""
    known, game = KnownTournament("aa", steps[0][1]), None
    try:
        for kind, value in steps:
            if kind == "shown":
                known = known.after(value)
            elif kind == "taken":
                known = known.with_entropy(*value)
            else:
                game = judged_race(known, game, kind, value)
                known = known.with_race(game)
    except Cheated as alarm:
        return str(alarm)
    return {
        "rounds": {str(number): as_page(witness) for number, witness in known.witnesses.items()},
        "ready": known.is_ready_wanted,
        "due": known.due_entropy is not None,
        "entered": known.has_entered,
        "left": known.has_left,
        "pair": None if known.pair is None else list(known.pair.names),
    }


def judged_race(
    known: KnownTournament, game: TournamentGame | None, kind: str, value: TournamentRace
) -> TournamentGame:
    if kind == "race":
        return begin_race(known.shown, known.witnesses[value.round], value, 0, game)
    assert game is not None
    return after_race(game, value)


def as_page(witness: RoundWitness) -> dict[str, Any]:
    """Return what we know of a round in the form that the page keeps."""
    return {
        "round": witness.round_id.hex(),
        "commitment": witness.commitment.hex(),
        "hashes": [[name, hashed.hex()] for name, hashed in witness.hashes],
        "entropies": [[name, entropy.hex()] for name, entropy in witness.entropies],
        "envelopes": [[envelope.hex() for envelope in sealed_pass] for sealed_pass in witness.envelopes],
        "secret": witness.secret and witness.secret.hex(),
        "moves": [move.text for move in witness.moves],
        "seed": witness.seed and witness.seed.hex(),
        "is_over": witness.result is not None,
    }


def question(steps: list[Step]) -> dict[str, Any]:
    asked = [
        [kind, [value[0], value[1].hex()] if kind == "taken" else to_jsonable_python(value)] for kind, value in steps
    ]
    return {"ask": "tournament", "name": "aa", "steps": asked}


def test_an_honest_round_is_known_to_the_page_as_to_fairest() -> None:
    steps = honest_steps(random.Random(1))
    looks = [steps[: count + 1] for count in range(len(steps))]
    assert ask_page(map(question, looks)) == [judge(each) for each in looks]


@pytest.mark.long
def test_random_lies_in_a_round_are_judged_as_by_fairest() -> None:
    chance = random.Random(8)
    cases = [lie(chance, honest_steps(chance)) for _ in range(500)]
    expected = [judge(steps) for steps in cases]
    assert ask_page(map(question, cases)) == expected
    assert [part for part in ALARMS if not any(part in str(judged) for judged in expected)] == []


def compared(record: TournamentRecord, witness: RoundWitness) -> dict[str, Any]:
    """Return what `fairest verify` says of a record beside what its player was shown of the round."""
    sentences = list[str]()
    try:
        sentences.extend(compare_tournament_receipt(record, receipt_of({RECORD.number: witness})))
    except WrongRecord as reason:
        return {"sentences": [], "fault": str(reason)}
    # Before them stand the name of the receipt, and what it says of its round by itself.
    return {"sentences": sentences[2:], "fault": None}


WITNESS = witness_of(RECORD)
OTHER_RESULT = RaceScore(won=False, placed=RECORD.score.placed, direct=RECORD.score.direct, time_ms=1)
OTHER_DECK = KEY.sign_race(make_record(entropies=(("ann", bytes([1]) * 32), ("bob", bytes([3]) * 32))))
CASES: dict[str, tuple[TournamentRecord, RoundWitness]] = {
    "right": (RECORD, WITNESS),
    "a race under way": (RECORD, replace(WITNESS, result=None, moves=WITNESS.moves[:2])),
    "not seen dealt": (RECORD, replace(WITNESS, entropies=(), envelopes=())),
    "other moves": (RECORD, replace(WITNESS, moves=WITNESS.moves[:-1])),
    "another result": (RECORD, replace(WITNESS, result=OTHER_RESULT)),
    "other bytes": (OTHER_DECK, replace(WITNESS, secret=None)),
    "other hashes": (OTHER_DECK, replace(WITNESS, secret=None, entropies=())),
    "another deck": (OTHER_DECK, replace(WITNESS, secret=None, entropies=(), hashes=())),
    "another commitment": (RECORD, replace(WITNESS, secret=None, commitment=bytes(32))),
    "another secret": (RECORD, replace(WITNESS, secret=bytes(32))),
}


def test_a_record_is_compared_with_what_was_shown_as_by_fairest() -> None:
    asked = [
        {
            "ask": "compare_race",
            "text": record.text(),
            "own": RECORD.name,
            "witness": {**as_page(witness), "result": to_jsonable_python(witness.result)},
        }
        for record, witness in CASES.values()
    ]
    expected = [compared(record, witness) for record, witness in CASES.values()]
    assert dict(zip(CASES, ask_page(asked), strict=True)) == dict(zip(CASES, expected, strict=True))
