"""The hooks of the site: `make check` builds it, and these say what becomes of links and of the navigation."""

from types import SimpleNamespace

from docs.site_hooks import DOCS, on_config, on_page_markdown


def written(markdown: str, page: str = "operations.md") -> str:
    return on_page_markdown(markdown, SimpleNamespace(file=SimpleNamespace(src_uri=page)))


def test_a_link_to_a_page_stays() -> None:
    assert written("[limits](operations.md#limits)") == "[limits](operations.md#limits)"


def test_a_link_to_a_file_outside_of_the_pages_becomes_its_path() -> None:
    assert written("[a unit](../deploy/fairest.service)") == "a unit (`deploy/fairest.service` of the project)"


def test_a_link_that_leads_nowhere_stays_for_the_strict_build_to_refuse() -> None:
    assert written("[gone](gone.md)") == "[gone](gone.md)"


def test_the_navigation_lists_every_record_of_a_decision() -> None:
    config = on_config({"nav": [{"Decisions": ["decisions/README.md", "*"]}]})
    records = {path.name for path in (DOCS / "decisions").glob("0*.md")}
    assert {page.removeprefix("decisions/") for page in config["nav"][0]["Decisions"]} == {"README.md", *records}
