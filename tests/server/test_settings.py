"""Every setting has a description, for `--help`, and a row in docs/operations.md."""

from pathlib import Path

import pytest

from fairest_server.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_has_a_description_and_stands_in_the_docs(name: str) -> None:
    description = Settings.model_fields[name].description
    assert description
    assert description.endswith(".")
    assert f"`--{name.replace('_', '-')}` | `FAIREST_{name.upper()}`" in PAGE
