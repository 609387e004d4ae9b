"""A signature holds for one statement and one key."""

import pytest

from fairest_cli.model.signature import is_signed
from fairest_protocol.calculation.seal import commit_secret, round_statement
from tests.support.races import KEY

ROUND = bytes(16)
SIGNATURE = KEY.open_round(ROUND, bytes(32), None, 1, "").signature
STATEMENT = round_statement(ROUND, commit_secret(ROUND, bytes(32)), ROUND, 1, "")


def test_the_signature_of_the_key_s_holder_is_accepted() -> None:
    assert is_signed(STATEMENT, SIGNATURE, KEY.public) is True


@pytest.mark.parametrize(
    ("statement", "signature", "key"),
    [
        (b"", SIGNATURE, KEY.public),
        (STATEMENT, bytes(64), KEY.public),
        (STATEMENT, SIGNATURE, bytes(32)),
        (STATEMENT, SIGNATURE, bytes(31)),
    ],
)
def test_another_statement_signature_or_key_is_refused(statement: bytes, signature: bytes, key: bytes) -> None:
    assert is_signed(statement, signature, key) is False
