"""`fairest verify` proves records and receipts, and names the first line or round that is wrong."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fairest_cli.commands.main import app
from fairest_cli.model.seal_check import SealCheck
from fairest_cli.records.receipt_replay import BadReceipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.record import Record, RecordedMove
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fast_encoding import encode_view
from fairest_protocol.messages.from_client import Play, Ready, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.live.signing import SigningKey
from fairest_server.room.catchup import make_catchup
from fairest_server.room.events import Played, Revealed, RoundOpened
from fairest_server.room.projection import StepHistory, project
from fairest_server.room.view import ORIGIN, view, views_of
from tests.support.invoking import invoke
from tests.support.long_tests import parametrize_with_long
from tests.support.races import KEY, Table, race_match, raced
from tests.support.records import signed_record, text_of

CHANGES = 3000


def verify(text: str, key: bytes | None = None) -> list[str]:
    _, checks = verify_record(text, key)
    return list(checks)


@pytest.fixture(scope="module")
def table() -> Table:
    return raced(3, RoomOptions(rules="redeal"))


@pytest.fixture(scope="module")
def record(table: Table) -> Record:
    return signed_record(table)


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_record_of_every_variant_is_proved(name: str) -> None:
    told = verify(text_of(signed_record(raced(5, RoomOptions(rules=name)))), KEY.public)
    envelopes = VARIANTS[name].rules.stock * (1 + VARIANTS[name].rules.redeals * (name != "betsy-ross"))
    assert f"Round 1: secret and entropies make the deal; {envelopes} of {envelopes} envelopes hold its cards." in told


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_check_words_are_those_that_the_players_saw(name: str) -> None:
    table = raced(5, RoomOptions(rules=name))
    check = SealCheck(key=KEY.public)
    for entry in view(table.steps, 0):
        check = check.after(entry, table.state.options)
    assert f"Round 1: the check words were {' '.join(check.check_words)}." in verify(text_of(signed_record(table)))


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_deck_can_be_looked_at_with_the_command_that_is_printed(name: str) -> None:
    record = signed_record(raced(5, RoomOptions(rules=name)))
    (sentence,) = [line for line in verify(text_of(record)) if "to see the deck" in line]
    program, command, *arguments = sentence.split(": ")[-1].split()
    assert (program, command) == ("fairest", "deal")
    deal = make_deal(record.rules, record.rounds[0].seed)
    assert deal.orders[0][-1] in CliRunner().invoke(app, [command, *arguments]).output.split()


def test_the_result_names_the_winner_and_its_count_by_seat(record: Record) -> None:
    outcome = record.rounds[0].outcome
    assert outcome is not None and outcome.winner is not None
    counts = " to ".join(str(score.placed) for score in outcome.scores)
    assert verify(text_of(record))[-1].endswith(f"lead to the result: {record.names[outcome.winner]} wins, {counts}.")


def change_bytes(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    other = chance.choice([letter for letter in '0123456789abcdef{}[]",: \n\\uT' if letter != text[place]])
    return chance.choice(
        [
            text[:place] + other + text[place + 1 :],
            text[:place] + text[place + 1 :],
            text[:place] + other + text[place:],
        ]
    )


def change_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    first, second = chance.sample(range(len(lines)), 2)
    match chance.randrange(3):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case _:
            lines[first], lines[second] = lines[second], lines[first]
    return "".join(lines)


def change_value(text: str, chance: random.Random) -> str:
    """A value somewhere in a line becomes another one that could stand there as well."""
    lines = text.splitlines()
    number = chance.randrange(len(lines))
    fields = json.loads(lines[number])
    where: Any = fields
    while True:
        key = chance.choice(list(where) if isinstance(where, dict) else range(len(where)))
        if not isinstance(where[key], (dict, list)) or not where[key]:
            break
        where = where[key]
    value = where[key]
    if isinstance(value, bool):
        where[key] = not value
    elif isinstance(value, int):
        where[key] = value + chance.choice([-1, 1])
    elif isinstance(value, str) and len(value) >= 32:
        where[key] = chance.randbytes(len(value) // 2).hex()
    else:
        where[key] = chance.choice([each for each in ("sa", "sb", "s1", "won", "bob", None) if each != value])
    lines[number] = json.dumps(fields, separators=(",", ":"))
    return "\n".join(lines) + "\n"


@parametrize_with_long("change", [change_bytes, change_lines, change_value], quick=1)
def test_every_single_change_is_caught(record: Record, change: Callable[[str, random.Random], str]) -> None:
    chance, text = random.Random(1), text_of(record)
    for _ in range(CHANGES // 3):
        changed = change(text, chance)
        if changed == text:
            continue
        with pytest.raises(WrongRecord):
            verify(changed)


def test_a_line_feed_that_is_missing_or_added_is_caught(record: Record) -> None:
    for changed in (text_of(record)[:-1], text_of(record) + "\n", text_of(record).replace("\n", "\r\n")):
        with pytest.raises(WrongRecord):
            verify(changed)


def test_the_first_wrong_line_is_named(record: Record) -> None:
    lines = text_of(record).splitlines()
    lines[4] = lines[4].replace('"at_ms":', '"at_ms":1')
    with pytest.raises(WrongRecord, match=r"^Line 5 is not as it was written"):
        verify("\n".join(lines) + "\n")


def changed_by_the_server(record: Record) -> Iterator[tuple[str, Record]]:
    """Records that an operator with the key could write, each with the sentence that is expected."""
    (played,) = record.rounds
    first, second = played.entropies
    assert first and second and played.outcome

    def with_round(**changes: Any) -> Record:
        return replace(record, rounds=(replace(played, **changes),))

    def without(place: int) -> Record:
        return with_round(events=(*played.events[:place], *played.events[place + 1 :]))

    yield "the secret does not belong to the commitment", with_round(secret=bytes(32))
    other = KEY.open_round(played.round_id, bytes(32), None, 1, record.terms.text).signature
    yield "has not signed this commitment", with_round(signature=other)
    yield "does not belong to its hash", with_round(entropy_hashes=(bytes(32), played.entropy_hashes[1]))
    yield "does not belong to its hash", with_round(entropies=(second, first))
    envelopes = ((bytes(32), *played.envelopes[0][1:]), *played.envelopes[1:])
    yield r"the envelope of pass 0, position 1 holds another card", with_round(envelopes=envelopes)
    yield "more or fewer envelopes", with_round(envelopes=played.envelopes[:1])
    yield "stands in the record twice", replace(record, rounds=(played, played))
    loser = replace(played.outcome, winner=1 - (played.outcome.winner or 0))
    yield "do not lead to the result", with_round(outcome=loser)
    yield "(is against the rules|do not lead to the result|is not racing)", without(0)
    yield "(is against the rules|do not lead to the result|is not racing)", without(len(played.events) // 2)
    late = replace(played.events[0], at_ms=10**9)
    yield "time goes back", with_round(events=(late, *played.events[1:]))
    yield "no deal", with_round(entropies=(None, second))


def test_a_server_that_rewrites_and_signs_again_is_found_out(record: Record) -> None:
    found = 0
    for sentence, forged in changed_by_the_server(record):
        found += 1
        with pytest.raises(WrongRecord, match=sentence):
            verify(text_of(KEY.sign(forged)))
    assert found == 12


def with_options(record: Record, **changes: Any) -> Record:
    """Return the record as if its room had had other options."""
    fields = {key: value for key, _, value in (pair.partition("=") for pair in record.terms.text.split(" "))}
    text = " ".join(f"{key}={value}" for key, value in (fields | changes).items())
    return replace(record, terms=parse_terms(text))


@pytest.mark.parametrize(
    "changes",
    [
        {"rules": "easy", "piles": "5"},
        {"piles": "5"},
        {"redeals": "1"},
        {"best_of": "3"},
        {"direct_breaks_ties": "true"},
        {"limit_seconds": "10"},
        {"spectators": "open"},
        {"listed": "true"},
    ],
)
def test_a_race_cannot_be_relabelled_as_one_under_other_rules(changes: dict[str, str]) -> None:
    relabelled = with_options(signed_record(raced(3, stops=0.05)), **changes)
    with pytest.raises(WrongRecord, match="has not signed this commitment, for this match and these rules"):
        verify(text_of(KEY.sign(relabelled)))


def test_rounds_do_not_change_places_in_a_match() -> None:
    table = Table(4, RoomOptions(best_of=3))
    table.start()
    race_match(table)
    record = signed_record(table)
    first, second, *others = record.rounds
    assert verify(text_of(record))
    moved = replace(record, match_id=second.round_id.hex(), rounds=(second, first, *others))
    with pytest.raises(WrongRecord, match="Round 1: the server has not signed this commitment, for this match"):
        verify(text_of(KEY.sign(moved)))


def test_a_round_cannot_be_put_into_another_match() -> None:
    first, second = signed_record(raced(3)), signed_record(raced(4))
    longer = with_options(first, best_of="3")
    with pytest.raises(WrongRecord, match="Round 1: the server has not signed this commitment, for this match"):
        verify(text_of(KEY.sign(replace(longer, rounds=(*first.rounds, *second.rounds)))))


def test_another_server_s_signature_is_told_from_ours(record: Record) -> None:
    forged = SigningKey(bytes([1]) * 32).sign(record)
    with pytest.raises(WrongRecord, match="has not signed this commitment"):
        verify(text_of(forged))
    with pytest.raises(WrongRecord, match="is signed with the key"):
        verify(text_of(forged), KEY.public)


def test_rounds_that_were_called_off_are_listed_and_opened() -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0)
    table.let_time_pass()
    table.start()
    table.race(lambda board, _: next(board.legal_moves()))
    assert "Round 1: called off before both players were ready." in verify(text_of(signed_record(table)))


HEADER = json.dumps({"type": "receipt", "server": "ws://here", "key": KEY.public.hex()})


def receipt_of(table: Table, seat: int) -> list[str]:
    """The receipt of the client in this seat, from the first round to the end of the match."""
    lines = [HEADER]

    def note(kind: str, data: bytes) -> None:
        lines.append(f'{{"at_ms":0,"{kind}":{data.decode()}}}')

    sealed = signed_record(table).rounds[0]
    entropy_hash, entropy = sealed.entropy_hashes[seat], sealed.entropies[seat]
    assert entropy_hash and entropy
    start = next(place for place, step in enumerate(table.steps) if isinstance(step.event, RoundOpened))
    note("heard", make_catchup("a-b", StepHistory(table.steps[: start + 1]), seat, ORIGIN, 0).text)
    watcher = views_of(table.steps[0].after)[seat]
    for place, step in enumerate(table.steps):
        if isinstance(step.event, Played) and step.event.seat == seat and step.after.race is not None:
            number = step.after.race.racers[seat].moves
            note("said", encode(Play(number=number, move=step.event.move)))
        if isinstance(step.event, Revealed) and step.event.seat == seat:
            note("said", encode(Reveal(round=sealed.round_id, entropy=entropy)))
        shown = watcher.reveal(project(step))
        if place > start and shown:
            note("heard", encode_view(watcher.cursor.position, shown, step.tag))
        if isinstance(step.event, RoundOpened):
            note("said", encode(Ready(round=sealed.round_id, entropy_hash=entropy_hash)))
    return lines


def restarted_after_reveal(table: Table, seat: int) -> tuple[list[str], dict[str, Any], list[str]]:
    """A receipt of a client that was killed right after it had sent its entropy, and was started again.

    Returns the lines before the snapshot that it is shown then, the snapshot, and the lines after it.
    """
    lines = receipt_of(table, seat)
    place = next(place for place, line in enumerate(lines) if '"said":{"type":"reveal"' in line)
    is_own = [isinstance(step.event, Revealed) and step.event.seat == seat for step in table.steps]
    history = StepHistory(table.steps[: is_own.index(True)])
    snapshot = json.loads(make_catchup("a-b", history, seat, ORIGIN, 0).text)
    return [*lines[: place + 1], HEADER], snapshot, lines[place + 1 :]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_receipt_of_a_client_that_was_restarted_proves_the_record(table: Table, record: Record, seat: int) -> None:
    before, snapshot, after = restarted_after_reveal(table, seat)
    told = list(compare_receipt(record, [*before, json.dumps({"at_ms": 0, "heard": snapshot}), *after]))
    assert told[0].startswith("Receipt: 1 of 1 rounds were shown to you")


@pytest.mark.parametrize("seat", [0, 1])
def test_a_receipt_shows_a_player_who_was_committed_anew_after_our_entropy(
    table: Table, record: Record, seat: int
) -> None:
    before, snapshot, after = restarted_after_reveal(table, seat)
    snapshot["scene"]["seats"][1 - seat]["entropy_hash"] = bytes(32).hex()
    with pytest.raises(WrongRecord, match="committed anew after we had revealed our entropy"):
        list(compare_receipt(record, [*before, json.dumps({"at_ms": 0, "heard": snapshot}), *after]))


@pytest.mark.parametrize("seat", [0, 1])
def test_a_receipt_proves_that_the_record_is_of_our_match(table: Table, record: Record, seat: int) -> None:
    told = list(compare_receipt(record, receipt_of(table, seat)))
    moves = sum(isinstance(event, RecordedMove) for event in record.rounds[0].events)
    assert told[0].startswith("Receipt: 1 of 1 rounds were shown to you")
    assert f"and {moves} moves that you were shown are in the record" in told[1]


def test_a_receipt_of_another_match_is_told_apart(record: Record) -> None:
    with pytest.raises(WrongRecord, match="it is of another match"):
        list(compare_receipt(record, receipt_of(raced(9), 0)))


def test_a_record_of_another_race_on_our_deal_is_found_out(table: Table, record: Record) -> None:
    """The server invents other moves and another result, and signs them: only the receipt knows better."""
    replayed = Table(3, RoomOptions(rules="redeal"))
    replayed.start()
    replayed.race(lambda board, _: next(board.legal_moves()))
    invented = signed_record(replayed)
    assert invented.rounds[0].round_id == record.rounds[0].round_id
    assert verify(text_of(invented), KEY.public)
    with pytest.raises(WrongRecord, match=r"Line \d+ of the receipt: (move \d+ of|the result)"):
        list(compare_receipt(invented, receipt_of(table, 0)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("entropies", (bytes(32), bytes(32))), "another entropy"),
        (("entropy_hashes", (bytes(32), bytes(32))), "another entropy hash"),
        (("commitment", bytes(32)), "another commitment"),
        (("envelopes", ()), "another set of envelopes"),
    ],
)
def test_a_record_that_differs_from_what_we_were_shown_is_found_out(
    table: Table, record: Record, change: tuple[str, Any], sentence: str
) -> None:
    forged = replace(record, rounds=(replace(record.rounds[0], **{change[0]: change[1]}),))
    with pytest.raises(WrongRecord, match=sentence):
        list(compare_receipt(forged, receipt_of(table, 0)))


@pytest.mark.parametrize("line", ["", "{", "[]", "1", '{"heard":1}', '{"heard":{"type":"welcome"}}', '{"said":[]}'])
def test_what_is_no_receipt_is_refused_with_its_line(record: Record, line: str) -> None:
    with pytest.raises(BadReceipt, match="line 1 "):
        list(compare_receipt(record, [line]))


def test_the_program_proves_a_record(tmp_path: Path, table: Table, record: Record) -> None:
    (tmp_path / "record.jsonl").write_text(text_of(record))
    (tmp_path / "receipt.jsonl").write_text("\n".join(receipt_of(table, 1)))
    paths = str(tmp_path / "record.jsonl"), "--receipt", str(tmp_path / "receipt.jsonl")
    done = invoke(tmp_path, "verify", *paths, "--key", KEY.public.hex())
    assert done.exit_code == 0, done.stdout
    assert "Everything that can be checked is right." in done.stdout
    assert done.stdout.endswith("that no player was told which cards were to come\n  (docs/fairness.md).\n")


def test_the_program_says_what_a_record_alone_cannot_prove(tmp_path: Path, record: Record) -> None:
    (tmp_path / "record.jsonl").write_text(text_of(record))
    told = invoke(tmp_path, "verify", str(tmp_path / "record.jsonl")).stdout
    assert "\nWhat a record alone cannot prove:\n" in told
    assert told.endswith("that no player was told which cards were to come (docs/fairness.md).\n")


def test_the_program_ends_with_3_at_the_first_wrong_thing(tmp_path: Path, record: Record) -> None:
    (tmp_path / "record.jsonl").write_text(text_of(record).replace('"seat":0', '"seat":1', 1))
    done = invoke(tmp_path, "verify", str(tmp_path / "record.jsonl"))
    assert (done.exit_code, done.stdout.splitlines()[-1][:20]) == (3, "WRONG: Line 9 is not")


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    done = invoke(tmp_path, "verify", "record.jsonl", "--key", "abc")
    assert done.exit_code == 2
    assert "a key has 64 hexadecimal digits" in " ".join(done.stderr.replace("│", "").split())


def test_a_record_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    done = invoke(tmp_path, "verify", str(tmp_path / "nowhere.jsonl"))
    assert (done.exit_code, "cannot read" in done.stderr) == (1, True)


def test_reading_a_record_needs_no_proof(record: Record) -> None:
    forged = SigningKey(bytes([1]) * 32).sign(record)
    assert read_record(list(forged.lines())) == forged
