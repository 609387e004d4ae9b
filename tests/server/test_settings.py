"""Every setting has a description, for `--help`, and a row in docs/operations.md."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from fairest_server.settings import Settings
from tests.support.drand import needs_pyblst

RELAY_OF_DRAND = "https://api.drand.sh"
PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


def test_each_setting_has_a_description_that_ends_with_a_full_stop() -> None:
    descriptions = {name: field.description or "" for name, field in Settings.model_fields.items()}
    assert {name: text for name, text in descriptions.items() if not text.endswith(".")} == {}


def test_each_setting_stands_in_the_docs_with_its_option_and_its_variable() -> None:
    rows = {f"`--{name.replace('_', '-')}` | `FAIREST_{name.upper()}`" for name in Settings.model_fields}
    assert {row for row in rows if row not in PAGE} == set()


@pytest.mark.parametrize(
    "url", ["api.drand.sh", "ftp://api.drand.sh", "https://", "https://api.drand.sh/?a", "file:///etc"]
)
def test_a_url_that_is_not_that_of_a_relay_is_refused_with_it(url: str) -> None:
    with pytest.raises(ValidationError, match=f"a relay looks like {RELAY_OF_DRAND}, not {re.escape(repr(url))}"):
        Settings(daily_drand=url)


def test_a_relay_without_the_check_of_signatures_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_server.settings.CAN_CHECK", False)
    with pytest.raises(ValidationError, match="pyblst is missing, which checks what a relay shows; pip install pyblst"):
        Settings(daily_drand=RELAY_OF_DRAND)


@needs_pyblst
def test_a_relay_of_drand_is_taken() -> None:
    assert Settings(daily_drand=RELAY_OF_DRAND).daily_drand == RELAY_OF_DRAND
