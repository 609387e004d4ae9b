"""Players on this machine: kept with mode 0600, one for each client that runs, the same one after a kill."""

from pathlib import Path

import pytest

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.session.identity import Identity, IdentityInUse, open_identity

URL = "ws://127.0.0.1:8765"


def test_a_token_is_kept_for_the_next_time(tmp_path: Path) -> None:
    with open_identity(URL, None, tmp_path) as identity:
        identity.keep_token("secret")
    with open_identity(URL, None, tmp_path) as identity:
        assert identity.token == "secret"


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    with open_identity(URL, None, tmp_path) as identity:
        identity.keep_token("secret")
    assert [path.stat().st_mode & 0o777 for path in tmp_path.rglob("*.json")] == [0o600]


def test_two_terminals_are_two_players(tmp_path: Path) -> None:
    with open_identity(URL, None, tmp_path) as first, open_identity(URL, None, tmp_path) as second:
        first.keep_token("one")
        second.keep_token("two")
    with open_identity(URL, None, tmp_path) as first, open_identity(URL, None, tmp_path) as second:
        assert (first.token, second.token) == ("one", "two")


def test_servers_have_players_of_their_own(tmp_path: Path) -> None:
    with open_identity(URL, None, tmp_path) as identity:
        identity.keep_token("secret")
    with open_identity("wss://example.org", None, tmp_path) as identity:
        assert identity.token is None


def test_a_named_player_is_at_one_terminal_at_a_time(tmp_path: Path) -> None:
    with open_identity(URL, "ann", tmp_path), pytest.raises(IdentityInUse), open_identity(URL, "Ann", tmp_path):
        pass


COMMITMENT = EntropyCommitment(b"round", b"commitment", 1, b"entropy", b"hash", b"other")


def test_what_we_are_bound_to_outlives_a_killed_client(tmp_path: Path) -> None:
    with open_identity(URL, None, tmp_path) as identity:
        identity.keep_entropy_commitment(COMMITMENT)
    with open_identity(URL, None, tmp_path) as identity:
        assert identity.entropy_commitment == COMMITMENT


def test_a_player_without_a_file_is_gone_with_the_client(tmp_path: Path) -> None:
    Identity().keep_token("secret")
    assert list(tmp_path.iterdir()) == []
