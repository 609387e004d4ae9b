"""The benchmark of the longest step of each message leaves none out."""

from typing import get_args

from benchmarks.message_steps import MESSAGES
from fairest_protocol.messages.from_client import FromClient


def test_every_message_of_a_client_is_measured() -> None:
    union, *_ = get_args(FromClient)
    assert set(get_args(union)) == {kind for kind in MESSAGES.values() if kind is not None}


def test_the_name_of_each_figure_begins_with_that_of_its_message() -> None:
    named = {name: kind.model_fields["type"].default for name, kind in MESSAGES.items() if kind is not None}
    assert all(name.startswith(message) for name, message in named.items()), named
