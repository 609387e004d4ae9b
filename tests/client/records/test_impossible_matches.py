"""Records of matches that no server can have run, rightly chained and signed: both verifiers refuse each of them."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.records.files import load_record
from fairest_cli.records.history import past_matches
from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_cli.records.statistics import statistics_of
from fairest_cli.text.history import describe_history
from fairest_protocol.calculation.record import MAX_BYTES, BadRecord
from fairest_protocol.messages.options import RoomOptions
from tests.support import derivation, second_verifier
from tests.support.forging import Line, lines_of, settle, sign_rounds, write
from tests.support.races import Table, race_match, raced
from tests.support.records import signed_record, text_of


def lines_of_match(table: Table) -> list[Line]:
    return lines_of(signed_record(table))


def race(seed: int = 3, **options: Any) -> list[Line]:
    return lines_of_match(raced(seed, RoomOptions(**options), stops=0.05))


def unrevealed(*revealing: int) -> list[Line]:
    """A match in which a player, or both, did not reveal in time."""
    table = Table(1)
    table.seat_both()
    table.deal(revealing)
    table.let_time_pass()
    return lines_of_match(table)


def called_off(hashes: list[str | None] | None = None, entropies: list[str | None] | None = None) -> Line:
    round_id, secret = random.Random(7).randbytes(16), bytes(32)
    return {
        "type": "round",
        "id": round_id.hex(),
        "commitment": derivation.commitment(round_id, secret).hex(),
        "signature": "",
        "secret": secret.hex(),
        "entropy_hashes": hashes or [None, None],
        "entropies": entropies or [None, None],
        "envelopes": [],
    }


def signed(lines: list[Line]) -> str:
    sign_rounds(lines)
    return write(lines)


def refused(lines: list[Line]) -> str:
    """Return the sentence with which `fairest verify` refuses these lines, which the second verifier refuses too."""
    text = signed(lines)
    with pytest.raises(second_verifier.Refused):
        second_verifier.verify(text.encode())
    with pytest.raises(WrongRecord) as reason:
        list(verify_record(text)[1])
    return str(reason.value)


def accepted(lines: list[Line]) -> list[str]:
    """Return the sentences of `fairest verify` on these lines, which the second verifier accepts too."""
    text = signed(lines)
    second_verifier.verify(text.encode())
    return list(verify_record(text)[1])


def hash_of(seat: int, entropy: bytes) -> str:
    return derivation.entropy_hash(random.Random(7).randbytes(16), seat, entropy).hex()


def test_a_round_is_not_called_off_once_both_players_are_ready() -> None:
    heading, *others = race()
    hashes: list[str | None] = [hash_of(0, bytes(32)), hash_of(1, bytes(32))]
    assert "not called off any more" in refused([heading, called_off(hashes), *others])


def test_a_round_that_was_called_off_has_no_entropy() -> None:
    heading, *others = race()
    forged = called_off([hash_of(0, bytes(32)), None], [bytes(32).hex(), None])
    assert "not called off any more" in refused([heading, forged, *others])


def test_a_round_may_be_called_off_when_one_player_is_ready() -> None:
    heading, *others = race()
    told = accepted([heading, called_off([hash_of(0, bytes(32)), None]), *others])
    assert "Round 1: called off before both players were ready." in told


def with_endings(lines: list[Line], *endings: str, winner: int | None) -> list[Line]:
    (result,) = [line for line in lines if line["type"] == "result"]
    for score, ending in zip(result["scores"], endings, strict=True):
        score["ending"] = ending
    result["winner"] = winner
    return lines


@pytest.mark.parametrize(
    ("revealing", "endings", "winner"),
    [
        ((1,), ("round_over", "not_revealed"), 0),
        ((1,), ("not_revealed", "not_revealed"), None),
        ((), ("not_revealed", "round_over"), 1),
        ((), ("resigned", "resigned"), None),
        ((), ("resigned", "not_revealed"), None),
        ((), ("round_over", "round_over"), None),
    ],
)
def test_a_round_without_a_deal_ends_as_its_entropies_say(
    revealing: tuple[int, ...], endings: tuple[str, str], winner: int | None
) -> None:
    forged = with_endings(unrevealed(*revealing), *endings, winner=winner)
    assert "a result that a round without a deal cannot have" in refused(forged)


@pytest.mark.parametrize("revealing", [(), (0,), (1,)])
def test_a_player_may_leave_before_the_deal_whoever_has_revealed(revealing: tuple[int, ...]) -> None:
    assert accepted(with_endings(unrevealed(*revealing), "resigned", "round_over", winner=1))


def with_stop(lines: list[Line], **stop: Any) -> list[Line]:
    """Return a race that is ended by this stop in the place of its last moves."""
    place = next(place for place, line in enumerate(lines) if line["type"] == "move") + 4
    end = next(place for place, line in enumerate(lines) if line["type"] == "result")
    at_ms = lines[place]["at_ms"]
    forged = [*lines[:place], {"type": "stop", "at_ms": at_ms, **stop}, *lines[end:]]
    settle(forged)
    return forged


def test_nobody_fails_to_reveal_in_a_round_that_was_dealt() -> None:
    assert "no server writes a line of type 'stop' like this" in refused(
        with_stop(race(), seats=[0], ending="not_revealed")
    )


@pytest.mark.parametrize(
    ("stop", "sentence"),
    [
        ({"seats": [0, 1], "ending": "resigned"}, "these seats are not stopped by resigned"),
        ({"seats": [0, 1], "ending": "away"}, "these seats are not stopped by away"),
        ({"seats": [1, 0], "ending": "out_of_time"}, "no server writes a line of type 'stop' like this"),
        ({"seats": [0, 0], "ending": "out_of_time"}, "no server writes a line of type 'stop' like this"),
    ],
)
def test_one_player_leaves_or_is_away_and_the_clock_stops_all(stop: dict[str, Any], sentence: str) -> None:
    assert sentence in refused(with_stop(race(), **stop))


def test_time_does_not_run_out_for_one_of_two_players_who_race() -> None:
    lines = with_stop(race(), seats=[0, 1], ending="out_of_time")
    place = next(place for place, line in enumerate(lines) if line["type"] == "stop")
    lines[place : place + 1] = [{**lines[place], "seats": [0]}, {**lines[place], "seats": [1]}]
    assert "these seats are not stopped by out_of_time" in refused(lines)


@pytest.mark.parametrize("stop", [{"seats": [0, 1], "ending": "out_of_time"}, {"seats": [1], "ending": "resigned"}])
def test_a_race_may_be_ended_by_the_clock_and_by_a_player_who_leaves(stop: dict[str, Any]) -> None:
    assert accepted(with_stop(race(), **stop))


def match_of(best_of: int, *winners: int | None) -> list[Line]:
    """A match with these winners, whether it was over before or not; None is a draw."""
    tables = []
    for number, winner in enumerate(winners):
        table = Table(number, RoomOptions.model_validate({"best_of": best_of}))
        table.start()
        if winner is None:
            table.let_time_pass()
        else:
            table.play(1 - winner, "resign")
        tables.append(lines_of_match_broken_off(table))
    heading = tables[0][0]
    return [heading, *(line for lines in tables for line in lines[1:-1]), tables[0][-1]]


def lines_of_match_broken_off(table: Table) -> list[Line]:
    if not table.state.match_is_over:
        table.disconnect(0)
        table.disconnect(1)
        while table.state.seats[0] is not None:
            table.let_time_pass()
    lines = lines_of_match(table)
    end = next(place for place, line in enumerate(lines) if line["type"] == "result")
    return [*lines[: end + 1], lines[-1]]


@pytest.mark.parametrize(
    ("best_of", "winners"),
    [(1, (0, 1)), (1, (None, 0)), (3, (0, 0, 0)), (3, (0, 1, 0, 1)), (3, (None, None, None, 0)), (5, (1, 1, 1, 0))],
)
def test_no_round_follows_a_match_that_is_over(best_of: int, winners: tuple[int | None, ...]) -> None:
    assert "follows a match that was over" in refused(match_of(best_of, *winners))


@pytest.mark.parametrize(("best_of", "winners"), [(3, (0, 0)), (3, (0, 1, None)), (3, (None,) * 3), (5, (1, 0, 1, 1))])
def test_a_match_ends_with_most_of_its_rounds_won_or_with_its_last_one(
    best_of: int, winners: tuple[int | None, ...]
) -> None:
    assert not any("broken off" in sentence for sentence in accepted(match_of(best_of, *winners)))


def test_a_match_that_is_not_over_is_said_to_be_broken_off() -> None:
    told = accepted(match_of(5, 0, 1, 0))
    assert told[-1] == "The match was broken off: a player left after 3 of up to 5 rounds."


def test_a_round_that_was_called_off_is_the_last_one_of_its_match() -> None:
    lines = match_of(5, 0, 1)
    second = [place for place, line in enumerate(lines) if line["type"] == "round"][1]
    assert "which ends a match" in refused([*lines[:second], called_off(), *lines[second:]])
    assert accepted([*match_of(5, 0, 1)[:-1], called_off(), lines[-1]])


def test_no_round_is_called_off_when_the_match_is_over() -> None:
    *lines, seal = match_of(3, 0, 0)
    assert "follows a match that was over" in refused([*lines, called_off(), seal])


def test_a_round_that_was_called_off_is_not_a_match() -> None:
    heading, *_, seal = race()
    heading["match"] = called_off()["id"]
    assert "No round of the match has a result" in refused([heading, called_off(), seal])


@pytest.mark.long
def test_a_record_lists_a_bounded_number_of_rounds_that_were_called_off() -> None:
    heading, *others = race()
    secret = bytes(32)
    many = []
    for number in range(1001):
        round_id = number.to_bytes(16, "big")
        commitment = derivation.commitment(round_id, secret).hex()
        many.append({**called_off(), "id": round_id.hex(), "commitment": commitment})
    assert "More than 1000 rounds were called off" in refused([heading, *many, *others])
    assert accepted([heading, *many[1:], *others])


@pytest.mark.parametrize("at_ms", [-1, 253370764800001, 2**53 - 1, True, 1.5, "0", None])
def test_a_match_ends_at_a_time_that_a_calendar_has(at_ms: object) -> None:
    heading, *others = race()
    assert re.match(
        r"Line 1 (does not describe a match: the time|is not a line of a record: no server writes)",
        refused([{**heading, "finished_at_ms": at_ms}, *others]),
    )


def listed(folder: Path) -> list[str]:
    """The lines of the history of a folder."""
    matches = past_matches(folder)
    return list(describe_history(matches, statistics_of(matches)))


@pytest.mark.parametrize("at_ms", [0, 253370764800000])
def test_the_first_and_the_last_time_of_the_calendar_are_shown(tmp_path: Path, at_ms: int) -> None:
    heading, *others = race()
    text = signed([{**heading, "finished_at_ms": at_ms}, *others])
    (tmp_path / "race.jsonl").write_text(text)
    (line, _) = listed(tmp_path)
    assert line[:4] in ("1969", "1970", "9998", "9999")


def test_the_history_names_a_file_with_an_absurd_time_and_shows_the_others(tmp_path: Path) -> None:
    heading, *others = race()
    (tmp_path / "absurd.jsonl").write_text(signed([{**heading, "finished_at_ms": 2**53 - 1}, *others]))
    (tmp_path / "sound.jsonl").write_text(signed(race()))
    told = listed(tmp_path)
    assert any(line.startswith("absurd.jsonl: the time 9007199254740991 is not one") for line in told)
    assert any("ann against bob" in line for line in told)


def reordered(text: str) -> str:
    """The same values, each line with its fields in another order, chained and signed again."""
    lines = [json.loads(line) for line in text.splitlines()]
    plain = [{name: value for name, value in line.items() if name != "chain"} for line in lines]
    return write([dict(reversed(line.items())) for line in plain])


def test_a_line_with_its_fields_in_another_order_is_refused() -> None:
    with pytest.raises(WrongRecord, match=r"^Line 1 is not a line of a record: it begins with none of the types"):
        verify_record(reordered(signed(race())))


def test_a_field_that_stands_there_twice_is_refused() -> None:
    text = signed(race())
    value, lines = b"", []
    for line in text.splitlines()[:-1]:
        plain = line[:-76] + "}"
        plain = plain.replace('"seat":0', '"seat":1,"seat":0')
        value = derivation.digest("line", value, plain.encode())
        lines.append(f'{plain[:-1]},"chain":"{value.hex()}"}}')
    with pytest.raises(WrongRecord, match="no server writes a line of type 'move' like this"):
        verify_record("".join(f"{line}\n" for line in (*lines, text.splitlines()[-1])))


LONG: dict[str, Callable[[str], str]] = {
    "a long line": lambda text: text.replace('"room":', " " * 40_000 + '"room":', 1),
    "many lines": lambda text: text + "\n" * 10_001,
    "much text": lambda text: text + ("x" * 30_000 + "\n") * 150,
}


@pytest.mark.parametrize("kind", LONG)
def test_more_text_than_a_record_can_have_is_not_parsed(kind: str, tmp_path: Path) -> None:
    text = LONG[kind](signed(race()))
    with pytest.raises(WrongRecord, match=r"than a record can|and a record has fewer"):
        verify_record(text)
    (tmp_path / "long.jsonl").write_text(text)
    with pytest.raises(BadRecord, match=r"than a record can|and a record has fewer"):
        load_record(tmp_path / "long.jsonl")
    assert MAX_BYTES == 4 * 2**20


def test_a_match_of_nine_rounds_of_the_longest_variant_is_within_the_bounds() -> None:
    table = Table(1, RoomOptions(rules="senior", redeals=2, best_of=9))
    table.start()
    race_match(table)
    text = text_of(signed_record(table))
    assert list(verify_record(text)[1])
    assert len(text) < MAX_BYTES / 2
