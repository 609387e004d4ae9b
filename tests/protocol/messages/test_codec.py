"""Any text decodes to a message or raises `ProtocolViolation`; a message survives encoding and decoding."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.board import Illegal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server, encode
from fairest_protocol.messages.from_client import Create, FromClient, Hello, Play, Ready, Resume, Watch
from fairest_protocol.messages.from_server import Left, Snapshot, UnknownMessage, View
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


def decoded(frame: bytes) -> FromClient | None:
    """Return the message in a client's frame; None if it is a violation."""
    try:
        return decode_from_client(frame)
    except ProtocolViolation:
        return None


def test_each_message_of_a_client_survives_encoding_and_decoding() -> None:
    frames = [(encode(message), message) for message in MESSAGES]
    assert {frame for frame, message in frames if decoded(frame) != message} == set()


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


LONGEST_SENTENCE = 420
"""The names of all types of a client's messages, and 40 letters of what stands in their place."""


@given(st.dictionaries(keys | st.text(max_size=10), json_values, max_size=5), types | st.text(max_size=10))
def test_any_object_is_a_message_or_a_violation_with_a_printable_sentence(fields: dict[str, object], kind: str) -> None:
    sentence = ""
    try:
        decode_from_client(json.dumps({**fields, "type": kind}))
    except ProtocolViolation as broken:
        sentence = broken.sentence
    assert sentence.isprintable()
    assert len(sentence) < LONGEST_SENTENCE


def test_a_type_of_control_characters_is_cut_short() -> None:
    with pytest.raises(ProtocolViolation) as broken:
        decode_from_client(json.dumps({"type": 40 * "\x1f"}))
    assert len(broken.value.sentence) < LONGEST_SENTENCE


@pytest.mark.parametrize("card", ["", "1H", "AX", "10H", "ah", "AHH"])
def test_a_text_that_is_not_a_card_is_a_violation(card: str) -> None:
    frame = {"type": "turned", "seat": 0, "turn": [0, 0], "card": card, "salt": "00" * 32}
    with pytest.raises(ProtocolViolation, match=r": not a card: rank A23456789TJQK, then suit CDHS or cdhs\.$"):
        decode_from_server(view_of(frame))


LEFT = {"type": "left"}
ATTACHED = {"type": "attached", "seat": 0}


def view_of(*entries: object) -> str:
    """Return the frame of a view with these entries."""
    return json.dumps({"type": "view", "position": 7, "tag": "00000000", "entries": entries})


def test_a_client_passes_over_a_field_that_it_does_not_know() -> None:
    assert decode_from_server(json.dumps(LEFT | {"since": 1})) == Left()


def test_a_client_passes_over_a_field_of_an_entry_that_it_does_not_know() -> None:
    assert decode_from_server(view_of(ATTACHED | {"mood": "fair"})) == decode_from_server(view_of(ATTACHED))


def test_a_client_passes_over_a_message_of_a_type_that_it_does_not_know() -> None:
    assert decode_from_server('{"type":"weather","entries":[{"type":"rain"}]}') == UnknownMessage()


def test_an_entry_of_an_unknown_type_keeps_its_place() -> None:
    message = decode_from_server(view_of({"type": "gift", "seat": 9}, ATTACHED, {"type": "gift"}))
    assert isinstance(message, View)
    assert [entry.type for entry in message.entries] == ["unknown", "attached", "unknown"]


def test_a_refusal_for_an_unknown_reason_keeps_its_code() -> None:
    refused = {"type": "refused", "to": "join", "code": "too_late", "sentence": "It is too late.", "number": None}
    assert decode_from_server(json.dumps(refused)).model_dump() == refused


@pytest.mark.parametrize(
    "frame",
    [
        view_of({"type": "gift"}, ATTACHED | {"seat": 2}),
        view_of({"type": 5}, ATTACHED | {"seat": 2}),
        view_of({"seat": 1}),
        '{"type":5}',
        "{}",
        '{"type":"refused","to":"join","code":"Too Late!","sentence":"","number":null}',
    ],
)
def test_what_no_version_sends_is_a_violation(frame: str) -> None:
    with pytest.raises(ProtocolViolation):
        decode_from_server(frame)


def test_every_refusal_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Refusal)


def test_every_reason_of_the_rules_is_a_refusal() -> None:
    assert {reason.value for reason in Illegal} <= {refusal.value for refusal in Refusal}


def test_every_breach_has_a_close_code() -> None:
    assert set(CLOSE_CODES) == set(Breach)


def sentence_of(frame: str) -> str:
    """Return the sentence of the violation that this frame is, or no text if it is a message."""
    try:
        decode_from_client(frame)
    except ProtocolViolation as broken:
        return broken.sentence
    return ""


@pytest.mark.parametrize(
    ("frame", "breach"),
    [
        ("{", Breach.BAD_JSON),
        ('{"type":"bow"}', Breach.UNKNOWN_TYPE),
        ("{}", Breach.UNKNOWN_TYPE),
        ('{"type":"leave","now":1}', Breach.UNKNOWN_KEY),
        ('{"type":"join"}', Breach.BAD_VALUE),
        ('{"type":"leave","type":"leave"}', Breach.BAD_JSON),
    ],
)
def test_a_violation_names_its_breach(frame: str, breach: Breach) -> None:
    with pytest.raises(ProtocolViolation) as broken:
        decode_from_client(frame)
    assert broken.value.breach is breach


TYPES = (
    "hello, get_lobby, create, queue, leave_queue, join, watch, resume, ready, reveal, play, rematch, ask_finish, "
    "leave, get_record, renew, daily, play_daily, create_tournament, join_tournament, leave_tournament, "
    "start_tournament, watch_tournament, ready_tournament, reveal_tournament, race_tournament, play_tournament, ping"
)


FAULTS = [
    ('{"type":', "the frame is not JSON from line 1, column 8 on; a message is one JSON object."),
    ("[]", "the frame is a list; it must be an object."),
    ("{}", "the frame has no type; it must have one, as text."),
    ('{"type":5}', f"the type of the frame is 5; it must be one of {TYPES}."),
    ('{"type":"bow"}', f'the type of the frame is "bow"; it must be one of {TYPES}.'),
    ('{"type":"join"}', "join.room is missing; it must be there."),
    ('{"type":"join","room":null}', "join.room is null; it must be text."),
    (
        '{"type":"join","room":"Amber"}',
        'join.room is "Amber"; it must be text of the form ^[a-z]+(-[a-z]+){1,5}$.',
    ),
    ('{"type":"leave","now":1}', "leave.now is no field of this message; leave it out."),
    ('{"type":"play","number":0,"move":"sa"}', "play.number is 0; it must be at least 1."),
    ('{"type":"play","number":100001,"move":"sa"}', "play.number is 100001; it must be at most 100000."),
    (
        '{"type":"play","number":1.0,"move":"sa"}',
        "play.number is 1.0; it must be an integer, written without fraction and exponent.",
    ),
    (
        '{"type":"play","number":1,"move":"s9"}',
        'play.move is "s9": not a move: source s or a-h, then target 1-8 or a-h; or redeal, stop, resign.',
    ),
    (
        json.dumps({"type": "ready", "round": "00", "entropy_hash": "00" * 32}),
        'ready.round is "00"; it must be hexadecimal text of 16 bytes, two digits each.',
    ),
    (
        json.dumps({"type": "ready", "round": "zz", "entropy_hash": "00" * 32}),
        'ready.round is "zz"; it must be hexadecimal text.',
    ),
    ('{"type":"create","options":{"listed":1}}', "create.options.listed is 1; it must be true or false."),
    ('{"type":"create","options":{"best_of":true}}', "create.options.best_of is true; it must be an integer, "),
    ('{"type":"create","options":{"best_of":3.0}}', "create.options.best_of is 3.0; it must be an integer, "),
    ('{"type":"create","options":{"best_of":2,"piles":2.5}}', "create.options.piles is 2.5; it must be an integer"),
    ('{"type":"create","options":{"spectators":1}}', "create.options.spectators is 1; it must be 'horizon', "),
    ('{"type":"create","options":{"piles":{}}}', "create.options.piles is an object; it must be an integer, "),
    (
        json.dumps({"type": "hello", "client": "c" * 61}),
        f'hello.client is "{"c" * 40}"...; it must be text of at most 60 characters.',
    ),
]


def test_a_sentence_says_what_is_wrong_and_what_is_allowed() -> None:
    found = [(frame, sentence_of(frame), sentence) for frame, sentence in FAULTS]
    assert {frame: got for frame, got, sentence in found if not got.startswith(sentence)} == {}


def test_a_sentence_does_not_repeat_a_token() -> None:
    assert sentence_of('{"type":"hello","token":"abc"}') == (
        "hello.token is wrong; it must be text of the form ^[A-Za-z0-9_-]{43}$."
    )


def test_a_number_of_the_peer_is_cut_after_40_digits() -> None:
    frame = f'{{"type":"play","number":{"9" * 50},"move":"sa"}}'
    assert sentence_of(frame) == f"play.number is {'9' * 40}...; it must be at most 100000."


def test_a_key_of_the_peer_is_cut_after_40_letters() -> None:
    frame = json.dumps({"type": "leave", "k" * 50: 1})
    assert sentence_of(frame) == f"leave.{'k' * 40} is no field of this message; leave it out."


def test_a_letter_that_cannot_be_printed_is_replaced() -> None:
    assert sentence_of(json.dumps({"type": "leave", "\x07": 1})).startswith("leave.? is")


@pytest.mark.parametrize(
    ("frame", "key"),
    [
        ('{"type":"play","number":1,"number":2,"move":"sa"}', "number"),
        ('{"type":"play","number":1,"m\\u006fve":"sb","move":"sa"}', "move"),
        ('{"type":"rematch" , "type"\n: "rematch"}', "type"),
        ('{"type":"create","options":{"best_of":1,"best_of":3}}', "best_of"),
        ('{"type":"create","options":{},"options":{}}', "options"),
        ('{"type":"hello","client":"a:b","name":null,"name":"ann"}', "name"),
    ],
)
def test_a_key_that_stands_twice_is_named(frame: str, key: str) -> None:
    assert sentence_of(frame) == f"{key} stands there twice; each key of an object stands once."


def test_a_key_that_stands_twice_is_found_in_bytes_as_well() -> None:
    with pytest.raises(ProtocolViolation):
        decode_from_client(b'{"type":"play","number":1,"number":2,"move":"sa"}')


@pytest.mark.parametrize(
    "frame", ['{"type":"hello","client":"a:b"}', '{"type":"create","options":{"best_of":3}}', '{"t\\u0079pe":"leave"}']
)
def test_a_colon_that_follows_no_key_of_the_message_itself_does_no_harm(frame: str) -> None:
    assert decode_from_client(frame) == decode_from_client(json.dumps(json.loads(frame)))


@pytest.mark.parametrize("turn", [[-1, 0], [0, -1]])
def test_a_turn_that_counts_from_below_0_is_a_violation(turn: list[int]) -> None:
    frame = {"type": "turned", "seat": 0, "turn": turn, "card": "AS", "salt": "00" * 32}
    with pytest.raises(ProtocolViolation, match="not a turn: pass and position count from 0"):
        decode_from_server(view_of(frame))
