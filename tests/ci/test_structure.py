"""The measures of the source code: small sources with known figures."""

import ast
from pathlib import Path

import pytest

from measures.imports import count_layers, find_circles, fold_into_children, import_graph
from measures.private_names import private_uses
from measures.sentences import BARE_WHO, WHAT_AS_SUBJECT, Text, find_phrases, read_texts, short_docstrings
from measures.tree import Module, read_modules
from structure import Figure, broken, measure

ROOT = Path(__file__).resolve().parents[2]


def module(name: str, source: str) -> Module:
    return Module(name, Path("server", *name.split(".")).with_suffix(".py"), source, ast.parse(source))


def uses(source: str, *drivers: str) -> list[str]:
    return [use.name for use in private_uses([module("fairest_server.edge.page", source)], drivers)]


def whats(words: str) -> int:
    return len(find_phrases(Text("page.py", 1, words), WHAT_AS_SUBJECT))


def bare_whos(words: str) -> int:
    return len(find_phrases(Text("page.py", 1, words), BARE_WHO))


def test_two_modules_that_import_each_other_are_a_circle() -> None:
    graph = import_graph([module("house.a", "from house.b import x"), module("house.b", "import house.a")])
    assert find_circles(graph) == [["house.a", "house.b"]]


def test_an_import_for_the_type_checker_closes_a_circle() -> None:
    lazy = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house import a"
    graph = import_graph([module("house.a", "from house.b import x"), module("house.b", lazy)])
    assert find_circles(graph) == [["house.a", "house.b"]]


def test_a_module_that_two_others_import_is_not_a_circle() -> None:
    sources = {"a": "import house.c", "b": "import house.a, house.c", "c": ""}
    assert find_circles(import_graph([module(f"house.{name}", source) for name, source in sources.items()])) == []


def test_a_relative_import_is_an_import_of_the_same_package() -> None:
    graph = import_graph([module("house.wing.a", "from .b import x"), module("house.wing.b", "")])
    assert graph["house.wing.a"] == {"house.wing.b"}


def test_imports_within_a_folder_are_not_imports_between_folders() -> None:
    graph = {"house.a.x": {"house.a.y", "house.b.z"}, "house.a.y": {"house.b.z"}, "house.b.z": set[str]()}
    assert fold_into_children(graph, "house") == {"a": {"b"}, "b": set()}


def test_layers_are_as_many_as_the_longest_row_of_imports() -> None:
    assert count_layers({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == 3


def test_a_circle_is_one_layer() -> None:
    assert count_layers({"a": {"b"}, "b": {"a", "c"}, "c": set()}) == 2


def test_a_private_attribute_of_another_object_is_counted() -> None:
    assert uses("def page(socket):\n    return socket._transport") == ["_transport"]


def test_a_private_attribute_that_the_file_itself_defines_is_not_counted() -> None:
    source = "class Page:\n    _text = ''\n    def __eq__(self, other):\n        return self._text == other._text"
    assert uses(source) == []


def test_a_private_attribute_by_its_name_in_a_string_is_counted() -> None:
    assert uses("def page(parser):\n    return getattr(parser, 'gi_yieldfrom', None)") == ["gi_yieldfrom"]


def test_an_import_from_a_private_module_is_counted() -> None:
    assert uses("from redis._parsers.hiredis import NOT_ENOUGH_DATA") == ["redis._parsers.hiredis.NOT_ENOUGH_DATA"]


def test_a_private_module_of_ours_is_not_counted() -> None:
    assert uses("from fairest_server._page import text") == []


def test_a_private_method_that_overrides_one_of_a_library_is_counted() -> None:
    source = "from textual.app import App\nclass Page(App[int]):\n    def _handle_exception(self, error): ..."
    assert uses(source) == ["Page._handle_exception"]


def test_a_private_attribute_that_a_library_base_sets_on_itself_is_counted() -> None:
    source = "from textual.app import App\nclass Page(App[int]):\n    def end(self):\n        return self._return_code"
    assert uses(source) == ["Page._return_code"]


def test_a_private_attribute_of_a_library_is_found_through_a_base_of_ours() -> None:
    base = module("fairest_server.base", "from textual.app import App\nclass Base(App[int]): ...")
    heir = "from fairest_server.base import Base\nclass Page(Base):\n    def end(self):\n        self._exception = None"
    found = private_uses([base, module("fairest_server.page", heir)], [])
    assert [use.name for use in found] == ["Page._exception"]


def test_a_private_attribute_that_is_only_ours_is_not_counted() -> None:
    source = "from textual.app import App\nclass Page(App[int]):\n    def end(self):\n        self._our_text_alone = ''"
    assert uses(source) == []


def test_the_documented_names_of_a_named_tuple_are_not_counted() -> None:
    assert uses("def later(page):\n    return page._replace(number=2)") == []


def test_a_driver_may_use_private_names() -> None:
    assert uses("def page(socket):\n    return socket._transport", "edge/page.py") == []


@pytest.mark.parametrize("words", ["What a page is.", "A page. What it says is short.", "Whoever reads it."])
def test_a_sentence_that_begins_with_what_is_counted(words: str) -> None:
    assert whats(words) == 1


@pytest.mark.parametrize("words", ["What is it?", "The text, and what it says.", "`What` is a name."])
def test_a_question_and_a_what_inside_a_sentence_are_not_counted(words: str) -> None:
    assert whats(words) == 0


@pytest.mark.parametrize("words", ["A page for who reads it.", "It is open; who reads it is shown it.", "For whoever."])
def test_a_who_without_its_noun_is_counted(words: str) -> None:
    assert bare_whos(words) == 1


@pytest.mark.parametrize("words", ["The player who leaves.", "Say who won.", "People, who count from one."])
def test_a_who_that_follows_its_noun_is_not_counted(words: str) -> None:
    assert bare_whos(words) == 0


def test_a_phrase_is_found_at_its_line() -> None:
    text = Text("page.py", 7, "A page.\n\nWhat it says.")
    assert [place.line for place in find_phrases(text, WHAT_AS_SUBJECT)] == [9]


def test_comment_lines_below_each_other_are_one_text() -> None:
    source = "x = 1  # of\n# a page\n\n# another"
    assert [text.words for text in read_texts(module("page", source))] == ["of\na page", "another"]


def test_a_docstring_of_two_words_is_counted() -> None:
    source = '"""The page of a book."""\ndef page():\n    """Done here."""'
    assert [text.words for text in short_docstrings(module("page", source))] == ["Done here."]


def test_a_figure_over_its_limit_is_broken() -> None:
    figures = [Figure("circles", "", 1), Figure("long_files", "", 1)]
    assert broken(figures, {"circles": 0, "long_files": 1}) == figures[:1]


def test_a_limit_of_a_figure_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        broken([Figure("circles", "", 0)], {"circle": 0})


def test_a_folder_that_is_not_a_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        measure(tmp_path, [])


def test_the_packages_of_the_old_layout_are_found(tmp_path: Path) -> None:
    for folder in ("protocol", "server", "client_cli"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "server" / "host.py").write_text("from protocol import x")
    assert [found.name for found in read_modules(tmp_path)] == ["protocol", "server", "server.host", "client_cli"]


@pytest.mark.long
def test_this_checkout_has_all_figures() -> None:
    keys = {figure.key for figure in measure(ROOT, [])}
    assert {"circles", "largest_class", "server_arrows", "tui_child_circles"} <= keys
