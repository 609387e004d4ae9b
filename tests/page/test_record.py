"""The page and `fairest verify` say the same of a record, and refuse the same forgeries."""

import random
from functools import cache

import pytest

from fairest_cli.records.record_check import WrongRecord, verify_record
from tests.support.certified_records import certified_record, dealt_later, forged_records
from tests.support.forging import Line, forge, sound_records, write
from tests.support.page_modules import ask_page

FORGED = 60


@cache
def sound() -> list[list[Line]]:
    """Return records of every kind of match, made once for all tests."""
    return sound_records()


def verdicts_of_page(texts: list[str], key: str | None = None) -> list[dict[str, object]]:
    return ask_page({"ask": "verify", "text": text, "key": key} for text in texts)


def test_the_page_says_of_a_record_just_what_verify_says() -> None:
    texts = [write(lines) for lines in sound()]
    for text, verdict in zip(texts, verdicts_of_page(texts), strict=True):
        assert verdict == {"sentences": list(verify_record(text)[1]), "fault": None}


def test_a_record_of_another_key_is_wrong() -> None:
    [verdict] = verdicts_of_page([write(sound()[0])], "00" * 32)
    assert "and not with" in str(verdict["fault"])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 18))])
def test_the_page_agrees_with_verify_on_every_forged_record(seed: int) -> None:
    """With the long ones a thousand and more; some forgeries change nothing that counts, and are right."""
    chance = random.Random(f"page {seed}")
    texts = [forge(chance.choice(sound()), chance.choice(sound()), chance) for _ in range(FORGED)]
    for text, verdict in zip(texts, verdicts_of_page(texts), strict=True):
        try:
            fault = None
            list(verify_record(text)[1])
        except WrongRecord as reason:
            fault = str(reason)
        assert (fault is None) == (verdict["fault"] is None), f"{fault} / {verdict['fault']}\n{text[:3000]}"


@pytest.mark.long
def test_the_page_says_of_certified_rounds_just_what_verify_says() -> None:
    text = write(certified_record())
    [verdict] = verdicts_of_page([text])
    assert verdict == {"sentences": list(verify_record(text)[1]), "fault": None}
    assert "certified deal: proved winnable at step 1 of 16" in str(verdict["sentences"])


def test_the_page_refuses_a_round_whose_step_is_not_the_first_proved_one() -> None:
    [verdict] = verdicts_of_page([write(dealt_later())])
    assert verdict["fault"] == ("Round 1: The server dealt step 2 of the certified round, where step 1 is to be dealt.")


@pytest.mark.long
def test_the_page_refuses_forged_certified_records() -> None:
    assert all(verdict["fault"] for verdict in verdicts_of_page(list(forged_records().values())))


def test_a_text_that_is_no_record_is_refused_with_a_sentence() -> None:
    for verdict in verdicts_of_page(["", "\n", "{}\n", "hello", "\x00\n", "[]\n[]\n", write(sound()[0])[:-1]]):
        assert verdict["fault"]
