"""Every way out of a round to which a client is bound, as the table of docs/fairness.md has it, is judged here.

The client sits in seat 0. Its clock stands at `NOW`, in milliseconds.
"""

import re
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from fairest_cli.model.evidence import Evidence
from fairest_cli.model.round_end import (
    Alarm,
    Explained,
    Proved,
    Verdict,
    WayOut,
    judge_finish,
    judge_missed,
    judge_void,
    judge_way_out,
)
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace

NOW: Final = 1_000_000_000
OPTIONS = RoomOptions(limit_seconds=600, chase_seconds=100, grace_seconds=60, reveal_seconds=20).resolved()
EXPLAINED, ALARM, PROVED = Explained, Alarm, Proved


def ago(seconds: float) -> int:
    return NOW - round(seconds * 1000)


BOUND: dict[str, Any] = {"dealing_ms": None}
"""We are ready, the other player is not."""
DEALING: dict[str, Any] = {"dealing_ms": ago(20), "reveal_sent_ms": ago(19.9)}
"""Both are ready, and our bytes were sent at once."""
DEALT: dict[str, Any] = {**DEALING, "revealed": (True, True), "is_dealt": True}
RACING: dict[str, Any] = {**DEALT, "started_ms": ago(300)}
PHASES = {"bound": BOUND, "dealing": DEALING, "countdown": DEALT, "racing": RACING}


class Case(NamedTuple):
    """One case of a cell: the evidence, the endings of both seats, and the verdict with a part of its sentence."""

    evidence: dict[str, Any]
    endings: tuple[str, str]
    verdict: type[Verdict]
    sentence: str = ""


RESULTS: dict[str, list[Case]] = {
    "won, stuck, stopped, and the counts": [
        Case(RACING, ("won", "round_over"), PROVED),
        Case(RACING, ("stuck", "stopped"), PROVED),
        Case({**RACING, "has_said_stop": True}, ("stopped", "stuck"), PROVED),
    ],
    "you: out_of_time": [
        Case({**RACING, "started_ms": ago(600)}, ("out_of_time", "out_of_time"), PROVED),
        Case({**RACING, "started_ms": ago(595)}, ("out_of_time", "out_of_time"), PROVED),
        Case({**RACING, "started_ms": ago(594)}, ("out_of_time", "stuck"), ALARM, "6 seconds were left"),
        Case({**RACING, "stopped_ms": (None, ago(100))}, ("out_of_time", "stuck"), PROVED),
        Case({**RACING, "stopped_ms": (None, ago(90))}, ("out_of_time", "stuck"), ALARM, "10 seconds were left"),
        Case({**RACING, "stopped_ms": (None, ago(400))}, ("out_of_time", "away"), ALARM, "shown that this player"),
        Case({**RACING, "stopped_ms": (ago(100), None)}, ("out_of_time",) * 2, ALARM, "seat 1 was over"),
        Case({**RACING, "closing": "repairs"}, ("out_of_time",) * 2, EXPLAINED, "broken off by the operator.*repairs"),
        Case({**DEALT, "closing": "repairs"}, ("out_of_time",) * 2, EXPLAINED, "broken off by the operator"),
        Case(DEALT, ("out_of_time", "out_of_time"), ALARM, "The race had not started"),
    ],
    "the other: out_of_time": [
        Case({**RACING, "stopped_ms": (ago(100), None)}, ("stuck", "out_of_time"), PROVED),
        Case({**RACING, "stopped_ms": (ago(90), None)}, ("stuck", "out_of_time"), ALARM, "10 seconds were left"),
        Case({**RACING, "stopped_ms": (None, ago(100))}, ("stuck", "out_of_time"), ALARM, "seat 2 was over"),
        Case(DEALT, ("stuck", "out_of_time"), ALARM, "The race had not started"),
    ],
    "you: away": [
        Case({**RACING, "longest_absence_ms": 60_000}, ("away", "stuck"), EXPLAINED, "was down for 60 seconds"),
        Case({**DEALT, "longest_absence_ms": 55_000}, ("away", "stuck"), EXPLAINED, "was down for 55 seconds"),
        Case({**RACING, "longest_absence_ms": 54_000}, ("away", "stuck"), ALARM, "down for 54 seconds at most"),
        Case(RACING, ("away", "stuck"), ALARM, r"away for 60 seconds\. Your connection was up all the time"),
        Case({**DEALT, "away_ms": (None, ago(70))}, ("away", "away"), ALARM, "was up all the time"),
    ],
    "the other: away": [
        Case({**RACING, "away_ms": (None, ago(60))}, ("stuck", "away"), EXPLAINED, "only that player's client"),
        Case({**DEALT, "away_ms": (None, ago(55))}, ("stuck", "away"), EXPLAINED),
        Case({**RACING, "away_ms": (None, ago(54))}, ("stuck", "away"), ALARM, "54 seconds of the 60 seconds"),
        Case(RACING, ("stuck", "away"), ALARM, "has not shown that this player was gone"),
        Case({**RACING, "is_complete": False}, ("stuck", "away"), EXPLAINED),
    ],
    "you: resigned": [
        Case({**RACING, "has_given_up": True}, ("resigned", "round_over"), PROVED),
        Case({**DEALING, "has_given_up": True}, ("resigned", "round_over"), PROVED),
        Case({**RACING, "is_own_past_known": False}, ("resigned", "round_over"), EXPLAINED, "started again"),
        Case(RACING, ("resigned", "round_over"), ALARM, "You did not"),
        Case(DEALT, ("resigned", "round_over"), ALARM, "You did not"),
        Case(DEALING, ("resigned", "round_over"), ALARM, "You did not"),
    ],
    "the other: resigned": [
        Case({**RACING, "resigned": (False, True)}, ("round_over", "resigned"), EXPLAINED, "only that player's"),
        Case({**DEALING, "has_left": (False, True)}, ("round_over", "resigned"), EXPLAINED, "only that player's"),
        Case({**RACING, "is_complete": False}, ("round_over", "resigned"), EXPLAINED),
        Case(RACING, ("round_over", "resigned"), ALARM, "neither a resignation nor a leaving"),
        Case({**DEALT, "has_left": (True, False)}, ("round_over", "resigned"), ALARM, "neither a resignation"),
        Case(DEALING, ("round_over", "resigned"), ALARM, "neither a resignation nor a leaving"),
    ],
    "you: not_revealed": [
        Case(DEALING, ("not_revealed", "round_over"), ALARM, r"in time\. You sent them after 0.1 .* has been up since"),
        Case({**DEALING, "revealed": (True, False)}, ("not_revealed", "not_revealed"), ALARM, "had shown them"),
        Case({**DEALING, "revealed": (True, True)}, ("not_revealed", "round_over"), ALARM, "ended the round undealt"),
        Case(
            {**DEALING, "dealing_ms": ago(14)}, ("not_revealed", "round_over"), ALARM, "only 14 seconds of 20 seconds"
        ),
        Case(
            {**DEALING, "dealing_ms": ago(15), "reveal_sent_ms": None},
            ("not_revealed", "round_over"),
            EXPLAINED,
            "late or not at all",
        ),
        Case(
            {**DEALING, "reveal_sent_ms": ago(10), "longest_absence_ms": 1000},
            ("not_revealed", "round_over"),
            ALARM,
            "in time. You sent them after 10 seconds",
        ),
        Case({"longest_absence_ms": 15_000}, ("not_revealed", "round_over"), EXPLAINED, "was down for 15 seconds"),
        Case({"longest_absence_ms": 14_999}, ("not_revealed", "round_over"), ALARM, "had not even shown you"),
        Case(BOUND, ("not_revealed", "round_over"), ALARM, "had not even shown you that the other player was ready"),
        Case({"longest_absence_ms": 16_000}, ("not_revealed", "round_over"), EXPLAINED, "was down for 16 seconds"),
        Case(
            {**DEALING, "reveal_sent_ms": None, "longest_absence_ms": 19_000},
            ("not_revealed", "round_over"),
            EXPLAINED,
            "Your connection was down for 19 seconds",
        ),
        Case(
            {**DEALING, "reveal_sent_ms": ago(1), "longest_absence_ms": 19_000},
            ("not_revealed", "round_over"),
            EXPLAINED,
            "Your connection was down for 19 seconds",
        ),
        Case({**DEALING, "reveal_sent_ms": None}, ("not_revealed",) * 2, EXPLAINED, "late or not at all"),
        Case(
            {**DEALING, "reveal_sent_ms": None, "arrived_ms": ago(19.5), "longest_absence_ms": 1000},
            ("not_revealed", "round_over"),
            ALARM,
            "It had them after 0.5 seconds: it answered a ping",
        ),
        Case(
            {**DEALING, "reveal_sent_ms": None, "arrived_ms": ago(9.9), "longest_absence_ms": 9000},
            ("not_revealed", "round_over"),
            EXPLAINED,
            "was down for 9 seconds",
        ),
        Case(RACING, ("not_revealed", "round_over"), ALARM, "it had dealt the cards"),
    ],
    "the other: not_revealed": [
        Case({**DEALING, "revealed": (True, False)}, ("round_over", "not_revealed"), EXPLAINED, "only that player's"),
        Case({**DEALING, "revealed": (False, True)}, ("round_over", "not_revealed"), ALARM, "shown them to everybody"),
        Case({**DEALING, "revealed": (True, True)}, ("round_over", "not_revealed"), ALARM, "ended the round undealt"),
        Case(
            {**DEALING, "dealing_ms": ago(14)}, ("round_over", "not_revealed"), ALARM, "14 seconds into the 20 seconds"
        ),
        Case({**DEALING, "dealing_ms": ago(15)}, ("round_over", "not_revealed"), EXPLAINED, "in time; only that"),
        Case(BOUND, ("round_over", "not_revealed"), ALARM, "had not shown that this player was ready"),
        Case(DEALT, ("round_over", "not_revealed"), ALARM, "ended|it had dealt the cards"),
    ],
    "both: not_revealed": [
        Case(DEALING, ("not_revealed", "not_revealed"), ALARM, "has been up since"),
        Case(
            {**DEALING, "revealed": (True, True)}, ("not_revealed", "not_revealed"), ALARM, "the server knew the deck"
        ),
        Case(
            {"dealing_ms": ago(20), "longest_absence_ms": 16_000},
            ("not_revealed", "not_revealed"),
            EXPLAINED,
            "down for 16 seconds. The server says that the other",
        ),
    ],
}


def evidence(**changes: Any) -> Evidence:
    return Evidence(bytes(16), 0, OPTIONS, **changes)


def outcome(endings: tuple[str, str]) -> Outcome:
    first, second = (Score(4, 52, 0, 1, Ending(ending)) for ending in endings)
    return Outcome(None, (first, second))


def sentence_of(verdict: Verdict) -> str:
    return "" if isinstance(verdict, Proved) else verdict.sentence


PAGE = Path(__file__).parents[3] / "docs" / "fairness.md"


def test_every_row_about_a_result_stands_in_the_table_for_people() -> None:
    rows = {line.split("|")[1].strip().replace("`", "") for line in PAGE.read_text().splitlines() if line[:1] == "|"}
    assert set(RESULTS) <= rows


def verdicts_on_results() -> list[tuple[str, Case, Verdict]]:
    """Return each case with its row and number, and the verdict on it."""
    return [
        (f"{row}: {number}", case, judge_finish(evidence(**case.evidence), outcome(case.endings), NOW))
        for row, cases in RESULTS.items()
        for number, case in enumerate(cases)
    ]


def test_a_result_is_judged_by_what_the_client_was_shown() -> None:
    wrong = [
        (name, verdict)
        for name, case, verdict in verdicts_on_results()
        if type(verdict) is not case.verdict or not re.search(case.sentence, sentence_of(verdict))
    ]
    assert wrong == []


def test_a_verdict_is_written_in_whole_sentences() -> None:
    sentences = [(name, sentence_of(verdict)) for name, _, verdict in verdicts_on_results()]
    broken = [
        (name, sentence)
        for name, sentence in sentences
        if not re.fullmatch(r"([A-Z][^.]*(\.\d[^.]*)*[.]( |$))*", sentence)
    ]
    assert broken == []


def test_an_unknown_past_explains_a_stop_that_we_may_have_sent() -> None:
    known = {**RACING, "is_own_past_known": False}
    assert judge_finish(evidence(**known), outcome(("stopped", "stuck")), NOW) == Proved()


HASTY = RoomOptions(grace_seconds=5).resolved()
"""The options of a room whose seats wait no longer than the tolerance."""


def test_a_connection_that_was_up_explains_no_absence_however_short_a_seat_waits() -> None:
    known = replace(evidence(**RACING), options=HASTY)
    verdict = judge_finish(known, outcome(("away", "stuck")), NOW)
    assert verdict == Alarm("The server says that you were away for 5 seconds. Your connection was up all the time.")


@pytest.mark.parametrize("absent_ms", [0, 1])
def test_only_a_cut_explains_a_refusal_however_short_a_seat_waits(absent_ms: int) -> None:
    known = replace(evidence(**RACING), options=HASTY)
    assert isinstance(judge_way_out(known, WayOut.REFUSED, "", absent_ms), Explained if absent_ms else Alarm)


@pytest.mark.parametrize("absent_ms", [0, 1])
def test_only_a_cut_explains_a_round_that_was_missed_however_short_a_seat_waits(absent_ms: int) -> None:
    known = replace(evidence(**RACING), options=HASTY)
    assert isinstance(judge_missed(known, absent_ms), Explained if absent_ms else Alarm)


def test_a_round_that_was_missed_is_explained_by_a_cut_as_long_as_the_seat_waits() -> None:
    assert judge_missed(evidence(**RACING), 55_000) == Explained(
        "You were cut off for 55 seconds, and the room has gone on since. The end of the round was not proved to you; "
        "the record of its match has it."
    )


def test_a_round_that_was_missed_in_a_shorter_cut_is_an_alarm() -> None:
    assert judge_missed(evidence(**RACING), 54_999) == Alarm(
        "The server has dropped a round to which both players were committed, and never showed its secret. Unless its "
        "Redis has lost the round, the server did not like the deck."
    )


def judge(way_out: WayOut, absent_seconds: float = 0, detail: str = "", **known: Any) -> Verdict:
    return judge_way_out(evidence(**known), way_out, detail, round(absent_seconds * 1000))


def test_every_way_out_without_a_result_is_an_alarm_in_every_phase() -> None:
    ways_out = [each for each in WayOut if each is not WayOut.QUIT]
    verdicts = {case: judge(case[0], **PHASES[case[1]]) for case in product(ways_out, PHASES)}
    assert {case: verdict for case, verdict in verdicts.items() if not isinstance(verdict, Alarm)} == {}


def test_a_player_who_leaves_gets_no_alarm() -> None:
    left = Explained("You left before the round was over, so its deal was not proved to you.")
    verdicts = {case: judge(case[0], **PHASES[case[1]], has_given_up=True) for case in product(WayOut, PHASES)}
    assert {case: verdict for case, verdict in verdicts.items() if verdict != left} == {}


@pytest.mark.parametrize("way_out", [WayOut.REFUSED, WayOut.BAD_TOKEN, WayOut.CLOSED])
def test_a_player_who_was_away_longer_than_the_seat_waits_may_be_turned_away(way_out: WayOut) -> None:
    verdict = judge(way_out, 55, **RACING)
    assert isinstance(verdict, Explained) and "cut off for 55 seconds" in verdict.sentence


@pytest.mark.parametrize("way_out", [WayOut.REFUSED, WayOut.BAD_TOKEN, WayOut.CLOSED])
def test_a_player_who_comes_back_in_time_may_not_be_turned_away(way_out: WayOut) -> None:
    assert isinstance(judge(way_out, 54, **RACING), Alarm)


@pytest.mark.parametrize("way_out", [WayOut.REPLACED, WayOut.BANNED, WayOut.CONTRADICTION, WayOut.ROOM_CLOSED])
def test_no_absence_explains_an_end_that_the_server_chose(way_out: WayOut) -> None:
    assert isinstance(judge(way_out, 3600, **RACING), Alarm)


def test_a_client_that_ends_by_itself_has_no_proof_and_no_alarm() -> None:
    sentence = "Broken off, not proved: your client ended before the round was over."
    assert judge(WayOut.QUIT, **RACING) == Explained(sentence)


def test_a_client_that_ends_without_an_answer_of_the_server_has_an_alarm() -> None:
    verdict = judge(WayOut.QUIT, 3, **RACING)
    assert sentence_of(verdict).startswith("Broken off, not proved: the server did not answer any more.")


def test_a_room_closed_by_the_operator_names_the_operator_and_the_reason() -> None:
    verdict = judge(WayOut.ROOM_CLOSED, detail="repairs", **DEALT)
    assert sentence_of(verdict).startswith("The operator broke off the round and closed the room (repairs).")


DEEDS = {
    WayOut.LEFT: "The server put you out of the room without being asked",
    WayOut.SEAT_FREED: "The server freed a seat",
    WayOut.ROOM_CLOSED: "The operator broke off the round and closed the room",
    WayOut.REFUSED: "The server does not let you back into the room",
    WayOut.REPLACED: "The server says that another connection of yours took the seat; if you opened none, it lies",
    WayOut.BANNED: "The operator broke off the round by a ban",
    WayOut.BAD_TOKEN: "The server says that it does not know your token any more",
    WayOut.CLOSED: "The server ended the connection for good",
    WayOut.CONTRADICTION: "The server contradicted itself",
}


def test_an_alarm_names_the_way_out_and_whether_both_players_were_bound() -> None:
    bonds = [(BOUND, "You were bound to the round"), (DEALING, "Both players were bound to the round")]
    verdicts = {
        f"{deed}. {bound}, and it never opened its commitment.": judge(way_out, **known)
        for (way_out, deed), (known, bound) in product(DEEDS.items(), bonds)
    }
    assert [(sentence, verdict) for sentence, verdict in verdicts.items() if verdict != Alarm(sentence)] == []


def test_a_round_called_off_before_both_are_ready_is_explained() -> None:
    sentence = "The round was called off before both players were ready, so there was no deck."
    assert judge_void(evidence(**BOUND)) == Explained(sentence)


def test_a_round_called_off_after_both_are_ready_is_an_alarm() -> None:
    sentence = "The server calls off a round to which both players were committed."
    assert judge_void(evidence(**DEALING)) == Alarm(sentence)


def test_a_room_that_was_closed_without_a_reason_explains_an_early_end() -> None:
    verdict = judge_finish(evidence(**RACING, closing=""), outcome(("out_of_time",) * 2), NOW)
    assert verdict == Explained(
        "The round was broken off by the operator after the deck was fixed. The deal is proved, and the cards placed "
        "until then decide."
    )


@pytest.mark.parametrize(("milliseconds", "text"), [(1000, "1 second"), (999, "1 second"), (1500, "1.5 seconds")])
def test_times_are_written_as_people_read_them(milliseconds: int, text: str) -> None:
    verdict = judge_way_out(replace(evidence(), options=HASTY), WayOut.REFUSED, "", milliseconds)
    assert f"cut off for {text}, and the seat waits 5 seconds:" in sentence_of(verdict)


def test_a_result_of_moves_that_were_not_all_shown_is_not_called_proved() -> None:
    verdict = judge_finish(evidence(**RACING, is_complete=False), outcome(("stuck", "round_over")), NOW)
    assert isinstance(verdict, Explained) and "only the record of the match proves the counts" in verdict.sentence


def test_a_stop_that_we_never_sent_is_an_alarm_where_the_moves_were_not_all_shown() -> None:
    verdict = judge_finish(evidence(**RACING, is_complete=False), outcome(("stopped", "stuck")), NOW)
    assert verdict == Alarm("The server says that you stopped. You did not.")
