"""The social card of a match: what it says of a record, and that a text which is no record has none."""

import json
import random
from xml.etree import ElementTree

import pytest

from fairest_protocol.calculation.sliced import finish
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.edge.card_picture import draw_card
from fairest_server.edge.match_card import MatchCard, read_card
from fairest_server.room.match_record import record_last_match
from tests.support.races import Table, race_match, raced
from tests.support.records import file_of, signed_record

RECORD = signed_record(raced(3))
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</title><script>alert(1)</script>" onload="x" & \x00\u202e]]>'


def card_of(content: bytes) -> MatchCard:
    card = finish(read_card(content))
    assert card is not None
    return card


def with_names(*names: object) -> bytes:
    """Return the file of the record with other names in its first line, as a changed archive may have it."""
    first, _, rest = file_of(RECORD).partition(b"\n")
    return json.dumps(json.loads(first) | {"names": names}).encode() + b"\n" + rest


def test_a_card_has_the_players_the_result_and_the_final_boards() -> None:
    card, outcome = card_of(file_of(RECORD)), RECORD.rounds[-1].outcome
    assert outcome is not None
    *_, (_, race) = RECORD.steps(0)
    assert (card.names, card.rules, card.winner) == (RECORD.names, "classic", outcome.winner)
    assert card.placed == tuple(score.placed for score in outcome.scores)
    assert card.boards == tuple(racer.board for racer in race.racers)


@pytest.mark.parametrize("seed", range(4))
def test_the_card_of_a_match_of_several_rounds_is_that_of_its_last_one(seed: int) -> None:
    table = Table(seed, RoomOptions(best_of=5, rules="senior"))
    table.start()
    race_match(table)
    record = record_last_match("quiet-amber-otter", table.steps)
    assert record is not None
    *_, (_, race) = record.steps(len(record.rounds) - 1)
    card = card_of(file_of(record))
    assert card.boards == tuple(racer.board for racer in race.racers)
    assert sum(card.wins) == sum(
        played.outcome is not None and played.outcome.winner is not None for played in record.rounds
    )


def test_the_description_says_who_won_by_how_much() -> None:
    card = replace(card_of(file_of(RECORD)), names=("ann", "bob"), winner=1, placed=(30, 52))
    assert card.description.startswith("bob wins, 52 to 30 cards.")
    assert replace(card, winner=None, placed=(30, 30)).description.startswith("A draw, 30 to 30 cards.")
    assert replace(card, best_of=3, wins=(1, 2)).description.startswith("bob wins, 2 to 1 rounds.")


def test_a_picture_shows_each_top_card_of_both_boards_once_for_each_seat() -> None:
    card = card_of(file_of(RECORD))
    drawn = ElementTree.fromstring(draw_card(card))
    shown = sum(1 for board in card.boards for cards in board.foundations if cards)
    shown += sum(len(cards) for board in card.boards for cards in board.piles)
    assert len(drawn.findall(f".//{SVG}rect[@fill='#fdfcf7']")) == shown


def test_a_hostile_name_is_a_text_of_the_picture() -> None:
    drawn = ElementTree.fromstring(draw_card(card_of(with_names(HOSTILE, "<b>"))))
    assert {element.tag.removeprefix(SVG) for element in drawn.iter()} == {"svg", "title", "rect", "text", "g", "path"}
    assert "</title><script>aler" in [element.text for element in drawn.iter(f"{SVG}text")]


def test_a_name_has_no_character_that_xml_or_a_reader_cannot_have() -> None:
    assert card_of(with_names("a\x00b\u202ec\ud800", "bob")).names[0] == "a\ufffdb\ufffdc\ufffd"


def test_a_round_that_was_never_dealt_has_a_card_without_boards() -> None:
    lines = file_of(RECORD).split(b"\n")
    opened = json.loads(lines[1]) | {"entropies": [None, None]}
    card = card_of(b"\n".join([lines[0], json.dumps(opened, separators=(",", ":")).encode(), *lines[2:]]))
    assert card.boards == ()
    assert draw_card(card).startswith(b"<?xml")


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"[]\n[]\n", b"\xff\xfe", b"[" * 100_000])
def test_a_text_that_is_no_record_has_no_card(content: bytes) -> None:
    assert finish(read_card(content)) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_record_with_any_change_has_a_card_or_none(seed: int) -> None:
    chance, sound = random.Random(seed), file_of(RECORD)
    for _ in range(60):
        start = chance.randrange(len(sound))
        changed = sound[:start] + chance.randbytes(chance.randrange(3)) + sound[start + chance.randrange(40) :]
        card = finish(read_card(changed))
        assert card is None or ElementTree.fromstring(draw_card(card)).tag == f"{SVG}svg"
