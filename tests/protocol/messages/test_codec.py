"""Any text decodes to a message or raises `ProtocolViolation`; a message survives encoding and decoding."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.board import Illegal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server, encode
from fairest_protocol.messages.from_client import Create, FromClient, Hello, Play, Ready, Resume, Watch
from fairest_protocol.messages.from_server import Snapshot, View
from fairest_protocol.messages.refusals import CLOSE_CODES, SENTENCES, Breach, Refusal
from fairest_server.room.view import scene, view
from tests.support.races import raced

MESSAGES: list[FromClient] = [
    Hello(token="A" * 43, name="ann"),
    Create(),
    Watch(room="quiet-amber-otter"),
    Resume(room="quiet-amber-otter", position=7),
    Ready(round=bytes(16), entropy_hash=bytes(range(32))),
    *(Play(number=1, move=move) for move in MOVES.values()),
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)
types = st.sampled_from(["hello", "create", "join", "watch", "resume", "ready", "reveal", "play", "rematch", "leave"])
keys = st.sampled_from(["token", "name", "room", "position", "round", "entropy", "number", "move", "options", "type"])


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
def test_a_message_of_a_client_survives_encoding_and_decoding(message: FromClient) -> None:
    assert decode_from_client(encode(message)) == message


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_the_entries_of_a_whole_race_survive_encoding_and_decoding(viewer: int | None) -> None:
    table = raced(8)
    shown = View(tag="00000000", position=1, entries=tuple(view(table.steps, viewer)))
    assert decode_from_server(encode(shown)) == shown


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_a_snapshot_survives_encoding_and_decoding(viewer: int | None) -> None:
    table = raced(9)
    shown = view(table.steps[:60], viewer)
    seen = scene(table.steps[59].after, shown)
    snapshot = Snapshot(tag="00000000", room="quiet-amber-otter", seat=None, position=len(shown), now_ms=1, scene=seen)
    assert decode_from_server(encode(snapshot)) == snapshot


@given(st.text(max_size=200))
def test_text_that_is_not_a_message_is_a_violation(text: str) -> None:
    with pytest.raises(ProtocolViolation):
        decode_from_client(text)


@given(st.dictionaries(keys | st.text(max_size=10), json_values, max_size=5), types | st.text(max_size=10))
def test_any_object_is_a_message_or_a_violation_with_a_printable_sentence(fields: dict[str, object], kind: str) -> None:
    sentence = ""
    try:
        decode_from_client(json.dumps({**fields, "type": kind}))
    except ProtocolViolation as broken:
        sentence = broken.sentence
    assert sentence.isprintable()
    assert len(sentence) < 400


@pytest.mark.parametrize("card", ["", "1H", "AX", "10H", "ah", "AHH"])
def test_a_text_that_is_not_a_card_is_a_violation(card: str) -> None:
    frame = {"type": "turned", "seat": 0, "pass_number": 0, "position": 0, "card": card, "salt": "00" * 32}
    with pytest.raises(ProtocolViolation):
        decode_from_server(json.dumps({"type": "view", "position": 1, "entries": [frame]}))


def test_every_refusal_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Refusal)


def test_every_reason_of_the_rules_is_a_refusal() -> None:
    assert {reason.value for reason in Illegal} <= {refusal.value for refusal in Refusal}


def test_every_breach_has_a_close_code() -> None:
    assert set(CLOSE_CODES) == set(Breach)


def sentence_of(frame: str) -> str:
    """Return the sentence of the violation that this frame is."""
    with pytest.raises(ProtocolViolation) as broken:
        decode_from_client(frame)
    return broken.value.sentence


@pytest.mark.parametrize(
    ("frame", "breach"),
    [
        ("{", Breach.BAD_JSON),
        ('{"type":"bow"}', Breach.UNKNOWN_TYPE),
        ("{}", Breach.UNKNOWN_TYPE),
        ('{"type":"leave","now":1}', Breach.UNKNOWN_KEY),
        ('{"type":"join"}', Breach.BAD_VALUE),
    ],
)
def test_a_violation_names_its_breach(frame: str, breach: Breach) -> None:
    with pytest.raises(ProtocolViolation) as broken:
        decode_from_client(frame)
    assert broken.value.breach is breach


def test_a_key_of_the_peer_is_cut_after_40_letters() -> None:
    frame = json.dumps({"type": "leave", "k" * 50: 1})
    assert sentence_of(frame) == f"leave.{'k' * 40}: Extra inputs are not permitted"


def test_a_reason_that_repeats_a_text_of_the_peer_is_cut_after_200_letters() -> None:
    reason = f"Input tag '{'t' * 300}"
    assert sentence_of(json.dumps({"type": "t" * 300})) == f"the frame: {reason[:200]}"


def test_a_letter_that_cannot_be_printed_is_replaced() -> None:
    assert sentence_of(json.dumps({"type": "leave", "\x07": 1})) == "leave.?: Extra inputs are not permitted"
