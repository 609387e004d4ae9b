"""The codec: the only place where the text of a frame becomes a message, and a message becomes text."""

import json
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaSerializer

from fairest_protocol.messages.explanation import explain
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import FromClient
from fairest_protocol.messages.from_server import FromServer, UnknownMessage
from fairest_protocol.messages.refusals import Breach

# The validators themselves, because every move is decoded here: `TypeAdapter.validate_json` only adds a call that
# looks at options which are never given.
_FROM_CLIENT: Final = TypeAdapter[FromClient](FromClient).validator
_FROM_SERVER: Final = TypeAdapter[FromServer](FromServer).validator


class _Serializers(dict[type[Message], SchemaSerializer]):
    """The serializer of each class of messages, made when its first message is encoded."""

    def __missing__(self, message_class: type[Message]) -> SchemaSerializer:
        self[message_class] = serializer = TypeAdapter(message_class).serializer
        return serializer


# Likewise for messages that are encoded: `model_dump_json` takes more than twice as long, and returns text.
_SERIALIZERS: Final = _Serializers()


class ProtocolViolation(ValueError):
    """A frame is not a message of this protocol. `breach` says how; `sentence` says where, in printable text."""

    def __init__(self, breach: Breach, sentence: str) -> None:
        super().__init__(sentence)
        self.breach = breach
        self.sentence = sentence


def encode(message: Message) -> bytes:
    """Return the message as the UTF-8 bytes of one JSON object."""
    return _SERIALIZERS[type(message)].to_json(message)


def decode_from_client(frame: str | bytes) -> FromClient:
    """Return the message in a client's frame. Raises `ProtocolViolation`."""
    try:
        message: FromClient = _FROM_CLIENT.validate_json(frame)
    except ValidationError as reason:
        raise _explain(reason) from None
    # A colon follows each key: with as many colons as fields no key stands there twice. Looking at each key would take
    # a move longer than its validation.
    colons = frame.count(b":") if isinstance(frame, bytes) else frame.count(":")
    if colons != len(message.model_fields_set):
        json.loads(frame, object_pairs_hook=_refuse_repeated_key)
    return message


def _refuse_repeated_key(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ProtocolViolation(Breach.BAD_JSON, f"{repeated} stands there twice; each key of an object stands once.")


def decode_from_server(frame: str | bytes) -> FromServer:
    """Return the message in a server's frame. Raises `ProtocolViolation`.

    Additions of a newer server are passed over: fields, and messages and entries of other types.
    """
    try:
        message: FromServer = _FROM_SERVER.validate_json(frame)
    except ValidationError as reason:
        return _without_unknown_types(frame, reason)
    return message


def _without_unknown_types(frame: str | bytes, reason: ValidationError) -> FromServer:
    """Return the message in a frame in which types of messages or entries are unknown, and nothing else is wrong."""
    errors = reason.errors(include_url=False)
    if any(error["type"] != "union_tag_invalid" for error in errors):
        raise _explain(reason) from None
    message = json.loads(frame)
    if not isinstance(message["type"], str):
        raise _explain(reason) from None
    for *_, place in (error["loc"] for error in errors if error["loc"]):
        message["entries"][place] = {"type": "unknown"}
    if not errors[0]["loc"]:
        return UnknownMessage()
    known: FromServer = _FROM_SERVER.validate_json(json.dumps(message))
    return known


_BREACHES: Final = {
    "json_invalid": Breach.BAD_JSON,
    "union_tag_invalid": Breach.UNKNOWN_TYPE,
    "union_tag_not_found": Breach.UNKNOWN_TYPE,
    "extra_forbidden": Breach.UNKNOWN_KEY,
}


def _explain(reason: ValidationError) -> ProtocolViolation:
    first = reason.errors(include_url=False)[0]
    return ProtocolViolation(_BREACHES.get(first["type"], Breach.BAD_VALUE), explain(first))
