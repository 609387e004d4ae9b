"""The page reads and writes the file of a player as `fairest identity` does, and refuses what is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.session.identity import open_identity
from fairest_cli.session.identity_transfer import MovedPlayer, NotMoved, export_player
from tests.support.moving import NOT_ASKED, import_unasked
from tests.support.page_modules import ask_page

TOKEN, NEXT = "s" * 43, "n" * 43
KEY = "ab" * 32
URL = "ws://play.example:8765"
PLACE = {"protocol": "http:", "hostname": "play.example", "port": "8765", "host": "play.example:8765"}
COMMITMENT = {
    "round_id": "01" * 16,
    "commitment": "02" * 32,
    "seat": 1,
    "entropy": "03" * 32,
    "entropy_hash": "04" * 32,
    "other_hash": None,
}
PLAYER: dict[str, Any] = {"token": TOKEN, "next_token": None, "server_key": KEY, "bond": COMMITMENT}
GOOD: dict[str, Any] = {"fairest_player": 1, "server": URL, "name": "ann", "player": PLAYER}
BAD_FILES: dict[str, tuple[Any, str]] = {
    "empty": ("", "it is not JSON"),
    "no JSON": ("dear diary", "it is not JSON"),
    "deep": ("[" * 50_000, "it is not JSON"),
    "null": ("null", "it does not begin with format 1"),
    "a list": ([], "it does not begin with format 1"),
    "long": (" " * 70_000 + json.dumps(GOOD), "it is too long"),
    "a later format": (GOOD | {"fairest_player": 2}, "it does not begin with format 1"),
    "no server": (GOOD | {"server": None}, "it names no server, or no player"),
    "no player": (GOOD | {"player": None}, "it names no server, or no player"),
    "a page": (GOOD | {"server": "http://play.example:8765"}, "its server is not an address"),
    "no address": (GOOD | {"server": "ws://"}, "its server is not an address"),
    "another host": (GOOD | {"server": "ws://evil.example:8765"}, "it is of a player at ws://evil.example:8765"),
    "another port": (GOOD | {"server": "ws://play.example"}, "it is of a player at ws://play.example"),
    "a path as a name": (GOOD | {"name": "../../ann"}, "its name is not that of a player"),
    "a number as a name": (GOOD | {"name": 5}, "its name is not that of a player"),
    "no token": (GOOD | {"player": PLAYER | {"token": None}}, "it has no token of a player"),
    "a short token": (GOOD | {"player": PLAYER | {"token": "short"}}, "it has no token of a player"),
    "a short next token": (GOOD | {"player": PLAYER | {"next_token": "short"}}, "it has no token of a player"),
    "a key of no server": (GOOD | {"player": PLAYER | {"server_key": "no hex"}}, "its key is not that of a server"),
    "a number as a key": (GOOD | {"player": PLAYER | {"server_key": 5}}, "its key is not that of a server"),
    "a number as a bond": (GOOD | {"player": PLAYER | {"bond": 5}}, "what its player is bound to is not readable"),
    "a bond to nothing": (GOOD | {"player": PLAYER | {"bond": {}}}, "what its player is bound to is not readable"),
    "a third seat": (
        GOOD | {"player": PLAYER | {"bond": COMMITMENT | {"seat": 2}}},
        "what its player is bound to is not readable",
    ),
}


def read_on_page(text: str, place: dict[str, str] | None = None) -> Any:
    [answer] = ask_page([{"ask": "read_player", "text": text, "place": place or PLACE}])
    return answer


def write_on_page(**player: Any) -> str:
    [text] = ask_page([{"ask": "write_player", "player": player}])
    assert isinstance(text, str)
    return text


def test_the_page_refuses_what_is_not_the_file_of_a_player_of_this_server() -> None:
    texts = {name: given if isinstance(given, str) else json.dumps(given) for name, (given, _) in BAD_FILES.items()}
    answers = ask_page([{"ask": "read_player", "text": text, "place": PLACE} for text in texts.values()])
    wrong = {
        name: answer
        for (name, (_, reason)), answer in zip(BAD_FILES.items(), answers, strict=True)
        if not (answer["player"] is None and answer["fault"].startswith(reason))
    }
    assert wrong == {}


def test_the_page_reads_the_file_that_an_installed_client_writes(tmp_path: Path) -> None:
    with open_identity(URL, "ann", tmp_path) as identity:
        identity.become(PLAYER | {"next_token": NEXT})
    export_player(URL, "ann", tmp_path / "ann.json", tmp_path)
    answer = read_on_page((tmp_path / "ann.json").read_text())
    assert answer["player"] == {"name": "ann", "token": TOKEN, "nextToken": NEXT, "key": KEY, "commitment": COMMITMENT}


def test_an_installed_client_reads_the_file_that_the_page_writes(tmp_path: Path) -> None:
    text = write_on_page(server=URL, name="ann", token=TOKEN, nextToken=NEXT, key=KEY, commitment=COMMITMENT)
    (tmp_path / "ann.json").write_text(text)
    assert import_unasked(tmp_path / "ann.json", tmp_path) == MovedPlayer(URL, "ann", NOT_ASKED)
    with open_identity(URL, "ann", tmp_path) as identity:
        bound = {name: value.hex() if isinstance(value, bytes) else value for name, value in _fields(identity).items()}
        assert (identity.token, identity.next_token, bound) == (TOKEN, NEXT, COMMITMENT)


def _fields(identity: Any) -> dict[str, Any]:
    commitment: EntropyCommitment | None = identity.entropy_commitment
    assert commitment is not None
    return {name: getattr(commitment, name) for name in COMMITMENT}


def test_a_name_that_no_client_takes_is_left_out_of_the_file(tmp_path: Path) -> None:
    text = write_on_page(server=URL, name="../ann", token=TOKEN, nextToken=None, key=None, commitment=None)
    (tmp_path / "ann.json").write_text(text)
    assert import_unasked(tmp_path / "ann.json", tmp_path) == MovedPlayer(URL, None, NOT_ASKED)


@pytest.mark.parametrize(
    ("server", "place"),
    [
        ("ws://play.example", {"protocol": "http:", "hostname": "play.example", "port": "", "host": "play.example"}),
        (
            "ws://play.example:80/",
            {"protocol": "http:", "hostname": "play.example", "port": "", "host": "play.example"},
        ),
        ("wss://play.example", {"protocol": "https:", "hostname": "play.example", "port": "", "host": "play.example"}),
    ],
)
def test_the_usual_port_need_not_be_written(server: str, place: dict[str, str]) -> None:
    assert read_on_page(json.dumps(GOOD | {"server": server}), place)["fault"] is None


def test_a_page_that_came_over_tls_refuses_a_player_of_a_port_without_it() -> None:
    place = {"protocol": "https:", "hostname": "play.example", "port": "", "host": "play.example"}
    assert read_on_page(json.dumps(GOOD | {"server": "ws://play.example"}), place)["player"] is None


def test_an_installed_client_refuses_as_much_of_these_files_as_the_page_does(tmp_path: Path) -> None:
    """The page refuses more: players of other servers, and commitments of other lengths."""
    stricter = {"another host", "another port", "a third seat"}
    taken = set()
    for name, (given, _) in BAD_FILES.items():
        (tmp_path / "bad.json").write_text(given if isinstance(given, str) else json.dumps(given))
        try:
            import_unasked(tmp_path / "bad.json", tmp_path / name)
            taken.add(name)
        except NotMoved:
            pass
    assert taken == stricter
