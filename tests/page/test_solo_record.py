"""The page proves and replays races that were raced alone, of daily deals and of tournaments, as `fairest` does."""

import json
import random
from typing import Any, Final

import pytest

from fairest_cli.model import drand_beacon
from fairest_cli.model.drand_beacon import RELAY
from fairest_cli.records.attempt_check import checking_attempt
from fairest_cli.records.daily_match import as_match
from fairest_cli.records.record_check import WrongRecord
from fairest_cli.records.tournament_check import checking_tournament_race
from fairest_protocol.calculation.daily import day_start_ms, score_attempt
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.drand import QUICKNET
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.record import RecordedMove
from fairest_protocol.calculation.seal import daily_statement, tournament_statement
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.calculation.tournament_record import TournamentRecord
from fairest_protocol.value import replace
from tests.protocol.calculation.test_daily_record import make_record
from tests.protocol.calculation.test_tournament_record import make_record as make_race
from tests.protocol.calculation.test_tournament_record import without_end
from tests.support.drand import sign_drand
from tests.support.forging import SIGNER
from tests.support.long_tests import parametrize_with_long
from tests.support.page_modules import ask_page
from tests.support.races import KEY

ATTEMPT: Final = KEY.sign_attempt(make_record())
RACE: Final = KEY.sign_race(make_race())
CHECKS: Final = {"attempt": checking_attempt, "tournament_race": checking_tournament_race}
STATEMENTS: Final = {"attempt": daily_statement, "tournament_race": tournament_statement}
FORGED: Final = 150
FIRST_DRAND: Final = QUICKNET.first_round(day_start_ms(ATTEMPT.day))
ODD: Final[tuple[Any, ...]] = (
    None, -1, 0, 1, 2, 1.5, True, "", "0", [], {}, [0], "00" * 32, "KS", "classic", "senior", "2026-02-29", 2**70,
)  # fmt: skip


def verdict_of(text: str, key: bytes | None = None) -> dict[str, Any]:
    """Return what `fairest verify` says of a record."""
    kind = "attempt" if text.startswith('{"type":"attempt"') else "tournament_race"
    sentences: list[str] = []
    try:
        sentences.extend(CHECKS[kind](text, key))
    except WrongRecord as reason:
        return {"sentences": sentences, "fault": str(reason)}
    return {"sentences": sentences, "fault": None}


def ask_solo(*texts: str, key: bytes | None = None) -> list[dict[str, Any]]:
    return ask_page({"ask": "solo", "text": text, "key": key and key.hex()} for text in texts)


def stopped_after(count: int, at_ms: int, name: str = "bob") -> DailyRecord:
    """Return a signed attempt of a player that stops behind so many moves."""
    moves = (*ATTEMPT.moves[:count], TimedMove(at_ms, MOVES["stop"]))
    shorter = replace(ATTEMPT, moves=moves, name=name)
    return KEY.sign_attempt(replace(shorter, score=score_attempt(shorter.replay(), at_ms)))


def forge(text: str, chance: random.Random) -> str:
    """Return a record with up to two changes in it, signed by the server's key all the same."""
    first, _, _ = text.split("\n")
    fields = json.loads(first)
    for _ in range(chance.randint(1, 2)):
        name = chance.choice(list(fields))
        value = fields[name]
        if isinstance(value, list) and value and chance.random() < 0.8:
            place = chance.randrange(len(value))
            change = chance.randrange(4)
            if change == 0:
                del value[place]
            elif change == 1:
                value.insert(place, chance.choice(value))
            elif change == 2:
                pair = [*value[place], None][:2] if isinstance(value[place], list) else [0, "sa"]
                pair[chance.randrange(2)] = chance.choice([*ODD, "sa", "s1", 50, 1_200_001])
                value[place] = pair
            else:
                other = chance.randrange(len(value))
                value[place], value[other] = value[other], value[place]
        elif isinstance(value, int) and chance.random() < 0.5:
            fields[name] = value + chance.choice((-1, 1, 100))
        else:
            fields[name] = chance.choice(ODD)
    line = json.dumps(fields, separators=(",", ":"))
    statement = STATEMENTS.get(str(fields["type"]), daily_statement)(line)
    return f'{line}\n{{"type":"seal","signature":"{SIGNER.sign(statement).hex()}"}}\n'


@pytest.mark.parametrize(
    "text",
    [
        ATTEMPT.text(),
        stopped_after(7, 12_250).text(),
        RACE.text(),
        KEY.sign_race(make_race(0)).text(),
        KEY.sign_race(without_end()).text(),
    ],
    ids=("attempt", "stopped attempt", "race", "race without a move", "race out of time"),
)
def test_the_page_says_of_a_sound_record_just_what_verify_says(text: str) -> None:
    assert ask_solo(text, key=KEY.public) == [verdict_of(text, KEY.public)]
    assert verdict_of(text, KEY.public)["fault"] is None


def attempt_by_drand(number: int) -> str:
    """Return the text of an attempt with this drand round as its beacon, of the network of the tests."""
    return KEY.sign_attempt(make_record(drand=(number, sign_drand(number)))).text()


def test_the_page_checks_a_drand_round_and_says_where_to_compare_its_signature() -> None:
    [verdict] = ask_solo(attempt_by_drand(FIRST_DRAND), key=KEY.public)
    assert verdict["fault"] is None
    [said] = [sentence for sentence in verdict["sentences"] if sentence.startswith("The beacon is drand round")]
    assert said.startswith(f"The beacon is drand round {FIRST_DRAND}, the first one of the day. ")
    assert said.endswith(f"compare it with {RELAY}{QUICKNET.path(FIRST_DRAND)}.")


def test_the_page_finds_another_drand_round_wrong() -> None:
    [verdict] = ask_solo(attempt_by_drand(FIRST_DRAND + 1))
    assert verdict["fault"] == verdict_of(attempt_by_drand(FIRST_DRAND + 1))["fault"]
    assert f"the first one of its day is {FIRST_DRAND}" in verdict["fault"]


@pytest.mark.parametrize("text", [ATTEMPT.text(), RACE.text()], ids=("attempt", "race"))
def test_a_record_of_another_key_is_wrong(text: str) -> None:
    [verdict] = ask_solo(text, key=bytes(32))
    assert verdict == verdict_of(text, bytes(32))


@pytest.mark.parametrize("record", [ATTEMPT, RACE], ids=("attempt", "race"))
def test_a_record_without_its_signature_is_wrong(record: DailyRecord | TournamentRecord) -> None:
    text = replace(record, signature=bytes(64)).text()
    assert ask_solo(text) == [verdict_of(text)]


@parametrize_with_long(
    "text",
    [ATTEMPT.text(), attempt_by_drand(FIRST_DRAND), RACE.text()],
    ids=("attempt", "attempt by drand", "race"),
    quick=1,
)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_the_page_agrees_with_verify_on_every_forged_record(
    monkeypatch: pytest.MonkeyPatch, seed: int, text: str
) -> None:
    monkeypatch.setattr(drand_beacon, "CAN_CHECK", False)  # as in the page
    chance = random.Random(f"solo {seed}")
    texts = [forge(text, chance) for _ in range(FORGED)]
    for forged, verdict in zip(texts, ask_solo(*texts), strict=True):
        expected = verdict_of(forged)
        assert (expected["fault"] is None) == (verdict["fault"] is None), f"{expected} / {verdict}\n{forged[:2000]}"


@parametrize_with_long("text", ["", ATTEMPT.text()[:-1], "\n\n", "{}\n{}\n", ATTEMPT.text() + "\n", "[]\n"], quick=2)
def test_a_text_that_is_no_record_is_refused_with_a_sentence(text: str) -> None:
    [verdict] = ask_solo(text)
    assert verdict["fault"].startswith("It is not written as")


def steps_of(*records: DailyRecord) -> list[dict[str, Any]]:
    [steps] = ask_page([{"ask": "solo_steps", "texts": [record.text() for record in records]}])
    return list(steps)


@pytest.mark.parametrize("other", [None, stopped_after(20, 5_000), stopped_after(9, 1_200_000)])
def test_a_replay_has_the_moves_of_the_match_that_fairest_replays(other: DailyRecord | None) -> None:
    records = [ATTEMPT] if other is None else [ATTEMPT, other]
    events = as_match(*records).rounds[0].events
    shown = [step["event"] for step in steps_of(*records)[1:]]
    assert [(each["at_ms"], each["seat"], each["move"]) for each in shown if each["type"] == "move"] == [
        (event.at_ms, event.seat, event.move.text) for event in events if isinstance(event, RecordedMove)
    ]


def test_a_replay_ends_with_the_boards_to_which_the_moves_lead() -> None:
    other = stopped_after(20, 5_000)
    ends = [record.replay().racers[0].board for record in (ATTEMPT, other)]
    last = steps_of(ATTEMPT, other)[-1]["racers"]
    assert [racer["piles"] for racer in last] == [[list(pile) for pile in board.piles] for board in ends]


def test_a_race_alone_has_no_step_of_the_empty_seat() -> None:
    steps = steps_of(ATTEMPT)
    assert [step["event"]["seat"] for step in steps[1:]] == [0] * len(ATTEMPT.moves)


def test_a_race_whose_time_ran_out_ends_with_its_limit() -> None:
    race = KEY.sign_race(without_end())
    [steps] = ask_page([{"ask": "solo_steps", "texts": [race.text()]}])
    assert steps[-1]["event"] == {"type": "stop", "at_ms": 600_000, "seats": [0], "ending": "out_of_time"}
